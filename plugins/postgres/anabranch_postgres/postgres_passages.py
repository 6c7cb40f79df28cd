"""Reads the passages and documents of a corpus in PostgreSQL by their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

from anabranch.errors import CorpusDamagedError
from anabranch.readers.document import Chunk
from anabranch.store.protocol import LOOKED_AT, MAX_METADATA, Original, Outline, Place, Scope
from anabranch.store.records import digest_of, summary_of
from anabranch_postgres.connection_pool import Database
from anabranch_postgres.postgres_filters import Clause, postgres_clause
from anabranch_postgres.postgres_search import PostgresSearch, filter_storable
from anabranch_postgres.read_transaction import SqlStatement, run_statements

Rows = list[tuple[Any, ...]]


class PostgresPassages:
    """The methods of a reader that do not rank."""

    def __init__(self, database: Database, number: int, generation: int) -> None:
        """Take the database, the number of the corpus and the generation to read."""
        self.database = database
        self.generation = generation
        self.number = number
        self._search = PostgresSearch(number, generation)

    async def _ask(self, access: Sequence[str], *statements: SqlStatement | Clause) -> list[Rows]:
        """Return the rows of each statement for a caller with these tags."""
        asked = [SqlStatement(*each) for each in statements]
        return await self.database.run(lambda lent: run_statements(lent, self.number, filter_storable(access), asked))

    async def chunks(self, ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
        """Return chunks with their text, in the order asked for.

        Raises:
            CorpusDamagedError: The text of one is not what was written.
        """
        # A parent stores no text: the leaves in its span have it.
        sql = (
            "SELECT c.chunk_id, d.doc_id, d.key, d.source, d.title, c.heading, c.page, c.page_end, c.level, "
            "c.parent_id, c.start, c.\"end\", coalesce(c.text, (SELECT string_agg(l.text, '' ORDER BY l.start) FROM "
            "anabranch.chunks l WHERE l.corpus = c.corpus AND l.document = c.document AND l.level = 2 "
            'AND l.start >= c.start AND l.start < c."end")), c.tokens, c.position '
            "FROM anabranch.chunks c JOIN anabranch.documents d ON d.corpus = c.corpus AND d.number = c.document "
            "WHERE c.corpus = %s AND c.chunk_id = ANY(%s)"
        )
        found: dict[str, Chunk] = {}
        for *row, position in await self._query_documents(sql, (filter_storable(ids),), scope):
            chunk = Chunk(*row)
            if chunk.chunk_id != digest_of(chunk.doc_id, f"{chunk.level}/{position}", chunk.text):
                raise CorpusDamagedError(
                    f"A passage of {chunk.source!r} is not what was written.", hint="Ingest the document again."
                )
            found[chunk.chunk_id] = chunk
        return {chunk_id: found[chunk_id] for chunk_id in ids if chunk_id in found}

    async def children(self, ids: Sequence[str], scope: Scope) -> dict[str, list[str]]:
        """Return each chunk's ids one level down in document order."""
        sql = (
            "SELECT c.parent_id, c.chunk_id FROM anabranch.chunks c "
            "JOIN anabranch.documents d ON d.corpus = c.corpus AND d.number = c.document "
            "WHERE c.corpus = %s AND c.parent_id = ANY(%s)"
        )
        result: dict[str, list[str]] = {}
        end = " ORDER BY c.parent_id, c.position"
        for parent, child in await self._query_documents(sql, (filter_storable(ids),), scope, end):
            result.setdefault(parent, []).append(child)
        return {chunk_id: result[chunk_id] for chunk_id in ids if chunk_id in result}

    async def outlines(self, scope: Scope, most: int) -> list[Outline]:
        """Return the documents of a scope at a glance, by source; no more than `most`."""
        sql = (
            "SELECT d.doc_id, d.title, d.metadata -> 'summary', d.summary, d.leaves FROM anabranch.documents d "
            "WHERE d.corpus = %s"
        )
        # By code point, as Python sorts.
        end = ' ORDER BY d.source COLLATE "C" LIMIT %s'
        rows = await self._query_documents(sql, (), scope, end, (most,))
        return [
            Outline(doc_id, title, summary_of(own) or summary_of(kept), leaves)
            for doc_id, title, own, kept, leaves in rows
        ]

    async def sample_metadata(self, scope: Scope, most: int) -> list[dict[str, Any]]:
        """Return the metadata of documents in scope, with their titles; at most `most` of them."""
        # An id is a hash, so their order is random.
        sql = (
            "SELECT d.metadata, d.title FROM (SELECT * FROM anabranch.documents "
            "WHERE corpus = %s ORDER BY doc_id LIMIT %s) d WHERE length(d.metadata::text) <= %s"
        )
        looked_at = (LOOKED_AT * most, MAX_METADATA)
        rows = await self._query_documents(sql, looked_at, scope, " ORDER BY d.doc_id LIMIT %s", (most,))
        return [{**metadata, "title": title} for metadata, title in rows]

    async def leaves(self, doc_ids: Sequence[str], scope: Scope, most: int) -> dict[str, list[str]]:
        """Return the ids of the first `most` leaves of each document in its order."""
        sql = (
            "SELECT d.doc_id, l.chunk_id FROM anabranch.documents d CROSS JOIN LATERAL (SELECT c.chunk_id, c.start "
            "FROM anabranch.chunks c WHERE c.corpus = d.corpus AND c.document = d.number AND c.level = 2 "
            "ORDER BY c.start LIMIT %s) l WHERE d.corpus = %s AND d.doc_id = ANY(%s)"
        )
        clause = self._visible(scope)
        parameters = (most, self.number, filter_storable(doc_ids), *clause.parameters)
        (rows,) = await self._ask(scope.access, SqlStatement(f"{sql} AND {clause.sql} ORDER BY l.start", parameters))
        result: dict[str, list[str]] = {}
        for doc_id, chunk_id in rows:
            result.setdefault(doc_id, []).append(chunk_id)
        return {doc_id: result[doc_id] for doc_id in dict.fromkeys(doc_ids) if doc_id in result}

    async def originals(self, doc_ids: Sequence[str], scope: Scope) -> dict[str, Original]:
        """Return the file of each document, in the order asked for."""
        sql = (
            "SELECT d.doc_id, d.source, d.title, d.path, coalesce(f.sha256, ''), d.pages, "
            "coalesce(f.source, d.source), a.tags FROM anabranch.documents d "
            "JOIN anabranch.audiences a ON a.corpus = d.corpus AND a.id = d.audience "
            "LEFT JOIN anabranch.files f ON f.corpus = d.corpus AND f.path_key = d.path_key "
            "WHERE d.corpus = %s AND d.doc_id = ANY(%s)"
        )
        found = {
            doc_id: Original(
                source, title, path, sha256, max((page for _, page in pages), default=0), file, tuple(access)
            )
            for doc_id, source, title, path, sha256, pages, file, access in await self._query_documents(
                sql, (filter_storable(doc_ids),), scope
            )
        }
        return {doc_id: found[doc_id] for doc_id in doc_ids if doc_id in found}

    async def places(self, spots: Sequence[tuple[str, int]], scope: Scope) -> list[Place]:
        """Return where each spot is, a document id and a character of its text."""
        sql = (
            "SELECT c.heading, d.pages, d.path FROM anabranch.documents d JOIN anabranch.chunks c "
            "ON c.corpus = d.corpus AND c.document = d.number "
            "WHERE d.corpus = %s AND d.doc_id = ANY(%s) AND c.level = 2 AND c.start <= %s"
        )
        clause, end = self._visible(scope), " ORDER BY c.start DESC LIMIT 1"
        asked = [
            SqlStatement(
                f"{sql} AND {clause.sql}{end}", (self.number, filter_storable([doc_id]), position, *clause.parameters)
            )
            for doc_id, position in spots
        ]
        places = []
        for (_, position), rows in zip(spots, await self._ask(scope.access, *asked), strict=True):
            heading, pages, path = rows[0] if rows else ("", [], "")
            before = [page for start, page in pages if start <= position]
            places.append(Place(before[-1] if before else None, heading, path))
        return places

    async def _query_documents(
        self, sql: LiteralString, parameters: tuple[Any, ...], scope: Scope, end: LiteralString = "",
        last: tuple[Any, ...] = (),
    ) -> Rows:  # fmt: skip
        """Return the rows of a statement over the documents `d` of this corpus that are in scope."""
        clause = self._visible(scope)
        values = (self.number, *parameters, *clause.parameters, *last)
        (rows,) = await self._ask(scope.access, SqlStatement(f"{sql} AND {clause.sql}{end}", values))
        return rows

    def _visible(self, scope: Scope) -> Clause:
        audience = self._search.audiences(scope.access)
        narrowed = postgres_clause(scope.filters)
        # Filters are joined to access by AND, so they can never widen it.
        return Clause(
            f"d.audience = ANY({audience.sql}) AND {narrowed.sql}", (*audience.parameters, *narrowed.parameters)
        )
