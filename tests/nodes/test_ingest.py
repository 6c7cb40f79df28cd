"""A server's callers may name files below its root, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from langgraph.runtime import Runtime

from anabranch.errors import UserError
from graph.context import Context
from nodes.ingest import ingest
from tests.corpus.archives.packing import zipped


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (root := tmp_path / "root").mkdir()
    (root / "mill.md").write_text("# Mill\n\nThe mill grinds corn.\n")
    monkeypatch.setenv("ANABRANCH_INGEST_ROOT", str(root))
    return root


async def take(corpus: Path, *paths: str) -> list[tuple[str, str]]:
    result = await ingest({"paths": list(paths)}, Runtime(context=Context(corpus=str(corpus))))
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
