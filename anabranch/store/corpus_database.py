"""The write side of a corpus: documents, their chunk trees and vectors in one SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.errors import CorpusDamagedError
from anabranch.models.embedder import Vectors
from anabranch.readers.corpus_marker import DATABASE
from anabranch.readers.faults import describe_fault
from anabranch.store.corpus_facts import FILES, history_in, next_count
from anabranch.store.corpus_folder import SAVE
from anabranch.store.filter_sql import LISTED
from anabranch.store.records import Grown, facts_of, row_checksum, rows_of, text_key
from anabranch.store.schema import prepare
from anabranch.store.writer_protocol import FileRecord, WriteResult

# SQLite and its driver raise these for a value, and others for a disk or a file that fails.
_NO_ROW = (sqlite3.DataError, sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError)


class CorpusDatabase:
    """One writer's connection; most of what `CorpusWriter` asks for."""

    def __init__(self, folder: Path, connection: sqlite3.Connection | None = None) -> None:
        """Open the database, creating it where it is missing.

        Raises:
            CorpusDamagedError: The file is no database, or of another version.
            sqlite3.OperationalError: The disk is full or fails, or another process keeps the database to itself.
        """
        self.folder = folder
        # No implicit transactions: Python would open one before a write and leave it open, and the lock with it.
        self.connection = connection or sqlite3.connect(folder / DATABASE, isolation_level=None, timeout=30)
        try:
            self.connection.execute("PRAGMA journal_mode = WAL")
            # In WAL mode only FULL syncs at each commit, so that a commit survives a power cut.
            self.connection.execute("PRAGMA synchronous = FULL")
            # Removed content must be overwritten; not every build of SQLite does that by default.
            self.connection.execute("PRAGMA secure_delete = ON")
            prepare(self.connection)
            # SQLite moves this table to disk if it grows large: it holds every document of a run.
            columns = "path TEXT, doc_id TEXT, PRIMARY KEY (path, doc_id)"
            self.connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS seen ({columns}) WITHOUT ROWID")
        except (sqlite3.DatabaseError, CorpusDamagedError) as error:
            self.connection.close()
            if isinstance(error, CorpusDamagedError | sqlite3.OperationalError):
                raise
            msg = f"{folder / DATABASE} cannot be read: {error}"
            raise CorpusDamagedError(msg, hint=SAVE) from error

    def close(self) -> None:
        """Close, moving what is in the log into the database file."""
        # On a full disk, the content stays safe in the log.
        with suppress(sqlite3.DatabaseError):
            self.empty_log()
        self.connection.close()

    def empty_log(self) -> bool:
        """Move the log into the database file; False if a reader holds an older state for too long."""
        # An export of a large corpus reads for minutes, and a writer need not wait for it.
        self.connection.execute("PRAGMA busy_timeout = 1000")
        (busy, *_) = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self.connection.execute("PRAGMA busy_timeout = 30000")
        return not busy

    @contextmanager
    def transaction(self) -> Iterator[Callable[[], None]]:
        """Commit all of it or nothing; yields a function that counts a change of what searches see."""
        # IMMEDIATE takes the write lock now; a deferred transaction can fail at its first write.
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield lambda: self.set_meta("changes", str(next_count(self.changes)))
            self.connection.execute("COMMIT")
        except BaseException:
            # SQLite itself has rolled back after some errors of the disk.
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    def meta(self, name: str) -> str | None:
        """Return one fact about the corpus."""
        row = self.connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def set_meta(self, name: str, value: str) -> None:
        """Keep one fact about the corpus."""
        row = (name, value, row_checksum(name, value))
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", row)

    def keep_meta(self, facts: Mapping[str, str]) -> None:
        """Keep facts about the corpus, all of them or none."""
        with self.transaction():
            for name, value in facts.items():
                self.set_meta(name, value)

    def is_empty(self) -> bool:
        """Tell whether it holds no document."""
        return self.one("SELECT 1 FROM documents LIMIT 1") is None

    @property
    def changes(self) -> int:
        """How often the documents have changed; an index made at another count is out of date."""
        return history_in(self.connection).changes

    def all(self, sql: str, *parameters: Any) -> list[Any]:  # noqa: ANN401  # rows of any shape
        """Return all rows."""
        return self.connection.execute(sql, parameters).fetchall()

    def one(self, sql: str, *parameters: Any) -> Any:  # noqa: ANN401  # a row of any shape
        """Return the first row, or None."""
        return self.connection.execute(sql, parameters).fetchone()

    def sample_texts(self, most: int) -> list[str]:
        """Return the texts of the first leaves by id."""
        sql = "SELECT text FROM chunks WHERE level = 2 ORDER BY chunk_id LIMIT ?"
        return [text for (text,) in self.all(sql, most)]

    def dimension(self) -> int:
        """Return the length of its vectors, 0 where there are none."""
        row = self.one("SELECT length(vector) FROM vectors WHERE embedder = ? LIMIT 1", self.meta("embedder") or "")
        return (row or (0,))[0] // 4

    def missing_vectors(self, texts: Sequence[str], embedder: str) -> dict[str, str]:
        """Return the texts that have no vector yet, by their key."""
        by_key = {text_key(text): text for text in texts}
        sql = f"SELECT vector_key FROM vectors WHERE embedder = ? AND vector_key IN {LISTED}"  # noqa: S608  # a constant
        known = {key for (key,) in self.all(sql, embedder, json.dumps(list(by_key)))}
        return {key: text for key, text in by_key.items() if key not in known}

    def add_vectors(self, keys: Sequence[str], vectors: Vectors, embedder: str) -> None:
        """Keep vectors; they count for nothing until a leaf names them."""
        # OR IGNORE below: two documents with the same text come to the same key, whichever is first.
        rows = [(key, embedder, row.astype(np.float32).tobytes()) for key, row in zip(keys, vectors, strict=True)]
        sealed = [(*row, row_checksum(*row)) for row in rows]
        with self.transaction():
            self.connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?)", sealed)

    def forget_unused(self, *, everything: bool = False) -> None:
        """Drop vectors that no leaf has any more.

        Args:
            everything: Check every vector, not only those that lost a leaf, and drop those of former embedders.
        """
        used = "EXISTS (SELECT 1 FROM chunks c WHERE c.vector_key = vectors.vector_key)"
        with self.transaction():
            if everything:
                sql = f"DELETE FROM vectors WHERE embedder != ? OR NOT {used}"  # noqa: S608  # a constant
                self.connection.execute(sql, (self.meta("embedder") or "",))
            else:
                lost = "vector_key IN (SELECT vector_key FROM orphans)"
                self.connection.execute(f"DELETE FROM vectors WHERE {lost} AND NOT {used}")  # noqa: S608  # constants
            self.connection.execute("DELETE FROM orphans")

    def file(self, path: str) -> FileRecord | None:
        """Return what is known of a file that was taken in."""
        return next(self._files("WHERE path = ?", path), None)

    def files(self) -> Iterator[FileRecord]:
        """Return each file that was taken in, by source.

        Raises:
            sqlite3.DatabaseError: A record is damaged.
        """
        return self._files("ORDER BY source")

    def _files(self, which: str, *parameters: str) -> Iterator[FileRecord]:
        sql = f"SELECT path, source, sha256, access, stamp FROM files {which}"  # noqa: S608  # ours
        for path, source, digest, access, stamp in self.all(sql, *parameters):
            if not (isinstance(path, str) and isinstance(source, str)):
                raise sqlite3.DatabaseError("the record of a file cannot be read")
            yield FileRecord(path, source, digest, tuple(json.loads(access)), stamp=stamp)

    def counts(self, path: str) -> tuple[int, int]:
        """Return how many documents and chunks a file holds."""
        chunks = "SELECT count(*) FROM chunks JOIN documents USING (doc_id) WHERE path = ?"
        return self.one("SELECT count(*) FROM documents WHERE path = ?", path)[0], self.one(chunks, path)[0]

    def tags(self, path: str) -> frozenset[str]:
        """Return all access tags of a file and of the documents in it."""
        of = "SELECT access FROM {} WHERE path = ?1"
        rows = self.all(f"{of.format('files')} UNION {of.format('documents')}", path)
        return frozenset(tag for (access,) in rows for tag in json.loads(access))

    def holds(self, doc_id: str, digest: str, path: str) -> bool:
        """Tell whether a document is here exactly as it is in its file."""
        sql = "SELECT 1 FROM documents WHERE doc_id = ? AND digest = ? AND path = ?"
        return self.one(sql, doc_id, digest, path) is not None

    def origin(self, source: str) -> str | None:
        """Return the path of the file that a document is from, None where there is no such document."""
        row = self.one("SELECT path FROM documents WHERE source = ?", source)
        return row[0] if row else None

    def see(self, path: str, doc_id: str) -> bool:
        """Note that a file holds a document; False if that was noted in this run before."""
        sql = "INSERT OR IGNORE INTO temp.seen VALUES (?, ?)"
        return self.connection.execute(sql, (path, doc_id)).rowcount == 1

    def write(self, batch: Sequence[Grown], files: Sequence[FileRecord]) -> WriteResult:
        """Replace documents, and record the files that are finished by them, all in one transaction.

        If the database rejects a document, its former edition stays, and its file counts as not read.
        """
        written = WriteResult({}, [])
        with self.transaction() as changing:
            # One count for the whole batch, because readers only compare it for equality. It is also the birth of each
            # document of the batch: an index adds documents born after the count that it knows.
            if batch:
                changing()
            for grown in batch:
                if why := self._refusal(grown):
                    written.refused.append((grown, why))
            partly = {grown.path for grown, _ in written.refused}
            for record in files:
                written.removed[record.path] = self._finish(record.unread() if record.path in partly else record)
            if any(written.removed.values()) and not batch:
                changing()
        return written

    def _refusal(self, grown: Grown) -> str:
        """Store a document, or change nothing and return why its content was rejected."""
        # A savepoint: one document with invalid Unicode must not cost the others of its batch.
        self.connection.execute("SAVEPOINT document")
        try:
            self._replace(grown)
        except Exception as error:
            if isinstance(error, sqlite3.Error) and not isinstance(error, _NO_ROW):
                raise
            self.connection.execute("ROLLBACK TO document")
            why = f"it cannot be stored: {describe_fault(error)}"
        else:
            why = ""
        self.connection.execute("RELEASE document")
        return why

    def _record(self, record: FileRecord) -> None:
        self._count_files(int(self.one("SELECT 1 FROM files WHERE path = ?", record.path) is None))
        row = (record.path, record.source, record.sha256, json.dumps(record.access), record.stamp)
        self.connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)", (*row, row_checksum(*row)))

    def _count_files(self, more: int) -> None:
        """Count the records of files: their lack shows nowhere else."""
        known = self.meta(FILES) or ""
        self.set_meta(FILES, str((int(known) if known.isdecimal() else 0) + more))

    def _finish(self, record: FileRecord) -> int:
        self._record(record)
        gone = 0
        if record.complete:
            seen = "SELECT doc_id FROM temp.seen WHERE path = ?1"
            sql = f"DELETE FROM documents WHERE path = ?1 AND doc_id NOT IN ({seen})"  # noqa: S608  # a constant
            gone = self.connection.execute(sql, (record.path,)).rowcount
        # Drop what was noted for a finished file, or the table grows with every file of a large folder.
        self.connection.execute("DELETE FROM temp.seen WHERE path = ?", (record.path,))
        return gone

    def remove_file(self, path: str) -> int:
        """Remove a file and its documents; return how many those were."""
        with self.transaction() as changing:
            changing()
            removed = self.connection.execute("DELETE FROM documents WHERE path = ?", (path,)).rowcount
            self._count_files(-self.connection.execute("DELETE FROM files WHERE path = ?", (path,)).rowcount)
        return removed

    def _replace(self, grown: Grown) -> None:
        """Put a document in the place of its former edition; it keeps its number."""
        chunks = rows_of(grown)
        facts = facts_of(grown, chunks)
        names = ", ".join(facts)
        marks = ", ".join("?" * len(facts))
        fresh = ", ".join(f"{name} = excluded.{name}" for name in facts if name != "doc_id")
        # Delete the chunks first: an upsert does not trigger the foreign key's delete, so the old ones would stay.
        self.connection.execute("DELETE FROM chunks WHERE doc_id = ?", (facts["doc_id"],))
        self.connection.execute(
            f"INSERT INTO documents (born, {names}) VALUES (?, {marks}) "  # noqa: S608  # names of columns
            f"ON CONFLICT (doc_id) DO UPDATE SET born = excluded.born, {fresh}",
            (self.changes, *facts.values()),
        )
        self.connection.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", chunks)

    def named(self, source: str) -> list[str]:
        """Return the ids of the documents that a source, that of a file, or a shell pattern names."""
        for test in ("d.source = ?", "f.source = ?", "d.source GLOB ?"):
            sql = f"SELECT d.doc_id FROM documents d LEFT JOIN files f USING (path) WHERE {test}"  # noqa: S608  # constants
            if found := self.all(sql, source):
                return [doc_id for (doc_id,) in found]
        return []

    def remove_documents(self, doc_ids: Sequence[str]) -> int:
        """Remove documents; a file that loses one is read again by the next run that meets it."""
        removed = 0
        with self.transaction() as changing:
            changing()
            for doc_id in doc_ids:
                # Without a hash the file counts as changed; otherwise a document removed by mistake would never come
                # back.
                for record in list(self._files("WHERE path = (SELECT path FROM documents WHERE doc_id = ?)", doc_id)):
                    self._record(record.unread())
                removed += self.connection.execute("DELETE FROM documents WHERE doc_id = ?", (doc_id,)).rowcount
        return removed
