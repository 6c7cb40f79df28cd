"""Whoever adds a source for a scheme has its addresses ingested; addresses of no source are refused by their scheme."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch.errors import UserError
from anabranch.ingestion.address_source import SOURCES
from anabranch.ingestion.pipeline import ingest

MODULE = """
import tempfile
from pathlib import Path
from anabranch.ingestion.directory_walk import FoundFile

class Notes:
    def __init__(self, addresses, options):
        self._addresses, self._folder = addresses, options.folder

    def __len__(self):
        return len(self._addresses)

    def __iter__(self):
        for address in self._addresses:
            copy = Path(tempfile.mkdtemp(dir=self._folder), "a.txt")
            copy.write_text("The pump was replaced.")
            yield FoundFile(copy, address, identity=address, is_copy=True)

    def is_missing(self, identity):
        return identity.lower().startswith("note://") and identity not in self._addresses
"""
ENTRY_POINTS = """
[anabranch.sources]
note = note_source:Notes
https = note_source:Notes
"""


def forget_sources() -> None:
    SOURCES.__dict__.pop("_added", None)  # the registry looks once for each process, and this process changes


@pytest.fixture
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package that adds `note://`, and claims `https://` for itself."""
    folder = tmp_path / "site"
    (folder / "note_source-1.0.dist-info").mkdir(parents=True)
    (folder / "note_source.py").write_text(MODULE)
    (folder / "note_source-1.0.dist-info/entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(folder)
    forget_sources()
    yield
    forget_sources()


@pytest.mark.usefixtures("_package")
def test_two_files_add_a_scheme(tmp_path: Path) -> None:
    def taken(*addresses: str) -> list[tuple[str, str]]:
        return [(row.source, row.status) for row in ingest(addresses, tmp_path / "corpus").rows]

    assert taken("note://old", "NOTE://new") == [("note://old", "added"), ("NOTE://new", "added")]
    assert taken("NOTE://new") == [("NOTE://new", "unchanged"), ("note://old", "removed")]


@pytest.mark.usefixtures("_package")
def test_nobody_replaces_a_source_of_ours() -> None:
    assert SOURCES.get("https").__module__ == "anabranch_sources.web_pages"


def test_an_address_of_no_source_is_refused_without_its_secrets(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="begin with ftp://") as caught:
        ingest(["ftp://ann:secret@example.org/"], tmp_path / "corpus")
    assert "secret" not in str(caught.value)
    assert "https://" in caught.value.hint
