"""A corpus of an earlier version is brought up and loses nothing; one of a later version is refused."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import CorpusDamagedError
from anabranch.ingestion.pipeline import ingest
from anabranch.store import schema
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.maintenance import compact, examine, overview, rebuild, remove, repair, verify
from anabranch.store.protocol import Scope
from anabranch.store.schema import VERSION, prepare, version_of
from anabranch.store.stores import open_corpus

FIRST = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    path TEXT PRIMARY KEY, source TEXT NOT NULL, sha256 TEXT NOT NULL, access TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE documents (
    doc_id TEXT PRIMARY KEY, path TEXT NOT NULL, source TEXT NOT NULL UNIQUE, key TEXT NOT NULL, title TEXT NOT NULL,
    digest TEXT NOT NULL, metadata TEXT NOT NULL, access TEXT NOT NULL, tokens INTEGER NOT NULL, pages TEXT NOT NULL
);
CREATE INDEX documents_by_path ON documents (path);
CREATE TABLE chunks (
    chunk_id TEXT PRIMARY KEY, doc_id TEXT NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE, parent_id TEXT,
    level INTEGER NOT NULL, position INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, page INTEGER,
    page_end INTEGER, heading TEXT NOT NULL, tokens INTEGER NOT NULL, text TEXT, vector_key TEXT
);
CREATE INDEX chunks_by_document ON chunks (doc_id, level, start);
CREATE INDEX chunks_by_parent ON chunks (parent_id, position);
CREATE TABLE vectors (
    vector_key TEXT NOT NULL, embedder TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (vector_key, embedder)
) WITHOUT ROWID;
CREATE TABLE analysed (
    vector_key TEXT NOT NULL, analyser TEXT NOT NULL, terms TEXT NOT NULL, PRIMARY KEY (vector_key, analyser)
) WITHOUT ROWID;
PRAGMA user_version = 1;
"""
"""The tables of version 1, as they were."""

KEPT = {
    "meta": "name, value",
    "files": "path, source, sha256, access",
    "documents": "doc_id, path, source, key, title, digest, metadata, access, tokens, pages",
    "chunks": (
        'chunk_id, doc_id, parent_id, level, position, start, "end", page, page_end, heading, tokens, text, vector_key'
    ),
    "vectors": "vector_key, embedder, vector",
}


@pytest.fixture(scope="module")
def _today(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("schema")
    (home / "d").mkdir()
    (home / "d" / "a.md").write_text("# Herons\n\nHerons fish at dawn.\n", encoding="utf-8")
    parts = "\n\n".join(f"## Part {n}\n\nThe gauge stood at {n} and the weir was open." for n in range(5))
    (home / "d" / "b.md").write_text(f"# Rivers\n\n{parts}\n", encoding="utf-8")
    rows: list[dict[str, Any]] = [{"id": str(n), "text": f"Bird {n} sings.", "year": 2000 + n} for n in range(3)]
    rows[1]["access"] = ["board"]
    (home / "d" / "n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ingest([home / "d"], home / "c")
    return home


@pytest.fixture
def documents(_today: Path) -> Path:
    return _today / "d"


@pytest.fixture
def today(_today: Path) -> Path:
    """The same documents in a corpus of the current version; not to be changed."""
    return _today / "c"


@pytest.fixture
def first(today: Path, tmp_path: Path) -> Path:
    """A corpus of version 1: its tables, what it kept of terms, and an index in the format of then."""
    folder = tmp_path / "first"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "corpus.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(FIRST)
        connection.execute("ATTACH ? AS today", (str(today / "corpus.db"),))
        connection.execute("BEGIN")
        for table, columns in KEPT.items():
            connection.execute(f"INSERT INTO {table} SELECT {columns} FROM today.{table}")
        connection.execute("INSERT INTO analysed SELECT vector_key, 'english-1', 'a b c' FROM vectors")
        connection.execute("COMMIT")
    home = folder / "generations" / "000007-1f3a"
    (home / "bm25").mkdir(parents=True)
    for name in ("dense.faiss", "rows.npy", "row_documents.npy", "documents.json", "bm25/bm25.idf.npy"):
        (home / name).write_bytes(b"of another time")
    facts = {"name": home.name, "number": 7, "changes": 3, "schema": 1, "files": {}}
    (home / "manifest.json").write_text(json.dumps(facts), encoding="utf-8")
    (folder / "CURRENT").write_text(home.name, encoding="ascii")
    return folder


def content(corpus: Path) -> dict[str, list[tuple[Any, ...]]]:
    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        return {
            table: connection.execute(f"SELECT {columns} FROM {table} ORDER BY 1").fetchall()
            for table, columns in KEPT.items()
        }


def version(corpus: Path) -> int:
    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        return version_of(connection)


def found(corpus: Path) -> object:
    async def work() -> object:
        store = await open_corpus(corpus)
        return [
            sorted(zip(ranked["ids"], ranked["scores"], strict=True))
            for arm in ("bm25", "dense")
            for access in ((), ("board",))
            for ranked in await store.search(arm, ["bird", "the gauge at the weir"], 50, Scope(access=access))
        ]

    return asyncio.run(work())


def structure(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master").fetchall()
    # A table that was renamed has its name in quotes.
    return {(kind, name, "".join(sql.replace('"', "").split())) for kind, name, sql in rows}


def test_a_reader_brings_it_up_and_finds_the_same(first: Path, today: Path, documents: Path) -> None:
    before = content(first)
    assert (version(first), [finding.kind for finding in examine(first)]) == (1, ["version"])
    assert found(first) == found(today)
    assert (version(first), content(first)) == (VERSION, before)
    assert verify(first) == []
    assert ingest([documents], first).count("unchanged") == 3
    assert content(first)["chunks"] == before["chunks"]


def test_an_ingest_brings_it_up_and_embeds_nothing_again(first: Path, today: Path, documents: Path) -> None:
    before = content(first)
    report = ingest([documents], first)
    assert (report.count("unchanged"), report.embedded) == (3, 0)
    assert content(first) == before
    assert found(first) == found(today)
    assert verify(first) == []


def test_tables_that_were_brought_up_are_as_new_ones(first: Path) -> None:
    with closing(CorpusDatabase(first)) as database, closing(sqlite3.connect(":memory:", isolation_level=None)) as new:
        prepare(new)
        assert structure(database.connection) == structure(new)
        assert database.all("PRAGMA foreign_key_check") == []
        assert database.all("PRAGMA integrity_check") == [("ok",)]
        assert database.all("PRAGMA foreign_keys") == [(1,)]
        numbers = [number for (number,) in database.all("SELECT number FROM documents ORDER BY number")]
        assert numbers == [1, 2, 3, 4, 5]
        assert database.one("SELECT seq FROM sqlite_sequence") == (5,)


def test_documents_can_be_removed_and_changed_after_it(first: Path, documents: Path, tmp_path: Path) -> None:
    remove(first, ["a.md"])
    assert verify(first) == []
    folder = Path(shutil.copytree(documents, tmp_path / "d"))
    (folder / "b.md").write_text("# Rivers\n\nAnother text.\n", encoding="utf-8")
    ingest([folder], first)
    assert verify(first) == []


def test_the_old_index_goes(first: Path, documents: Path) -> None:
    rebuild(first)
    assert verify(first) == []
    assert (first / "CURRENT").read_text() != "000007-1f3a"
    compact(first)
    assert [home.name for home in (first / "generations").iterdir()] == [(first / "CURRENT").read_text()]
    assert list((first / "generations").rglob("dense.faiss")) == []


def test_a_repair_brings_it_up_and_says_so(first: Path) -> None:
    assert overview(first).documents == 5
    report = repair(first)
    assert report.done[0] == f"the tables were brought from version 1 to {VERSION}"
    assert report.left == verify(first) == []


def statements(script: str) -> Iterator[str]:
    statement = ""
    for part in script.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement) and part.strip():
            yield statement
            statement = ""


STEPS = list(statements(schema.MIGRATIONS[1]))


def broken(done: int, by: str) -> str:
    """The first step with something in the middle of it."""
    return "".join([*STEPS[:done], by, *STEPS[done:]])


def test_the_steps_are_all_there() -> None:
    assert "".join("".join(STEPS).split()) == "".join(schema.MIGRATIONS[1].split())


@pytest.mark.parametrize("done", range(len(STEPS) + 1))
def test_a_step_that_fails_leaves_the_version_before(first: Path, monkeypatch: pytest.MonkeyPatch, done: int) -> None:
    before = content(first)
    monkeypatch.setitem(schema.MIGRATIONS, 1, broken(done, "INSERT INTO nowhere VALUES (1);"))
    with pytest.raises((CorpusDamagedError, sqlite3.OperationalError)):
        CorpusDatabase(first)
    assert (version(first), content(first)) == (1, before)
    with closing(sqlite3.connect(first / "corpus.db")) as connection:
        assert connection.execute("SELECT count(*) FROM analysed").fetchone() != (0,)
    monkeypatch.undo()
    assert ingest([], first).rows == []
    assert (version(first), content(first)) == (VERSION, before)


KILLED = """
import os, signal, sqlite3, sys
from pathlib import Path
from anabranch.store import schema
from anabranch.store import corpus_database as database
real = sqlite3.connect
def connect(*arguments, **options):
    connection = real(*arguments, **options)
    connection.create_function("die", 0, lambda: os.kill(os.getpid(), signal.SIGKILL))
    return connection
database.sqlite3.connect = connect
schema.MIGRATIONS[1] = sys.stdin.read()
database.CorpusDatabase(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("done", [0, 5, len(STEPS) // 2, len(STEPS) - 1, len(STEPS)])
def test_a_kill_in_mid_step_leaves_the_version_before(first: Path, today: Path, done: int) -> None:
    before = content(first)
    script = broken(done, "SELECT die();")
    process = subprocess.run([sys.executable, "-c", KILLED, str(first)], input=script, text=True, check=False)
    assert process.returncode == -signal.SIGKILL
    assert (version(first), content(first)) == (1, before)
    assert found(first) == found(today)
    assert (version(first), content(first)) == (VERSION, before)
    assert verify(first) == []


@pytest.fixture
def later(today: Path, tmp_path: Path) -> Iterator[Path]:
    folder = Path(shutil.copytree(today, tmp_path / "later"))
    with closing(sqlite3.connect(folder / "corpus.db")) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = content(folder)
    yield folder
    assert (version(folder), content(folder)) == (VERSION + 1, before)


def test_a_later_version_is_refused_by_all(later: Path, documents: Path) -> None:
    for use in (
        lambda: asyncio.run(open_corpus(later)),
        lambda: ingest([documents], later),
        lambda: rebuild(later),
        lambda: remove(later, ["a.md"]),
        lambda: compact(later),
        lambda: repair(later),
        lambda: overview(later),
    ):
        with pytest.raises(CorpusDamagedError, match="Update Anabranch"):
            use()
    assert verify(later) == [f"its tables are of version {VERSION + 1}, not {VERSION}: update Anabranch"]
