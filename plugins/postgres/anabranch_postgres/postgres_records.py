"""Reads the records of files and documents of a corpus in PostgreSQL for its writer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, LiteralString

from psycopg import Connection

from anabranch.errors import SettingsError
from anabranch.store.records import digest_of, text_key
from anabranch.store.writer_protocol import FileRecord
from anabranch_postgres.postgres_filters import Clause, postgres_clause
from anabranch_postgres.postgres_search import filter_storable


class PostgresRecords:
    """The methods of `CorpusWriter` that only read."""

    def __init__(self, connection: Connection[Any], corpus: int) -> None:
        """Take a connection, and the number of the corpus."""
        self.connection = connection
        self.corpus = corpus

    def one(self, sql: LiteralString, *parameters: Any) -> Any:  # noqa: ANN401  # a row of any shape
        """Return the first row, or None; the first parameter of every statement is the corpus."""
        return self.connection.execute(sql, (self.corpus, *parameters)).fetchone()

    def meta(self, name: str) -> str | None:
        """Return one fact about the corpus."""
        row = self.one("SELECT value FROM anabranch.meta WHERE corpus = %s AND name = %s", name)
        return row[0] if row else None

    def is_empty(self) -> bool:
        """Tell whether it holds no document, and no worker is about to write one."""
        sql = (
            "SELECT 1 FROM anabranch.corpora c WHERE c.id = %s AND (EXISTS (SELECT 1 FROM anabranch.documents d "
            "WHERE d.corpus = c.id) OR EXISTS (SELECT 1 FROM anabranch.jobs j WHERE j.corpus = c.id AND j.state IN "
            "('todo', 'running')))"
        )
        return self.one(sql) is None

    def file(self, path: str) -> FileRecord | None:
        """Return what is known of a file that was taken in."""
        return next(self._files("AND path_key = %s", text_key(path)), None)

    def files(self) -> Iterator[FileRecord]:
        """Return each file that was taken in, by source."""
        return self._files('ORDER BY source COLLATE "C"')

    def _files(self, which: LiteralString, *parameters: str) -> Iterator[FileRecord]:
        sql = f"SELECT path, source, sha256, access, stamp FROM anabranch.files WHERE corpus = %s {which}"  # noqa: S608
        for path, source, digest, access, stamp in self.connection.execute(sql, (self.corpus, *parameters)).fetchall():
            yield FileRecord(path, source, digest, tuple(access), stamp=stamp)

    def counts(self, path: str) -> tuple[int, int]:
        """Return how many documents and chunks a file holds."""
        sql = (
            "SELECT count(DISTINCT d.number), count(c.chunk_id) FROM anabranch.documents d "
            "LEFT JOIN anabranch.chunks c ON c.corpus = d.corpus AND c.document = d.number "
            "WHERE d.corpus = %s AND d.path_key = %s"
        )
        documents, chunks = self.one(sql, text_key(path))
        return documents, chunks

    def tags(self, path: str) -> frozenset[str]:
        """Return all access tags of a file and of the documents in it."""
        sql = (
            "SELECT unnest(access) FROM anabranch.files WHERE corpus = %(corpus)s AND path_key = %(key)s UNION "
            "SELECT unnest(a.tags) FROM anabranch.documents d JOIN anabranch.audiences a "
            "ON a.corpus = d.corpus AND a.id = d.audience WHERE d.corpus = %(corpus)s AND d.path_key = %(key)s"
        )
        rows = self.connection.execute(sql, {"corpus": self.corpus, "key": text_key(path)})
        return frozenset(tag for (tag,) in rows)

    def holds(self, doc_id: str, digest: str, path: str) -> bool:
        """Tell whether a document is here exactly as it is in its file."""
        sql = "SELECT 1 FROM anabranch.documents WHERE corpus = %s AND doc_id = %s AND digest = %s AND path_key = %s"
        return self.one(sql, doc_id, digest, text_key(path)) is not None

    def origin(self, source: str) -> str | None:
        """Return the path of the file that a document is from, None where there is no such document."""
        row = self.one("SELECT path FROM anabranch.documents WHERE corpus = %s AND doc_id = %s", digest_of(source))
        return row[0] if row else None

    def dimension(self) -> int:
        """Return the length of its vectors, 0 where there are none."""
        row = self.one("SELECT vector_dims(vector) FROM anabranch.leaves WHERE corpus = %s LIMIT 1")
        return row[0] if row else 0

    def sample_texts(self, most: int) -> list[str]:
        """Return the texts of the first leaves by id, in the same order as a folder."""
        sql = 'SELECT text FROM anabranch.chunks WHERE corpus = %s AND level = 2 ORDER BY chunk_id COLLATE "C" LIMIT %s'
        return [text for (text,) in self.connection.execute(sql, (self.corpus, most))]

    def missing_vectors(self, texts: Sequence[str], embedder: str) -> dict[str, str]:
        """Return the texts that have no vector yet, by their key."""
        by_key = {text_key(text): text for text in texts}
        sql = (
            "SELECT vector_key FROM anabranch.vectors WHERE corpus = %(corpus)s AND embedder = %(embedder)s AND "
            "vector_key = ANY(%(keys)s) UNION SELECT vector_key FROM anabranch.leaves WHERE corpus = %(corpus)s AND "
            "vector_key = ANY(%(keys)s) AND %(embedder)s = (SELECT value FROM anabranch.meta WHERE corpus = %(corpus)s "
            "AND name = 'embedder')"
        )
        parameters = {"corpus": self.corpus, "embedder": embedder, "keys": list(by_key)}
        known = {key for (key,) in self.connection.execute(sql, parameters)}
        return {key: text for key, text in by_key.items() if key not in known}

    def named(self, source: str) -> list[str]:
        """Return the ids of the documents that a source, that of a file, or a shell pattern names."""
        tests = (Clause("d.source = %s", (source,)), Clause("f.source = %s", (source,)), _matching(source))
        for test in tests if filter_storable([source]) else ():
            sql = (
                "SELECT d.doc_id FROM anabranch.documents d LEFT JOIN anabranch.files f "  # noqa: S608
                f"ON f.corpus = d.corpus AND f.path_key = d.path_key WHERE d.corpus = %s AND {test.sql}"
            )
            if found := self.connection.execute(sql, (self.corpus, *test.parameters)).fetchall():
                return [doc_id for (doc_id,) in found]
        return []


def _matching(pattern: str) -> Clause:
    """Return the condition that the source of a document `d` matches a shell pattern; false if invalid."""
    try:
        return postgres_clause({"source": {"glob": pattern}})
    except SettingsError:
        return Clause("false")
