"""Writes to a corpus in PostgreSQL; one writer at a time holds its lock."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import numpy as np
from psycopg import Connection, DataError, Error, IntegrityError

from anabranch.models.embedder import Vectors
from anabranch.readers.faults import describe_fault
from anabranch.store.corpus_language import resolve_language
from anabranch.store.records import Grown, facts_of, rows_of, text_key
from anabranch.store.writer_protocol import FileRecord, WriteResult
from anabranch_postgres.packed_arrays import Integers, VectorRows, register_arrays
from anabranch_postgres.postgres_index import forget_unused, publish, uncount_words
from anabranch_postgres.postgres_summaries import PostgresSummaries

# Remove documents, their own rows last.
_GONE: tuple[LiteralString, ...] = (
    "DELETE FROM anabranch.leaves WHERE corpus = %s AND document = ANY(%s)",
    "DELETE FROM anabranch.chunks WHERE corpus = %s AND document = ANY(%s)",
    "DELETE FROM anabranch.documents WHERE corpus = %s AND number = ANY(%s)",
)


class PostgresWriter(PostgresSummaries):
    """Writes to a corpus, implementing `SummaryWriter`; made by `PostgresStore.writer`, which holds the lock."""

    def __init__(self, connection: Connection[Any], corpus: int) -> None:
        """Take a connection for this writer alone, and the number of the corpus."""
        super().__init__(connection, corpus)
        register_arrays(connection)
        # A temporary table, because it holds every document of a run.
        columns = "path_key text, doc_id text, PRIMARY KEY (path_key, doc_id)"
        connection.execute(f"CREATE TEMP TABLE seen ({columns})")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all of it or nothing."""
        with self.connection.transaction():
            yield

    def _count_change(self) -> None:
        """Count a change at the end of its transaction, because other writers wait for this row until it ends."""
        self.connection.execute("UPDATE anabranch.corpora SET changes = changes + 1 WHERE id = %s", (self.corpus,))

    def keep_meta(self, facts: Mapping[str, str]) -> None:
        """Keep facts about the corpus, all of them or none."""
        sql = (
            "INSERT INTO anabranch.meta VALUES (%s, %s, %s) "
            "ON CONFLICT (corpus, name) DO UPDATE SET value = excluded.value"
        )
        with self.transaction(), self.connection.cursor() as cursor:
            cursor.executemany(sql, [(self.corpus, name, value) for name, value in facts.items()])

    def see(self, path: str, doc_id: str) -> bool:
        """Note that a file holds a document; False if that was noted in this run before."""
        sql = "INSERT INTO seen VALUES (%s, %s) ON CONFLICT DO NOTHING"
        return self.connection.execute(sql, (text_key(path), doc_id)).rowcount == 1

    def add_vectors(self, keys: Sequence[str], vectors: Vectors, embedder: str) -> None:
        """Keep vectors; they count for nothing until a leaf names them."""
        # Sorted, or two writers could wait for each other's keys for ever.
        order = sorted(range(len(keys)), key=keys.__getitem__)
        rows = VectorRows(np.asarray(vectors)[order])
        # Two documents with the same text come to the same key, whichever is first.
        sql = (
            "INSERT INTO anabranch.vectors SELECT %s, a.key, %s, a.vector "
            "FROM unnest(%s::text[], %s) AS a(key, vector) ON CONFLICT DO NOTHING"
        )
        with self.transaction():
            self.connection.execute(sql, (self.corpus, embedder, [keys[place] for place in order], rows))

    def write(self, batch: Sequence[Grown], files: Sequence[FileRecord]) -> WriteResult:
        """Replace documents, and record the files that are finished by them, all in one transaction."""
        with self.transaction():
            written = WriteResult({}, self._put(batch))
            partly = {grown.path for grown, _ in written.refused}
            written.removed.update(self._finish([each.unread() if each.path in partly else each for each in files]))
            if batch or any(written.removed.values()):
                self._count_change()
        return written

    def _put(self, batch: Sequence[Grown]) -> list[tuple[Grown, str]]:
        """Store documents; return those that were rejected for their content, which are left unchanged."""
        if len({grown.document.source for grown in batch}) == len(batch):
            try:
                # A savepoint: one document with an invalid character must not cost the others.
                with self.transaction():
                    self._replace(batch)
            except Exception as error:
                # Others of the database and its driver are about the server, and no document's.
                if isinstance(error, Error) and not isinstance(error, DataError | IntegrityError):
                    raise
                if len(batch) == 1:
                    return [(batch[0], self._refusal(batch[0], error))]
            else:
                return []
        return [refused for grown in batch for refused in self._put([grown])]

    def _refusal(self, grown: Grown, error: Exception) -> str:  # noqa: ARG002  # the queue's writer reports the file
        """Return why a document is not taken."""
        return f"it cannot be stored: {describe_fault(error)}"

    def _replace(self, batch: Sequence[Grown]) -> None:
        """Write documents of different names with few statements, because each waits for the database once."""
        trees = [rows_of(grown) for grown in batch]
        known = [facts_of(grown, chunks) for grown, chunks in zip(batch, trees, strict=True)]
        doc_ids = [str(facts["doc_id"]) for facts in known]
        self._clear(doc_ids, [grown.path for grown in batch])
        audiences = {text: self._audience(json.loads(text)) for text in {str(facts["access"]) for facts in known}}
        numbers = self._add_documents(batch, known, [audiences[str(facts["access"])] for facts in known])
        leaves: list[tuple[str, int, int, str]] = []
        with self.connection.cursor() as cursor, cursor.copy("COPY anabranch.chunks FROM STDIN") as copy:
            for doc_id, facts, chunks in zip(doc_ids, known, trees, strict=True):
                number, audience = numbers[doc_id], audiences[str(facts["access"])]
                for chunk_id, _, *others, vector_key in chunks:
                    copy.write_row((self.corpus, chunk_id, number, *others))
                    if vector_key is not None:
                        leaves.append((chunk_id, number, audience, vector_key))
        self._add_leaves(leaves)

    def _clear(self, doc_ids: list[str], paths: Sequence[str]) -> None:  # noqa: ARG002  # the queue's writer uses them
        """Remove the editions that documents replace."""
        self._remove("doc_id = ANY(%s)", doc_ids)

    def _add_documents(
        self, batch: Sequence[Grown], known: Sequence[Mapping[str, Any]], audiences: list[int]
    ) -> dict[str, int]:
        """Return the new number of each document by its id."""
        sql = (
            "INSERT INTO anabranch.documents (corpus, doc_id, path_key, path, source, key, title, digest, metadata, "
            "audience, tokens, leaves, pages, checksum) SELECT %s, a.* FROM unnest(%s::text[], %s::text[], %s::text[], "
            "%s::text[], %s::text[], %s::text[], %s::text[], %s::jsonb[], %s::int[], %s::int[], %s::int[], "
            "%s::jsonb[], %s::text[]) a RETURNING doc_id, number"
        )
        names = ("path", "source", "key", "title", "digest", "metadata")
        columns = [[facts[name] for facts in known] for name in names]
        rows = self.connection.execute(
            sql,
            (
                self.corpus, [facts["doc_id"] for facts in known], [text_key(grown.path) for grown in batch], *columns,
                audiences, [facts["tokens"] for facts in known], [len(grown.tree.leaves) for grown in batch],
                [facts["pages"] for facts in known], [facts["checksum"] for facts in known],
            ),
        )  # fmt: skip
        return {doc_id: int(number) for doc_id, number in rows}

    def _add_leaves(self, leaves: Sequence[tuple[str, int, int, str]]) -> None:
        """Add leaves with their vectors, from a leaf with the same text or from `vectors`.

        Args:
            leaves: Id, number of the document, its audience, and key of the vector.
        """
        sql = (
            "INSERT INTO anabranch.leaves (corpus, chunk_id, document, audience, born, vector_key, vector) "
            "SELECT %(corpus)s, a.chunk_id, a.document, a.audience, "
            "(SELECT c.generation + 1 FROM anabranch.corpora c WHERE c.id = %(corpus)s), a.vector_key, coalesce("
            "(SELECT v.vector FROM anabranch.vectors v WHERE v.corpus = %(corpus)s AND v.vector_key = a.vector_key AND "
            "v.embedder = (SELECT value FROM anabranch.meta m WHERE m.corpus = %(corpus)s AND m.name = 'embedder')), "
            "(SELECT l.vector FROM anabranch.leaves l WHERE l.corpus = %(corpus)s AND l.vector_key = a.vector_key "
            "LIMIT 1)) FROM unnest(%(chunks)s::text[], %(documents)s, %(audiences)s, %(keys)s::text[]) "
            "WITH ORDINALITY AS a(chunk_id, document, audience, vector_key, place) ORDER BY a.place"
        )
        if leaves:
            chunks, documents, audiences, keys = zip(*leaves, strict=True)
            known = {"documents": Integers(np.array(documents)), "audiences": Integers(np.array(audiences))}
            self.connection.execute(sql, {"corpus": self.corpus, "chunks": list(chunks), "keys": list(keys), **known})

    def _audience(self, tags: Sequence[str]) -> int:
        """Return the number of a set of tags."""
        # Insert, never update: other writers would wait for that row until the end of the transaction.
        sql = "INSERT INTO anabranch.audiences (corpus, tags) VALUES (%s, %s::text[]) ON CONFLICT DO NOTHING"
        self.connection.execute(sql, (self.corpus, list(tags)))
        return int(
            self.one("SELECT id FROM anabranch.audiences WHERE corpus = %s AND tags = %s::text[]", list(tags))[0]
        )

    def _finish(self, files: Sequence[FileRecord]) -> dict[str, int]:
        """Record ingested files; return how many documents were removed from each, by its path."""
        records = {text_key(record.path): record for record in files}
        if not records:
            return {}
        keys, columns = list(records), zip(*records.values(), strict=True)
        path, source, digest, access, _, stamp = map(list, columns)
        sql = (
            "INSERT INTO anabranch.files (corpus, path_key, path, source, sha256, access, stamp) "
            "SELECT %s, a.key, a.path, a.source, a.sha256, ARRAY(SELECT jsonb_array_elements_text(a.access)), a.stamp "
            "FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::jsonb[], %s::text[]) "
            "AS a(key, path, source, sha256, access, stamp) ORDER BY a.key ON CONFLICT (corpus, path_key) "
            "DO UPDATE SET source = excluded.source, sha256 = excluded.sha256, access = excluded.access, "
            "stamp = excluded.stamp"
        )
        tags = [json.dumps(each) for each in access]
        self.connection.execute(sql, (self.corpus, keys, path, source, digest, tags, stamp))
        complete = [key for key, record in records.items() if record.complete]
        seen = "SELECT 1 FROM seen s WHERE s.path_key = d.path_key AND s.doc_id = d.doc_id"
        gone = self._remove(f"path_key = ANY(%s) AND NOT EXISTS ({seen})", complete)  # a constant
        # Drop what was noted for a finished file, or the table grows with every file of a large folder.
        self.connection.execute("DELETE FROM seen WHERE path_key = ANY(%s)", (keys,))
        return {record.path: gone[key] for key, record in records.items()}

    def remove_documents(self, doc_ids: Sequence[str]) -> int:
        """Remove documents; a file that loses one is read again by the next run that meets it."""
        known = list(doc_ids)
        # Without a hash the file counts as changed; otherwise a document removed by mistake would never come back.
        unread = (
            "UPDATE anabranch.files SET sha256 = '', stamp = '' WHERE corpus = %(corpus)s AND path_key IN "
            "(SELECT path_key FROM anabranch.documents WHERE corpus = %(corpus)s AND doc_id = ANY(%(ids)s))"
        )
        with self.transaction():
            self.connection.execute(unread, {"corpus": self.corpus, "ids": known})
            removed = self._remove("doc_id = ANY(%s)", known).total()
            self._count_change()
        return removed

    def remove_file(self, path: str) -> int:
        """Remove a file and its documents; return how many those were."""
        with self.transaction():
            removed = self._remove("path_key = %s", text_key(path)).total()
            sql = "DELETE FROM anabranch.files WHERE corpus = %s AND path_key = %s"
            self.connection.execute(sql, (self.corpus, text_key(path)))
            self._count_change()
        return removed

    def _remove(self, which: LiteralString, *parameters: str | list[str]) -> Counter[str]:
        """Remove documents; return how many of each file, by the key of its path.

        Their words no longer count, and their vectors are kept for reuse.
        """
        sql = f"SELECT d.number, d.path_key FROM anabranch.documents d WHERE d.corpus = %s AND {which}"  # noqa: S608  # ours
        found = self.connection.execute(sql, (self.corpus, *parameters)).fetchall()
        numbers = [number for number, _ in found]
        if numbers:
            self.uncount(numbers)
            kept = (
                "INSERT INTO anabranch.vectors SELECT l.corpus, l.vector_key, m.value, l.vector "
                "FROM anabranch.leaves l JOIN anabranch.meta m ON m.corpus = l.corpus AND m.name = 'embedder' "
                "WHERE l.corpus = %s AND l.document = ANY(%s) ON CONFLICT DO NOTHING"
            )
            self.connection.execute(kept, (self.corpus, numbers))
            for gone in _GONE:
                self.connection.execute(gone, (self.corpus, numbers))
        return Counter(key for _, key in found)

    def uncount(self, numbers: Sequence[int]) -> None:
        """Subtract documents, given by number, from the counts of words before they are removed."""
        uncount_words(self.connection, self.corpus, numbers)

    def publish(self, *, quick: bool = False, progress: Callable[[int, int], None] | None = None) -> None:
        """Make writes visible to searches."""
        # After Ctrl-C, cleaning waits for the next run.
        publish(self.connection, self.corpus, resolve_language(self), progress)
        if not quick:
            forget_unused(self.connection, self.corpus)
