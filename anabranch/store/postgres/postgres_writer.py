"""Writes to a corpus in PostgreSQL; one writer at a time holds its lock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

from pgvector import Vector
from psycopg import Connection, DataError

from anabranch.errors import SettingsError
from anabranch.models.embedder import Vectors
from anabranch.store.corpus_language import settled_language
from anabranch.store.postgres.postgres_filters import Clause, postgres_clause
from anabranch.store.postgres.postgres_index import forget_unused, publish, uncounted
from anabranch.store.postgres.postgres_search import storable_of
from anabranch.store.records import Grown, digest_of, facts_of, rows_of, text_key
from anabranch.store.writer_protocol import FileRecord, WriteResult

# What the database and its driver say of a value: text that is no Unicode, or has a NUL, or a number too large.
_NO_ROW = (UnicodeEncodeError, DataError)


class PostgresWriter:
    """Writes to a corpus, implementing `CorpusWriter`; made by `PostgresStore.writer`, which holds the lock."""

    def __init__(self, connection: Connection[Any], corpus: int) -> None:
        """Take a connection of its own, and the number of the corpus."""
        self.connection = connection
        self.corpus = corpus
        # As long as this connection: what a run has seen grows with the documents in one file.
        columns = "path_key text, doc_id text, PRIMARY KEY (path_key, doc_id)"
        connection.execute(f"CREATE TEMP TABLE seen ({columns})")

    def one(self, sql: LiteralString, *parameters: Any) -> Any:  # noqa: ANN401  # a row of any shape
        """Return the first row, or None; the first parameter of every statement is the corpus."""
        return self.connection.execute(sql, (self.corpus, *parameters)).fetchone()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all of it or nothing."""
        with self.connection.transaction():
            yield

    def _count_change(self) -> None:
        """Count a change, last of all in its transaction: until that ends, other writers wait for this row."""
        self.connection.execute("UPDATE anabranch.corpora SET changes = changes + 1 WHERE id = %s", (self.corpus,))

    def meta(self, name: str) -> str | None:
        """Return one fact about the corpus."""
        row = self.one("SELECT value FROM anabranch.meta WHERE corpus = %s AND name = %s", name)
        return row[0] if row else None

    def keep_meta(self, facts: Mapping[str, str]) -> None:
        """Keep facts about the corpus, all of them or none."""
        sql = (
            "INSERT INTO anabranch.meta VALUES (%s, %s, %s) "
            "ON CONFLICT (corpus, name) DO UPDATE SET value = excluded.value"
        )
        with self.transaction(), self.connection.cursor() as cursor:
            cursor.executemany(sql, [(self.corpus, name, value) for name, value in facts.items()])

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

    def see(self, path: str, doc_id: str) -> bool:
        """Note that a file holds a document; False if that was noted in this run before."""
        sql = "INSERT INTO seen VALUES (%s, %s) ON CONFLICT DO NOTHING"
        return self.connection.execute(sql, (text_key(path), doc_id)).rowcount == 1

    def dimension(self) -> int:
        """Return the length of its vectors, 0 where there are none."""
        row = self.one("SELECT vector_dims(vector) FROM anabranch.leaves WHERE corpus = %s LIMIT 1")
        return row[0] if row else 0

    def sample_texts(self, most: int) -> list[str]:
        """Return the texts of the first leaves by id, in the order that a folder has them in."""
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

    def add_vectors(self, keys: Sequence[str], vectors: Vectors, embedder: str) -> None:
        """Keep vectors; they count for nothing until a leaf names them."""
        # In order: two writers that wait for each other's keys would wait for ever.
        pairs = sorted(zip(keys, vectors, strict=True), key=lambda pair: pair[0])
        rows = [(self.corpus, key, embedder, Vector(vector)) for key, vector in pairs]
        with self.transaction(), self.connection.cursor() as cursor:
            # Two documents with the same text come to the same key, whichever is first.
            cursor.executemany("INSERT INTO anabranch.vectors VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING", rows)

    def write(self, batch: Sequence[Grown], files: Sequence[FileRecord]) -> WriteResult:
        """Replace documents, and record the files that are finished by them, all in one transaction."""
        written = WriteResult({}, [])
        with self.transaction():
            for grown in batch:
                if why := self._refusal(grown):
                    written.refused.append((grown, why))
            partly = {grown.path for grown, _ in written.refused}
            for record in files:
                written.removed[record.path] = self._finish(record.unread() if record.path in partly else record)
            if batch or any(written.removed.values()):
                self._count_change()
        return written

    def _refusal(self, grown: Grown) -> str:
        """Put a document in its place, or leave everything as it was and say why: what is wrong is its content."""
        try:
            # A savepoint: one document with a character that the database cannot hold must not cost the others.
            with self.transaction():
                self._replace(grown)
        except _NO_ROW as error:
            return f"it cannot be stored: {str(error).splitlines()[0]}"
        return ""

    def _replace(self, grown: Grown) -> None:
        facts = facts_of(grown)
        doc_id = str(facts["doc_id"])
        self._clear(doc_id, grown.path)
        audience = self._audience(json.loads(str(facts["access"])))
        leaves = len(grown.tree.leaves)
        sql = (
            "INSERT INTO anabranch.documents (corpus, doc_id, path_key, path, source, key, title, digest, metadata, "
            "audience, tokens, leaves, pages) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) "
            "RETURNING number"
        )
        names = ("path", "source", "key", "title", "digest", "metadata")
        (number,) = self.one(
            sql, doc_id, text_key(grown.path), *(facts[name] for name in names), audience, facts["tokens"], leaves,
            facts["pages"],
        )  # fmt: skip
        rows = rows_of(doc_id, grown)
        with self.connection.cursor() as cursor, cursor.copy("COPY anabranch.chunks FROM STDIN") as copy:
            for chunk_id, _, *others, _ in rows:
                copy.write_row((self.corpus, chunk_id, number, *others))
        self._add_leaves(number, audience, [(row[0], row[-1]) for row in rows if row[-1] is not None])

    def _clear(self, doc_id: str, path: str) -> None:  # noqa: ARG002  # with other writers, it tells whose it may be
        """Remove the edition that a document replaces."""
        self._remove("doc_id = %s", doc_id)

    def _add_leaves(self, number: int, audience: int, leaves: Sequence[tuple[str, str]]) -> None:
        """Give each leaf its vector, that of a leaf with the same words or one that waits; found once published."""
        sql = (
            "INSERT INTO anabranch.leaves (corpus, chunk_id, document, audience, born, vector_key, vector) "
            "SELECT %(corpus)s, a.chunk_id, %(number)s, %(audience)s, c.generation + 1, a.vector_key, coalesce("
            "(SELECT v.vector FROM anabranch.vectors v WHERE v.corpus = %(corpus)s AND v.vector_key = a.vector_key AND "
            "v.embedder = (SELECT value FROM anabranch.meta m WHERE m.corpus = %(corpus)s AND m.name = 'embedder')), "
            "(SELECT l.vector FROM anabranch.leaves l WHERE l.corpus = %(corpus)s AND l.vector_key = a.vector_key "
            "LIMIT 1)) FROM unnest(%(ids)s::text[], %(keys)s::text[]) WITH ORDINALITY "
            "AS a(chunk_id, vector_key, place) CROSS JOIN anabranch.corpora c WHERE c.id = %(corpus)s ORDER BY a.place"
        )
        ids, keys = [chunk_id for chunk_id, _ in leaves], [key for _, key in leaves]
        known = {"corpus": self.corpus, "number": number, "audience": audience, "ids": ids, "keys": keys}
        self.connection.execute(sql, known)

    def _audience(self, tags: Sequence[str]) -> int:
        """Return the number of a set of tags."""
        # Not by an update: until the end of the transaction, all other writers would wait for that row.
        sql = "INSERT INTO anabranch.audiences (corpus, tags) VALUES (%s, %s::text[]) ON CONFLICT DO NOTHING"
        self.connection.execute(sql, (self.corpus, list(tags)))
        return int(
            self.one("SELECT id FROM anabranch.audiences WHERE corpus = %s AND tags = %s::text[]", list(tags))[0]
        )

    def _finish(self, record: FileRecord) -> int:
        key = text_key(record.path)
        sql = (
            "INSERT INTO anabranch.files (corpus, path_key, path, source, sha256, access, stamp) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (corpus, path_key) "
            "DO UPDATE SET source = excluded.source, sha256 = excluded.sha256, access = excluded.access, "
            "stamp = excluded.stamp"
        )
        values = (key, record.path, record.source, record.sha256, list(record.access), record.stamp)
        self.connection.execute(sql, (self.corpus, *values))
        gone = 0
        if record.complete:
            seen = "SELECT s.doc_id FROM seen s WHERE s.path_key = %s"
            gone = self._remove(f"path_key = %s AND doc_id NOT IN ({seen})", key, key)  # a constant
        # What was seen of a finished file is forgotten: of a folder with a million files the table would only grow.
        self.connection.execute("DELETE FROM seen WHERE path_key = %s", (key,))
        return gone

    def named(self, source: str) -> list[str]:
        """Return the ids of the documents that a source, that of a file, or a shell pattern names."""
        tests = (Clause("d.source = %s", (source,)), Clause("f.source = %s", (source,)), _matching(source))
        for test in tests if storable_of([source]) else ():
            sql = (
                "SELECT d.doc_id FROM anabranch.documents d LEFT JOIN anabranch.files f "  # noqa: S608
                f"ON f.corpus = d.corpus AND f.path_key = d.path_key WHERE d.corpus = %s AND {test.sql}"
            )
            if found := self.connection.execute(sql, (self.corpus, *test.parameters)).fetchall():
                return [doc_id for (doc_id,) in found]
        return []

    def remove_documents(self, doc_ids: Sequence[str]) -> int:
        """Remove documents; a file that loses one is read again by the next run that meets it."""
        known = list(doc_ids)
        # Without a hash it counts as changed: otherwise the next run would take it for unchanged, and what was removed
        # by mistake would never come back from it.
        unread = (
            "UPDATE anabranch.files SET sha256 = '', stamp = '' WHERE corpus = %(corpus)s AND path_key IN "
            "(SELECT path_key FROM anabranch.documents WHERE corpus = %(corpus)s AND doc_id = ANY(%(ids)s))"
        )
        with self.transaction():
            self.connection.execute(unread, {"corpus": self.corpus, "ids": known})
            removed = self._remove("doc_id = ANY(%s)", known)
            self._count_change()
        return removed

    def remove_file(self, path: str) -> int:
        """Remove a file and its documents; return how many those were."""
        with self.transaction():
            removed = self._remove("path_key = %s", text_key(path))
            sql = "DELETE FROM anabranch.files WHERE corpus = %s AND path_key = %s"
            self.connection.execute(sql, (self.corpus, text_key(path)))
            self._count_change()
        return removed

    def _remove(self, which: LiteralString, *parameters: str | list[str]) -> int:
        """Remove documents: their words count no more from now on, and their vectors wait for who has them next."""
        sql = f"SELECT number FROM anabranch.documents WHERE corpus = %s AND {which}"  # noqa: S608  # ours
        numbers = [number for (number,) in self.connection.execute(sql, (self.corpus, *parameters))]
        if numbers:
            self.uncount(numbers)
            kept = (
                "INSERT INTO anabranch.vectors SELECT l.corpus, l.vector_key, m.value, l.vector "
                "FROM anabranch.leaves l JOIN anabranch.meta m ON m.corpus = l.corpus AND m.name = 'embedder' "
                "WHERE l.corpus = %s AND l.document = ANY(%s) ON CONFLICT DO NOTHING"
            )
            self.connection.execute(kept, (self.corpus, numbers))
            # Their chunks and leaves go with them.
            gone = "DELETE FROM anabranch.documents WHERE corpus = %s AND number = ANY(%s)"
            self.connection.execute(gone, (self.corpus, numbers))
        return len(numbers)

    def uncount(self, numbers: Sequence[int]) -> None:
        """Take documents, by their numbers, out of the counts of words before they are removed."""
        uncounted(self.connection, self.corpus, numbers)

    def publish(self, *, quick: bool = False, progress: Callable[[int, int], None] | None = None) -> None:
        """Have searches find what was written."""
        # Forgetting waits for the next run: somebody has pressed Ctrl-C and wants to go.
        publish(self.connection, self.corpus, settled_language(self), progress)
        if not quick:
            forget_unused(self.connection, self.corpus)


def _matching(pattern: str) -> Clause:
    """Return the condition that the source of a document `d` matches a shell pattern, nothing where that is none."""
    try:
        return postgres_clause({"source": {"glob": pattern}})
    except SettingsError:
        return Clause("false")
