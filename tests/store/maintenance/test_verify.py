"""What is wrong with a corpus is found and said; what is sound stays as it is."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from anabranch.errors import CorpusNotFoundError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.connections import connect_read_only
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.index.manifest import (
    current_name,
    home_of,
    read_dead,
    read_manifest,
    segment_home,
    write_generation,
)
from anabranch.store.index.publisher import publish
from anabranch.store.index.segment import Segment, seal
from anabranch.store.maintenance import examine, rebuild, verify
from anabranch.store.summary_table import SummaryDatabase
from anabranch.store.write_lock import hold_write_lock
from anabranch.store.writer_protocol import Summary
from tests.store.maintenance.conftest import Change, Sources

A_MD = "(SELECT doc_id FROM documents WHERE source = 'a.md')"


def test_a_sound_corpus_has_no_problems_and_stays_as_it_is(corpus: Path) -> None:
    before = {path: path.read_bytes() for path in corpus.rglob("*") if path.is_file()}
    told: list[tuple[str, int, int]] = []
    assert examine(corpus, lambda *step: told.append(step)) == []
    assert ("documents", 6, 6) in told
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("DELETE FROM vectors", "6 passages without a vector"),
        ("UPDATE vectors SET vector = substr(vector, 1, 8) WHERE rowid_ = 1", "1 passage without a vector"),
        ("DELETE FROM chunks WHERE level = 2", "a.md: a passage is missing at character 0"),
        ("DELETE FROM chunks WHERE level = 1", "a chunk has lost its parent"),
        ("DELETE FROM chunks WHERE level = 0", "a chunk has lost its parent"),
        (f"DELETE FROM chunks WHERE doc_id = {A_MD}", "a.md: a passage is missing"),
        ("UPDATE chunks SET start = start + 1 WHERE level = 2", "is missing at character 0"),
        ("UPDATE chunks SET text = replace(text, 'fish', 'fisk') WHERE level = 2", "a.md: a passage is not what was"),
        ("UPDATE chunks SET text = substr(text, 2) WHERE level = 2", "has lost part of its text"),
        ("UPDATE chunks SET text = NULL", "a leaf has no text"),
        ("UPDATE chunks SET heading = 'Cats' WHERE level = 2", "a passage or its headings are not"),
        ("UPDATE chunks SET page = 'x'", "a row of its chunks cannot be read"),
        ("UPDATE documents SET title = 'Cats' WHERE source = 'a.md'", "a.md: a passage or its headings"),
        ("UPDATE documents SET source = 'b.md' WHERE source = 'a.md'", "b.md: its id does not match its name"),
        ("UPDATE documents SET metadata = '{' WHERE source = 'a.md'", "a.md: its metadata cannot be read"),
        ("UPDATE documents SET access = '{}' WHERE source = 'a.md'", "a.md: its metadata cannot be read"),
        ("UPDATE documents SET pages = '[[1]]' WHERE source = 'a.md'", "a.md: its metadata cannot be read"),
        ("UPDATE documents SET tokens = 0 WHERE source = 'a.md'", "a.md: a passage is missing"),
        ("UPDATE documents SET title = x'ff' WHERE source = 'a.md'", "a.md: its row cannot be read"),
        ("DELETE FROM documents WHERE source = 'a.md'", "3 chunks without a document"),
        ("UPDATE meta SET value = 'other' WHERE name = 'embedder'", "6 passages without a vector"),
        (
            "INSERT OR REPLACE INTO meta (name, value) VALUES ('language', 'dutch')",
            "made with the language 'english', not 'dutch'",
        ),
        ("UPDATE documents SET born = 7 WHERE source = 'a.md'", "1 document in the database missing or outdated"),
        ("UPDATE documents SET access = '[\"board\"]' WHERE source = 'a.md'", "a.md: its access tags, metadata"),
        ("UPDATE documents SET metadata = '{\"year\": 7}' WHERE source = 'a.md'", "a.md: its access tags, metadata"),
        ("UPDATE documents SET pages = '[[0, 7]]' WHERE source = 'a.md'", "a.md: its access tags, metadata, pages"),
        ("UPDATE documents SET path = '/b.md' WHERE source = 'a.md'", "a.md: its access tags, metadata"),
        ("UPDATE chunks SET page = 7", "a.md: its access tags, metadata, pages"),
        ("UPDATE chunks SET heading = 'Cats' WHERE level = 1", "a.md: its access tags, metadata, pages or headings"),
        ("UPDATE files SET access = '[\"board\"]' WHERE source = 'a.md'", "/a.md' of files is not what was written"),
        ("UPDATE files SET sha256 = '' WHERE source = 'a.md'", "/a.md' of files is not what was written"),
        ("UPDATE meta SET value = '[1, 2, 3]' WHERE name = 'sizes'", "the row 'sizes' of meta is not what was written"),
        ("DELETE FROM files", "0 records of files where 4 were written"),
        ("DELETE FROM files WHERE source = 'a.md'", "3 records of files where 4 were written"),
    ],
)
def test_what_is_wrong_in_the_database_is_said(corpus: Path, change: Change, sql: str, said: str) -> None:
    if "rowid_" in sql:  # the table has no rowid
        sql = sql.replace("rowid_ = 1", "vector_key = (SELECT min(vector_key) FROM vectors)")
    change(corpus, sql)
    problems = verify(corpus)
    assert any(said in problem for problem in problems), problems


@pytest.mark.parametrize("table", ["meta", "files", "documents", "chunks", "vectors", "summaries"])
def test_a_flipped_bit_in_any_column_is_found(corpus: Path, change: Change, table: str) -> None:
    with hold_write_lock(corpus), closing(SummaryDatabase(corpus)) as database:
        named = database.all("SELECT doc_id, digest FROM documents")
        assert database.keep_summaries([Summary(*each, "What birds do.") for each in named]) == 6
        publish(database)
    # A disk does not start them.
    for trigger in ("document_retires", "edition_retires", "vector_is_left", "summary_is_stale"):
        change(corpus, f"DROP TRIGGER {trigger}")
    assert verify(corpus) == []
    content = (corpus / "corpus.db").read_bytes()
    with closing(connect_read_only(corpus / "corpus.db")) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        rows = connection.execute(f'SELECT "{columns[0]}", * FROM {table}').fetchall()
    unnoticed = []
    for place, column in enumerate(columns):
        # Nothing, as the page of a text file, becomes something.
        key, value = next(((row[0], row[1 + place]) for row in rows if row[1 + place]), (rows[0][0], 0))
        for bit in (3, 4, 5):
            change(corpus, f'UPDATE {table} SET "{column}" = ? WHERE "{columns[0]}" = ?', flipped(value, bit), key)
            unnoticed += [] if verify(corpus) else [f"{column}, bit {bit}"]
            (corpus / "corpus.db").write_bytes(content)
    assert unnoticed == []


def flipped(value: str | int | bytes, bit: int) -> str | int | bytes:
    if isinstance(value, int):
        return value ^ 1 << bit
    content = bytearray(value.encode() if isinstance(value, str) else value)
    content[len(content) // 2] ^= 1 << bit
    return content.decode() if isinstance(value, str) else bytes(content)


def test_a_lost_record_of_a_file_is_found_until_the_corpus_is_made_anew(
    corpus: Path, documents: Path, change: Change
) -> None:
    change(corpus, "DELETE FROM files")
    ingest([documents], corpus)
    assert len(verify(corpus)) == 1
    rebuild(corpus)
    assert verify(corpus) == []


def test_a_vector_that_is_not_what_was_written_is_made_anew(corpus: Path, change: Change) -> None:
    change(corpus, "UPDATE vectors SET checksum = '' WHERE vector_key = (SELECT min(vector_key) FROM vectors)")
    assert verify(corpus) == ["1 passage without a vector of the corpus's embedder, or with a bad one"]
    rebuild(corpus)
    assert verify(corpus) == []


def test_a_vector_that_is_none_is_found(corpus: Path, change: Change) -> None:
    nan = np.full(384, np.nan, dtype=np.float32).tobytes()
    change(corpus, "UPDATE vectors SET vector = ? WHERE vector_key = (SELECT min(vector_key) FROM vectors)", nan)
    assert "1 passage without a vector of the corpus's embedder, or with a bad one" in verify(corpus)


def test_a_vector_that_changed_is_found(corpus: Path, change: Change) -> None:
    key = "(SELECT min(vector_key) FROM chunks WHERE level = 2 AND text LIKE '%number 1%')"
    change(corpus, f"UPDATE vectors SET vector = ? WHERE vector_key = {key}", np.ones(384, np.float32).tobytes())
    assert verify(corpus) == ["1 passage without a vector of the corpus's embedder, or with a bad one"]


def test_an_index_inside_the_database_that_differs_is_found(corpus: Path, miswire: Callable[[Path], None]) -> None:
    miswire(corpus)
    assert any("documents_by_path" in problem for problem in verify(corpus))


def test_a_damaged_page_is_said_and_no_traceback(corpus: Path) -> None:
    content = bytearray((corpus / "corpus.db").read_bytes())
    content[5 * 4096 : 6 * 4096] = os.urandom(4096)
    (corpus / "corpus.db").write_bytes(content)
    problems = verify(corpus)
    assert any(problem.startswith("corpus.db: ") for problem in problems)
    assert not any("\n" in problem or "***" in problem for problem in problems)


@pytest.mark.parametrize("content", [b"", b"not a database" * 400])
def test_a_database_that_is_none_is_said(corpus: Path, content: bytes) -> None:
    (corpus / "corpus.db").write_bytes(content)
    assert verify(corpus) != []


def altered(corpus: Path, alter: Callable[[Path], None]) -> None:
    """Change the files of the only segment and seal it again, as a defect in making it would have left them."""
    manifest = read_manifest(corpus, str(current_name(corpus)))
    home = segment_home(corpus, manifest.segments[0])
    alter(home)
    (home / "segment.json").unlink()
    seal(home)
    dead = read_dead(corpus, manifest)
    shutil.rmtree(home_of(corpus, manifest.name))
    write_generation(corpus, manifest, dead)


def renumber(home: Path) -> None:
    documents = np.load(home / "documents.npy")
    documents[[0, 1], 0] += 10
    np.save(home / "documents.npy", documents)


def double(home: Path) -> None:
    documents = np.load(home / "documents.npy")
    documents[1, :2] = documents[0, :2]
    np.save(home / "documents.npy", documents)


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        (renumber, "2 documents in the database missing or outdated in the index"),
        (renumber, "2 documents in the index missing or changed in the database"),
        (double, "1 document in the index twice"),
        (double, "1 document in the database missing or outdated in the index"),
    ],
)
def test_an_index_that_is_another_than_the_documents_is_found(
    corpus: Path, alter: Callable[[Path], None], said: str
) -> None:
    assert len(Segment(segment_home(corpus, read_manifest(corpus, str(current_name(corpus))).segments[0])).ids) == 6
    altered(corpus, alter)
    problems = verify(corpus)
    assert said in problems


def test_what_killed_runs_left_is_a_remark(corpus: Path) -> None:
    (corpus / "generations" / ".000009-abcd").mkdir()
    (corpus / "segments" / "0123456789ab").mkdir()
    (corpus / "segments" / "0123456789ab" / "rows.npy").write_bytes(b"x" * 1000)
    (corpus / ".CURRENT").write_text("000009-abcd")
    assert verify(corpus) == []
    said = [finding.said for finding in examine(corpus)]
    assert said == [
        "generations/.000009-abcd is in no index (0 bytes)",
        "segments/0123456789ab is in no index (1,000 bytes)",
        ".CURRENT is in no index (11 bytes)",
    ]


def test_an_index_that_is_behind_is_a_remark_because_the_next_search_brings_it_up(
    corpus: Path, sources: Sources
) -> None:
    with hold_write_lock(corpus), closing(CorpusDatabase(corpus)) as database:
        assert database.remove_documents(database.named("a.md")) == 1
    (finding,) = examine(corpus)
    assert (finding.kind, finding.is_remark) == ("index", True)
    assert "older than the documents" in finding.said
    assert "a.md" not in sources(corpus)
    assert examine(corpus) == []


def test_what_a_writer_has_not_published_yet_is_no_fault(corpus: Path) -> None:
    with hold_write_lock(corpus):
        assert examine(corpus) == []


def test_it_waits_for_no_reader(corpus: Path) -> None:
    reader = connect_read_only(corpus / "corpus.db")
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM documents").fetchone()
    assert verify(corpus) == []
    reader.close()


def test_no_corpus_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusNotFoundError):
        verify(tmp_path / "absent")


def test_a_moved_corpus_is_the_same(corpus: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / "under another name"
    moved.parent.mkdir()
    corpus.rename(moved)
    assert verify(moved) == []
    assert json.loads((home_of(moved, str(current_name(moved))) / "manifest.json").read_text())["number"] == 1
