"""All of a corpus in PostgreSQL at one moment."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any, LiteralString

from psycopg import Connection

from anabranch.store.corpus_snapshot import FileEntry, Finding, Listed, Overview
from anabranch.store.records import document_checksum, embedded_text, text_key
from anabranch.store.stored_document import (
    ExaminedDocument,
    StoredChunk,
    StoredDocument,
    find_fault,
    is_vector,
    sort_chunks,
)
from anabranch.store.writer_protocol import FileRecord, Progress, Summary
from anabranch_postgres.connection_pool import explain_failures
from anabranch_postgres.postgres_verify import findings_of

PAGE = 500
"""Rows of documents and files to read at once."""

# JSON as text, so that it is checked as in a folder. Lost tags become "null", which is an error: an empty list would
# make the document public.
_DOCUMENT = (
    "SELECT d.number, 0, d.doc_id, d.path, d.source, d.key, d.title, d.digest, d.metadata::text, a.tags, d.tokens, "
    "d.pages::text, d.checksum FROM anabranch.documents d LEFT JOIN anabranch.audiences a ON a.corpus = d.corpus "
    "AND a.id = d.audience WHERE d.corpus = %(corpus)s"
)


class PostgresSnapshot:
    """A read transaction on the rows of a corpus, implementing `CorpusSnapshot`; see `PostgresStore.snapshot`."""

    def __init__(self, connection: Connection[Any], corpus: int, address: str) -> None:
        """Take a connection in a transaction, the number of the corpus, and its address without a password."""
        self.address = address
        self.corpus = corpus
        self._connection = connection
        self._dimension: int | None = None
        self._cursors = itertools.count()

    def rows(self, sql: LiteralString, **parameters: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401  # of any type
        """Return the rows of a statement; its parameter `corpus` is this one."""
        # Explained here, because a copy to another database would otherwise blame that one.
        with explain_failures(self.address):
            return self._connection.execute(sql, {"corpus": self.corpus, **parameters}, binary=True).fetchall()

    def _stream(self, sql: LiteralString, **parameters: Any) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401
        """Yield the rows of a statement, of which there may be millions, from a cursor on the server."""
        name = f"rows_{next(self._cursors)}"
        with explain_failures(self.address), self._connection.cursor(name) as cursor:
            cursor.itersize = PAGE
            yield from cursor.execute(sql, {"corpus": self.corpus, **parameters}, binary=True)

    def facts(self) -> dict[str, str]:
        """Return the facts about the corpus."""
        return dict(self.rows("SELECT name, value FROM anabranch.meta WHERE corpus = %(corpus)s"))

    def overview(self) -> Overview:
        """Count what is in it."""
        ((generation, changes, published, dimension),) = self.rows(
            "SELECT generation, changes, published, dimension FROM anabranch.corpora WHERE id = %(corpus)s"
        )
        ((documents, leaves, tokens),) = self.rows(
            "SELECT count(*), coalesce(sum(leaves), 0)::bigint, coalesce(sum(tokens), 0)::bigint "
            "FROM anabranch.documents WHERE corpus = %(corpus)s"
        )
        ((chunks,),) = self.rows("SELECT count(*) FROM anabranch.chunks WHERE corpus = %(corpus)s")
        ((size_of_all,),) = self.rows(
            "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class "
            "WHERE relnamespace = 'anabranch'::regnamespace AND relkind = 'r'"
        )
        return Overview(
            path=self.address, generation=generation, documents=documents, chunks=chunks, leaves=leaves, tokens=tokens,
            embedder=self.facts().get("embedder", ""), dimension=dimension, bytes=size_of_all,
            is_current=changes == published, advice="The next ingest publishes them.",
        )  # fmt: skip

    def listed(self, most: int | None) -> Iterator[Listed]:
        """Yield its documents by source."""
        sql = (
            "SELECT d.source, d.title, d.key, coalesce(a.tags, '{}'), d.tokens, (SELECT count(*) FROM anabranch.chunks "
            "c WHERE c.corpus = d.corpus AND c.document = d.number) FROM anabranch.documents d "
            "LEFT JOIN anabranch.audiences a ON a.corpus = d.corpus AND a.id = d.audience "
            'WHERE d.corpus = %(corpus)s ORDER BY d.source COLLATE "C" LIMIT %(most)s'
        )
        for row in self._stream(sql, most=most):
            yield Listed(*row)

    def dimension(self) -> int:
        """Return the length that most of its vectors have."""
        if self._dimension is None:
            sql = (
                "SELECT vector_dims(vector) FROM anabranch.leaves WHERE corpus = %(corpus)s "
                "GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"
            )
            found = self.rows(sql)
            self._dimension = int(found[0][0]) if found else 0
        return self._dimension

    def count(self) -> int | None:
        """Return how many documents it has."""
        return int(self.rows("SELECT count(*) FROM anabranch.documents WHERE corpus = %(corpus)s")[0][0])

    def documents(self) -> Iterator[ExaminedDocument]:
        """Yield each document in the order that they came in."""
        for row in self._stream(f"{_DOCUMENT} ORDER BY d.number"):
            yield self._examine(row)

    def document(self, doc_id: str) -> ExaminedDocument | None:
        """Return one document."""
        rows = self.rows(f"{_DOCUMENT} AND d.doc_id = %(doc_id)s", doc_id=doc_id)
        return self._examine(rows[0]) if rows else None

    def _examine(self, row: tuple[Any, ...]) -> ExaminedDocument:
        *before, tags, tokens, pages, checksum = row
        document = StoredDocument._make([*before, json.dumps(tags), tokens, pages, checksum])
        sql = (
            'SELECT c.chunk_id, c.parent_id, c.level, c.position, c.start, c."end", c.page, c.page_end, c.heading, '
            "c.tokens, c.text, l.vector_key FROM anabranch.chunks c LEFT JOIN anabranch.leaves l "
            "ON l.corpus = c.corpus AND l.chunk_id = c.chunk_id WHERE c.corpus = %(corpus)s AND c.document = %(number)s"
        )
        chunks = sort_chunks(self._chunk(document, found) for found in self.rows(sql, number=document.number))
        if checksum is None:
            document = document._replace(checksum=document_checksum(document._asdict(), chunks))
        return ExaminedDocument(document.number, document, chunks, find_fault(document, chunks))

    def _chunk(self, document: StoredDocument, row: tuple[Any, ...]) -> StoredChunk:
        chunk_id, *others, text, key = row
        # A leaf without its row for searches still has its text; `vectors` reports the missing vector.
        if key is None and text is not None:
            key = text_key(embedded_text(document.title, row[8], text))
        return StoredChunk._make([chunk_id, document.doc_id, *others, text, key])

    def vectors(self, document: ExaminedDocument) -> list[bytes | None]:
        """Return the vector of each leaf."""
        sql = "SELECT chunk_id, vector FROM anabranch.leaves WHERE corpus = %(corpus)s AND document = %(number)s"
        found = {
            name: vector.to_numpy().astype("<f4").tobytes() for name, vector in self.rows(sql, number=document.number)
        }
        leaves = [found.get(chunk.chunk_id) for chunk in document.chunks if chunk.level == 2]
        return [vector if is_vector(vector, self.dimension()) else None for vector in leaves]

    def files(self) -> Iterator[FileEntry]:
        """Yield the record of each file."""
        sql = (
            "SELECT f.path, f.source, f.sha256, f.access, f.stamp, (SELECT count(*) FROM anabranch.documents d "
            "WHERE d.corpus = f.corpus AND d.path_key = f.path_key) FROM anabranch.files f "
            "WHERE f.corpus = %(corpus)s ORDER BY f.path_key"
        )
        for path, source, digest, access, stamp, documents in self._stream(sql):
            yield FileEntry(FileRecord(path, source, digest, tuple(access), stamp=stamp), documents)

    def summaries(self) -> Iterator[Summary]:
        """Yield what a chat model wrote of documents."""
        sql = (
            "SELECT doc_id, digest, summary FROM anabranch.documents "
            "WHERE corpus = %(corpus)s AND summary <> '' ORDER BY doc_id COLLATE \"C\""
        )
        yield from (Summary(*row) for row in self._stream(sql))

    def findings(self, progress: Progress) -> Iterator[Finding]:
        """Yield what is wrong with it."""
        yield from findings_of(self, progress)
