"""What is derived is made anew; what is torn is set aside, told of, and taken in again from its file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from anabranch.errors import CorpusDamagedError, CorpusLockedError, CorpusNotFoundError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.index.manifest import current, read_manifest, segment_home
from anabranch.store.maintenance import examine, repair, verify
from anabranch.store.maintenance.repair import TORN
from anabranch.store.write_lock import writing
from tests.store.maintenance.conftest import Change, Sources

ALL = {"a.md", "old[1].md", "old1.md", "n.jsonl#0", "n.jsonl#1", "n.jsonl#2"}
A_MD = "(SELECT doc_id FROM documents WHERE source = 'a.md')"


def test_a_sound_corpus_is_left_alone(corpus: Path) -> None:
    before = {path: path.read_bytes() for path in corpus.rglob("*") if path.is_file()}
    report = repair(corpus)
    assert (report.found, report.done, report.left) == ([], [], [])
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("sql", "done"),
    [
        ("DELETE FROM vectors", ["6 passages embedded again", "the index was made anew"]),
        (
            "UPDATE vectors SET vector = substr(vector, 1, 8) WHERE vector_key = (SELECT min(vector_key) FROM vectors)",
            ["1 passage embedded again", "the index was made anew"],
        ),
        (
            "UPDATE vectors SET vector = zeroblob(1536) WHERE vector_key = (SELECT min(vector_key) FROM vectors)",
            ["1 passage embedded again", "the index was made anew"],
        ),
        (
            "UPDATE meta SET value = '99' WHERE name = 'changes'",
            ["the index was brought up to the documents"],
        ),
        ("UPDATE documents SET born = 7 WHERE source = 'a.md'", ["the index was made anew"]),
    ],
)
def test_what_is_derived_is_made_anew(
    corpus: Path, change: Change, sources: Sources, sql: str, done: list[str]
) -> None:
    vectors = set(_rows(corpus, "SELECT * FROM vectors"))
    change(corpus, sql)
    told: list[str] = []
    report = repair(corpus, said=told.append)
    assert report.found != []
    assert report.done == told == done
    assert report.left == verify(corpus) == []
    assert sources(corpus) == ALL
    assert set(_rows(corpus, "SELECT vector_key FROM vectors")) == {row[:1] for row in vectors}


def _rows(corpus: Path, sql: str) -> list[tuple[object, ...]]:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        return connection.execute(sql).fetchall()


def test_a_damaged_index_is_made_anew(corpus: Path, sources: Sources) -> None:
    home = segment_home(corpus, read_manifest(corpus, str(current(corpus))).segments[0])
    content = bytearray((home / "bm25.counts.npy").read_bytes())
    content[-1] ^= 1
    (home / "bm25.counts.npy").write_bytes(content)
    report = repair(corpus)
    assert report.done == ["the index was made anew"]
    assert verify(corpus) == []
    assert sources(corpus) == ALL


@pytest.mark.parametrize(
    "sql",
    [
        f"DELETE FROM chunks WHERE level = 2 AND doc_id = {A_MD}",
        f"UPDATE chunks SET text = replace(text, 'fish', 'fisk') WHERE doc_id = {A_MD}",
        "UPDATE documents SET metadata = '{' WHERE source = 'a.md'",
        "UPDATE documents SET source = 'other.md' WHERE source = 'a.md'",
        "UPDATE documents SET source = x'ff' WHERE source = 'a.md'",
        "UPDATE documents SET doc_id = 'ffffffffffffffff' WHERE source = 'a.md'",
        "UPDATE documents SET path = 'lost', tokens = 0 WHERE source = 'a.md'",
        "DELETE FROM documents WHERE source = 'a.md'",
    ],
)
def test_a_torn_document_is_set_aside_and_read_again(
    corpus: Path, documents: Path, change: Change, sources: Sources, sql: str
) -> None:
    change(corpus, sql)
    report = repair(corpus)
    assert report.left == verify(corpus) == []
    assert sources(corpus) == ALL - {"a.md"}
    assert any("reads it again" in done or "reads every file again" in done for done in report.done)
    assert str(corpus / TORN) in " ".join(report.done)
    kept = [json.loads(line) for line in (corpus / TORN).read_text(encoding="utf-8").splitlines()]
    assert {record["kind"] for record in kept} == {"torn"}
    passages = [passage["text"] for record in kept for passage in record["passages"]]
    assert passages == ([] if sql.startswith("DELETE FROM chunks") else [passages[0]])
    again = ingest([documents], corpus)
    assert again.count("failed") == 0
    assert sources(corpus) == ALL
    assert verify(corpus) == []


def test_several_faults_at_once(corpus: Path, documents: Path, change: Change, sources: Sources) -> None:
    home = segment_home(corpus, read_manifest(corpus, str(current(corpus))).segments[0])
    (home / "rows.npy").unlink()
    change(corpus, "DELETE FROM vectors WHERE vector_key = (SELECT min(vector_key) FROM vectors)")
    change(corpus, f"UPDATE chunks SET position = 9 WHERE level = 2 AND doc_id = {A_MD}")
    change(corpus, "DELETE FROM documents WHERE source = 'old1.md'")
    (corpus / ".CURRENT").write_text("x")
    report = repair(corpus)
    assert report.left == []
    assert examine(corpus) == []
    assert sources(corpus) == ALL - {"a.md", "old1.md"}
    ingest([documents], corpus)
    assert sources(corpus) == ALL


def test_differences_that_a_torn_document_hid_are_mended_too(corpus: Path, change: Change, sources: Sources) -> None:
    change(corpus, f"DELETE FROM chunks WHERE level = 2 AND doc_id = {A_MD}")
    change(corpus, "UPDATE vectors SET vector = ? WHERE vector_key = (SELECT max(vector_key) FROM vectors)", _ones())
    report = repair(corpus)
    assert report.left == verify(corpus) == []
    assert sources(corpus) == ALL - {"a.md"}


def _ones() -> bytes:
    return np.full(384, 384**-0.5, dtype=np.float32).tobytes()


def test_an_index_of_sqlite_that_differs_is_made_anew(corpus: Path, miswire: Callable[[Path], None]) -> None:
    miswire(corpus)
    report = repair(corpus)
    assert report.done[0] == "the indexes inside corpus.db were made anew"
    assert report.left == verify(corpus) == []


def test_what_is_left_over_is_deleted(corpus: Path) -> None:
    (corpus / "generations" / ".000009-abcd").mkdir()
    shutil.copytree(next((corpus / "segments").iterdir()), corpus / "segments" / "0123456789ab")
    (corpus / ".CURRENT").write_text("000009-abcd")
    report = repair(corpus)
    assert report.done == ["what was left over in the folder was deleted"]
    assert examine(corpus) == []


def test_a_page_that_is_damaged_is_left_to_export(corpus: Path) -> None:
    content = bytearray((corpus / "corpus.db").read_bytes())
    (root,) = _rows(corpus, "SELECT rootpage FROM sqlite_master WHERE name = 'chunks'")[0]
    content[(root - 1) * 4096 : root * 4096] = os.urandom(4096)
    (corpus / "corpus.db").write_bytes(content)
    report = repair(corpus)
    assert "anabranch corpus export" in report.done[-1]
    assert report.left != []
    assert (corpus / "corpus.db").read_bytes() == content


def test_what_is_no_database_is_an_error_that_says_what_to_do(corpus: Path) -> None:
    (corpus / "corpus.db").write_bytes(b"not a database" * 400)
    with pytest.raises(CorpusDamagedError, match="anabranch corpus export"):
        repair(corpus)


def test_a_second_writer_is_refused(corpus: Path) -> None:
    with writing(corpus), pytest.raises(CorpusLockedError):
        repair(corpus)


def test_no_corpus_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusNotFoundError):
        repair(tmp_path / "absent")
