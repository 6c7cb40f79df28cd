"""A server's callers may name files below its root, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from langgraph.runtime import Runtime

from anabranch.errors import UserError
from anabranch.ingestion.ingest_report import Status
from nodes import add_documents as module
from nodes.add_documents import add_documents
from nodes.settings import Context
from tests.ingestion.archives.packing import zipped


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (root := tmp_path / "root").mkdir()
    (root / "mill.md").write_text("# Mill\n\nThe mill grinds corn.\n")
    monkeypatch.setenv("ANABRANCH_INGEST_ROOT", str(root))
    return root


async def take(corpus: Path, *paths: str) -> list[tuple[str, str]]:
    result = await add_documents({"paths": list(paths)}, Runtime(context=Context(corpus=str(corpus))))
    return [(row["source"], row["status"]) for row in result["files"]]


@pytest.mark.parametrize(
    "path",
    ["http://example.org/", "https://127.0.0.1/", "HTTP://localhost/", "file:///etc/passwd", "ftp://example.org/x"],
)
async def test_addresses_are_refused(root: Path, tmp_path: Path, path: str) -> None:
    with pytest.raises(UserError, match="nothing at"):
        await take(tmp_path / "corpus", ".", path)


async def test_archives_and_links_out_of_the_root_stay_closed(root: Path, tmp_path: Path) -> None:
    zipped(root / "x.zip", ("a.md", b"A secret."))
    (tmp_path / "secret.md").write_text("A secret.")
    (root / "secret.md").symlink_to(tmp_path / "secret.md")
    assert await take(tmp_path / "corpus", ".") == [("mill.md", "added"), ("x.zip", "skipped")]


async def test_of_many_files_those_that_changed_or_failed_are_told_and_all_are_counted(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nodes.add_documents.MOST_FILES", 5)
    for number in range(6):
        (root / f"a{number}.md").write_text(f"# Note {number}\n\nThe otter was seen {number} times.\n")
    context = Runtime(context=Context(corpus=str(tmp_path / "corpus")))
    first = await add_documents({"paths": ["."]}, context)
    assert len(first["files"]) == 5
    assert {name: first["totals"][name] for name in ("added", "failed", "left_out")} == {
        "added": 7, "failed": 0, "left_out": 2,
    }  # fmt: skip
    (root / "a5.md").write_text("# Note 5\n\nThe otter was seen by nobody.\n")
    (root / "z.md").write_bytes(b"")
    second = await add_documents({"paths": ["."]}, context)
    rows = [(row["source"], row["status"]) for row in second["files"]]
    assert rows[:2] == [("z.md", second["files"][0]["status"]), ("a5.md", "updated")]
    assert rows[0][1] in ("failed", "skipped")
    assert [status for _, status in rows[2:]] == ["unchanged"] * 3
    assert second["totals"]["unchanged"] == 6
    assert second["totals"]["left_out"] == 3
    assert sum(second["totals"][status] for status in get_args(Status)) == 8


async def test_few_files_are_all_told_in_their_order(root: Path, tmp_path: Path) -> None:
    (root / "a.md").write_bytes(b"")
    result = await add_documents({"paths": ["."]}, Runtime(context=Context(corpus=str(tmp_path / "corpus"))))
    assert [row["source"] for row in result["files"]] == ["a.md", "mill.md"]
    assert result["totals"]["left_out"] == 0


async def test_a_path_swapped_for_a_link_that_leads_out_is_refused(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (root / "inbox", tmp_path / "secret"):
        place.mkdir()
        (place / "a.md").write_text(f"A note of {place.name}.")
    ingest_files = module.ingest_files

    def swapping(*given: Any, **named: Any) -> Any:
        (root / "inbox").rename(root / "former")
        (root / "inbox").symlink_to(tmp_path / "secret")
        return ingest_files(*given, **named)

    monkeypatch.setattr(module, "ingest_files", swapping)
    with pytest.raises(UserError, match="outside the folder"):
        await take(tmp_path / "corpus", "inbox")


@pytest.mark.parametrize("path", ["nowhere", "deep/nowhere.md", "n" * 300, "a\0b"])
async def test_an_error_names_only_what_the_caller_gave(root: Path, tmp_path: Path, path: str) -> None:
    with pytest.raises(UserError) as caught:
        await take(tmp_path / "corpus", path)
    assert str(tmp_path) not in str(caught.value)
    assert repr(path) in caught.value.message


@pytest.mark.parametrize("path", ["../outside.md", "../nowhere.md", "out/there.md", "out/nowhere.md", "/etc/nowhere"])
async def test_what_is_outside_is_refused_alike_whether_it_exists_or_not(root: Path, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside.md").write_text("x")
    (tmp_path / "beyond").mkdir()
    (tmp_path / "beyond" / "there.md").write_text("x")
    (root / "out").symlink_to(tmp_path / "beyond")
    with pytest.raises(UserError, match="outside the folder") as caught:
        await take(tmp_path / "corpus", path)
    assert str(tmp_path) not in str(caught.value)


async def test_paths_count_from_the_root(root: Path, tmp_path: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "weir.md").write_text("The weir.")
    assert await take(tmp_path / "corpus", "mill.md", "sub") == [("mill.md", "added"), ("weir.md", "added")]
    assert await take(tmp_path / "corpus", str(root / "sub")) == [("weir.md", "unchanged")]
