"""What a corpus holds, seen without opening it for searches."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from anabranch.errors import CorpusDamagedError, CorpusNotFoundError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.corpus_folder import size_of
from anabranch.store.index.manifest import current_name, read_manifest
from anabranch.store.maintenance import documents as listed
from anabranch.store.maintenance import overview, remove
from tests.store.maintenance.conftest import Change

STATS = """
import os, sys
from pathlib import Path
from anabranch.store.maintenance import documents, examine, overview
folder = Path(sys.argv[1])
examine(folder)  # what is imported on the way may be where only root may read
os.setgid(65534)
os.setuid(65534)
try:
    (folder / "probe").touch()
except PermissionError:
    print(overview(folder).documents, len(list(documents(folder))), examine(folder))
"""


def test_counts(corpus: Path) -> None:
    found = overview(corpus)
    assert (found.documents, found.leaves, found.chunks, found.generation) == (6, 6, 18, 1)
    assert (found.is_current, found.problem) == (True, "")
    assert found.embedder.startswith("onnx:")
    assert found.dimension == 384
    assert found.bytes == size_of(corpus)
    assert found.tokens == sum(each.tokens for each in listed(corpus))


def test_documents_by_source(corpus: Path, change: Change) -> None:
    change(corpus, """UPDATE documents SET access = '["board"]' WHERE source = 'a.md'""")
    rows = list(listed(corpus))
    assert [row.source for row in rows] == ["a.md", "n.jsonl#0", "n.jsonl#1", "n.jsonl#2", "old1.md", "old[1].md"]
    assert (rows[0].title, rows[0].key, rows[0].access, rows[0].chunks) == ("Herons", "a.md", ["board"], 3)
    assert [row.source for row in listed(corpus, 2)] == ["a.md", "n.jsonl#0"]
    assert list(listed(corpus, 0)) == []


def test_an_index_that_is_behind_or_damaged_is_said(corpus: Path, change: Change) -> None:
    change(corpus, "UPDATE meta SET value = '99' WHERE name = 'changes'")
    found = overview(corpus)
    assert (found.is_current, found.documents, found.chunks, found.leaves) == (False, 6, 18, 6)
    name = read_manifest(corpus, str(current_name(corpus))).segments[0]
    (corpus / "segments" / name / "segment.json").unlink()
    found = overview(corpus)
    assert (found.documents, found.generation, found.is_current) == (6, 0, False)
    assert "segment.json" in found.problem


def test_an_empty_corpus(corpus: Path) -> None:
    remove(corpus, ["*"])
    found = overview(corpus)
    assert (found.documents, found.chunks, found.tokens, found.is_current) == (0, 0, 0, True)
    assert list(listed(corpus)) == []


def test_it_is_the_same_while_somebody_writes(corpus: Path, documents: Path) -> None:
    rows = listed(corpus)
    first = next(rows)
    remove(corpus, ["old1.md"])
    assert [first.source, *(row.source for row in rows)] == sorted(["old1.md", *_names(documents)])
    ingest([documents], corpus)


def _names(documents: Path) -> list[str]:
    return ["a.md", "old[1].md", *(f"n.jsonl#{n}" for n in range(3))]


def test_damage_is_an_error_that_says_what_to_do(corpus: Path) -> None:
    (corpus / "corpus.db").write_bytes(b"not a database" * 400)
    for use in (overview, lambda folder: list(listed(folder))):
        with pytest.raises(CorpusDamagedError, match="anabranch corpus export"):
            use(corpus)


def test_a_later_version_is_refused(corpus: Path, change: Change) -> None:
    change(corpus, "PRAGMA user_version = 99")
    with pytest.raises(CorpusDamagedError, match="Update Anabranch"):
        overview(corpus)


def test_no_corpus_there(tmp_path: Path) -> None:
    for use in (overview, lambda folder: list(listed(folder))):
        with pytest.raises(CorpusNotFoundError):
            use(tmp_path / "absent")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")
def test_a_folder_that_may_only_be_read(corpus: Path) -> None:
    home = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        home.chmod(0o755)
        folder = Path(shutil.copytree(corpus, home / "c"))
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        done = subprocess.run([sys.executable, "-c", STATS, str(folder)], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "6 6 []"
    finally:
        shutil.rmtree(home)
