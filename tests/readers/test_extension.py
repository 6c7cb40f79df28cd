"""A reader in a package of somebody else's: two files, and everything that takes files in knows its extension."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from anabranch.errors import ReadingError
from anabranch.readers import READERS, read
from anabranch_sources.web.content_type import extension_of
from tests.ingestion.ingest_runs import take_in

MODULE = """
import os
from anabranch.readers.document import Block, Document

def read_foo(path, source, options):
    text = path.read_text()
    yield Document(source, "Foo", (Block(text),), key=source, notes=(f"read by {os.getpid()}",))
"""

ENTRY_POINTS = """
[anabranch.readers]
.foo = foo_reader:read_foo
.gone = no_such_package:read
.pdf = foo_reader:read_foo
"""


def forget_extensions() -> None:
    READERS.__dict__.pop("_added", None)  # the registry looks once for each process, and this process changes


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install a package that adds `.foo`, names a module that is not there, and claims PDF for itself."""
    folder = tmp_path / "site"
    (folder / "foo_reader-1.0.dist-info").mkdir(parents=True)
    (folder / "foo_reader.py").write_text(MODULE)
    (folder / "foo_reader-1.0.dist-info/entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(folder)
    forget_extensions()
    yield folder
    forget_extensions()


def test_two_files_add_an_extension(package: Path, tmp_path: Path) -> None:
    assert len([path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"]) == 2
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.foo").write_text("The pump was replaced.")
    (tmp_path / "notes/b.bar").write_text("Nobody reads this.")
    report = take_in([tmp_path / "notes"], tmp_path / "corpus")
    assert [(row.source, row.status) for row in report.rows] == [("a.foo", "added"), ("b.bar", "skipped")]


def test_its_reader_runs_in_the_reading_process(package: Path, tmp_path: Path) -> None:
    (tmp_path / "a.FOO").write_text("The pump was replaced.")
    (row,) = take_in([tmp_path / "a.FOO"], tmp_path / "corpus").rows
    assert row.documents == 1
    assert row.notes[0].startswith("read by ")
    assert row.notes != (f"read by {os.getpid()}",)


def test_an_address_may_end_in_it_where_the_server_says_little(package: Path) -> None:
    assert extension_of("application/octet-stream", httpx.URL("https://example.org/a.foo")) == ".foo"
    with pytest.raises(ReadingError):
        extension_of("image/png", httpx.URL("https://example.org/a.foo"))


def test_a_reader_whose_package_is_gone_is_named(package: Path, tmp_path: Path) -> None:
    (tmp_path / "a.gone").write_text("words")
    with pytest.raises(ReadingError, match=r"'\.gone' .* cannot be imported") as caught:
        list(read(tmp_path / "a.gone", "a.gone"))
    assert caught.value.reason == "unsupported"


def test_nobody_replaces_a_reader_that_is_built_in(package: Path) -> None:
    assert READERS.get(".pdf").__module__ == "anabranch_readers.pdf"
