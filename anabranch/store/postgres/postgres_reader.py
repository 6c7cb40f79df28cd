"""Reads a corpus in PostgreSQL: one published generation of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any, Concatenate, LiteralString, ParamSpec, TypeVar

from psycopg import Connection

from anabranch.errors import CorpusDamagedError
from anabranch.models.embedder import Embedder
from anabranch.readers.document import Chunk
from anabranch.store.postgres.connection_pool import Database
from anabranch.store.postgres.postgres_filters import Clause, postgres_clause
from anabranch.store.postgres.postgres_search import PostgresSearch, QueryBatch, ranked, storable_of
from anabranch.store.protocol import Arm, CorpusInfo, Original, Outline, Place, RankedList, Scope
from anabranch.store.query_vectors import QueryVectors
from anabranch.store.records import digest_of, summary_of
from anabranch.text.analyzer import Analyser

P = ParamSpec("P")
T = TypeVar("T")


def _lent(
    work: Callable[Concatenate[PostgresReader, Connection[Any], P], T],
) -> Callable[Concatenate[PostgresReader, P], Coroutine[Any, Any, T]]:
    """Have a method work on a lent connection, in a thread, for whoever awaits it."""

    @wraps(work)
    async def awaited(self: PostgresReader, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.database.run(lambda connection: work(self, connection, *args, **kwargs))

    return awaited  # type: ignore[return-value]  # mypy tells a wrapped method from a callable


class PostgresReader:
    """A published generation, implementing `CorpusReader` and all that is optional; see `open_corpus`."""

    def __init__(  # what the row of the corpus says
        self, database: Database, shown: str, number: int, generation: int, embedder: Embedder, words: Analyser
    ) -> None:
        """Take the row of the corpus, its embedder and the analyser that its words were indexed with."""
        self.database = database
        self.embedder = embedder
        self.generation = generation
        self.number = number
        self._shown = shown
        self._words = words
        self._vectors = QueryVectors(embedder)
        self._search = PostgresSearch(number, generation)

    @_lent
    def info(self, connection: Connection[Any]) -> CorpusInfo:
        """Count what is in it."""
        sql = (
            "SELECT count(*), coalesce(sum(leaves), 0), coalesce(sum(tokens), 0), (SELECT count(*) FROM "
            "anabranch.chunks WHERE corpus = %(corpus)s) FROM anabranch.documents WHERE corpus = %(corpus)s"
        )
        (documents, leaves, tokens, chunks), *_ = connection.execute(sql, {"corpus": self.number}).fetchall()
        model = self.embedder
        return CorpusInfo(
            address=self._shown, generation=self.generation, documents=documents, chunks=chunks, leaves=int(leaves),
            tokens=int(tokens), embedder=model.name, dimension=model.dimension,
        )  # fmt: skip

    async def search(self, arm: Arm, queries: Sequence[str], k: int, scope: Scope) -> list[RankedList]:
        """Return one ranked list of leaves per query, filtered before ranking."""
        clause = postgres_clause(scope.filters)
        if not queries or k < 1:
            return [RankedList(ids=[], scores=[]) for _ in queries]
        asked = await asyncio.to_thread(self._asked, arm, queries)
        found = await self.database.run(lambda lent: self._search.nearest(lent, asked, k, scope.access, clause))
        return [ranked(scores, k) for scores in found]

    async def scores(
        self, arm: Arm, queries: Sequence[str], ids: Sequence[str], scope: Scope
    ) -> list[dict[str, float]]:
        """Return, for each query, the score of each of these leaves as `search` gives it."""
        clause = postgres_clause(scope.filters)
        if not queries or not ids:
            return [{} for _ in queries]
        asked = await asyncio.to_thread(self._asked, arm, queries)
        return await self.database.run(lambda lent: self._search.scores(lent, asked, ids, scope.access, clause))

    def _asked(self, arm: Arm, queries: Sequence[str]) -> QueryBatch:
        # Before a connection is lent: nobody else can have one while this waits for a hosted embedder.
        if arm == "dense":
            return QueryBatch(vectors=self._vectors.of(queries))
        return QueryBatch(terms=[self._words.terms(query) for query in queries])

    @_lent
    def rare(self, connection: Connection[Any], scope: Scope) -> float:
        """Return what BM25 gives at most for a word that a single passage holds."""
        return self._search.statistics(connection, [], scope.access).rare()

    @_lent
    def idf(self, connection: Connection[Any], words: Sequence[str], scope: Scope) -> dict[str, float]:
        """Return the inverse document frequency of each analysed term of `words` in what the caller may read."""
        terms = self._terms(words)
        statistics = self._search.statistics(connection, terms, scope.access)
        return {term: idf for term in terms if (idf := statistics.idf(term)) is not None}

    @_lent
    def occurring(
        self, connection: Connection[Any], words: Sequence[str], ids: Sequence[str], scope: Scope
    ) -> dict[str, frozenset[str]]:
        """Return which analysed terms of `words` each of these leaves has."""
        return self._search.occurring(connection, self._terms(words), ids, scope.access, postgres_clause(scope.filters))

    def _terms(self, words: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(term for word in words for term in self._words.terms(word)))

    async def analyse(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the terms that BM25 sees in each text."""
        return await asyncio.to_thread(lambda: [self._words.terms(text) for text in texts])

    @_lent
    def chunks(self, connection: Connection[Any], ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
        """Return chunks with their text, in the order asked for.

        Raises:
            CorpusDamagedError: The text of one is not what was written.
        """
        # A parent has no text of its own but that of the leaves in its span.
        sql = (
            "SELECT c.chunk_id, d.doc_id, d.key, d.source, d.title, c.heading, c.page, c.page_end, c.level, "
            "c.parent_id, c.start, c.\"end\", coalesce(c.text, (SELECT string_agg(l.text, '' ORDER BY l.start) FROM "
            "anabranch.chunks l WHERE l.corpus = c.corpus AND l.document = c.document AND l.level = 2 "
            'AND l.start >= c.start AND l.start < c."end")), c.tokens, c.position '
            "FROM anabranch.chunks c JOIN anabranch.documents d ON d.corpus = c.corpus AND d.number = c.document "
            "WHERE c.corpus = %s AND c.chunk_id = ANY(%s)"
        )
        found: dict[str, Chunk] = {}
        for *row, position in self._of_documents(connection, sql, (storable_of(ids),), scope):
            chunk = Chunk(*row)
            if chunk.chunk_id != digest_of(chunk.doc_id, f"{chunk.level}/{position}", chunk.text):
                raise CorpusDamagedError(
                    f"A passage of {chunk.source!r} is not what was written.", hint="Ingest the document again."
                )
            found[chunk.chunk_id] = chunk
        return {chunk_id: found[chunk_id] for chunk_id in ids if chunk_id in found}

    @_lent
    def children(self, connection: Connection[Any], ids: Sequence[str], scope: Scope) -> dict[str, list[str]]:
        """Return each chunk's ids one level down in document order."""
        sql = (
            "SELECT c.parent_id, c.chunk_id FROM anabranch.chunks c "
            "JOIN anabranch.documents d ON d.corpus = c.corpus AND d.number = c.document "
            "WHERE c.corpus = %s AND c.parent_id = ANY(%s)"
        )
        result: dict[str, list[str]] = {}
        for parent, child in self._of_documents(
            connection, sql, (storable_of(ids),), scope, " ORDER BY c.parent_id, c.position"
        ):
            result.setdefault(parent, []).append(child)
        return {chunk_id: result[chunk_id] for chunk_id in ids if chunk_id in result}

    @_lent
    def outlines(self, connection: Connection[Any], scope: Scope, most: int) -> list[Outline]:
        """Return the documents of a scope at a glance, by source; no more than `most`."""
        sql = (
            "SELECT d.doc_id, d.title, d.metadata -> 'summary', d.leaves FROM anabranch.documents d WHERE d.corpus = %s"
        )
        # By code point, as Python sorts.
        end = ' ORDER BY d.source COLLATE "C" LIMIT %s'
        rows = self._of_documents(connection, sql, (), scope, end, (most,))
        return [Outline(doc_id, title, summary_of(summary), leaves) for doc_id, title, summary, leaves in rows]

    @_lent
    def leaves(
        self, connection: Connection[Any], doc_ids: Sequence[str], scope: Scope, most: int
    ) -> dict[str, list[str]]:
        """Return the ids of the first `most` leaves of each document in its order."""
        sql = (
            "SELECT d.doc_id, l.chunk_id FROM anabranch.documents d CROSS JOIN LATERAL (SELECT c.chunk_id, c.start "
            "FROM anabranch.chunks c WHERE c.corpus = d.corpus AND c.document = d.number AND c.level = 2 "
            "ORDER BY c.start LIMIT %s) l WHERE d.corpus = %s AND d.doc_id = ANY(%s)"
        )
        clause = self._visible(scope)
        parameters = (most, self.number, storable_of(doc_ids), *clause.parameters)
        result: dict[str, list[str]] = {}
        for doc_id, chunk_id in connection.execute(f"{sql} AND {clause.sql} ORDER BY l.start", parameters):
            result.setdefault(doc_id, []).append(chunk_id)
        return {doc_id: result[doc_id] for doc_id in dict.fromkeys(doc_ids) if doc_id in result}

    @_lent
    def originals(self, connection: Connection[Any], doc_ids: Sequence[str], scope: Scope) -> dict[str, Original]:
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
            for doc_id, source, title, path, sha256, pages, file, access in self._of_documents(
                connection, sql, (storable_of(doc_ids),), scope
            )
        }
        return {doc_id: found[doc_id] for doc_id in doc_ids if doc_id in found}

    @_lent
    def places(self, connection: Connection[Any], spots: Sequence[tuple[str, int]], scope: Scope) -> list[Place]:
        """Return where each spot is, a document id and a character of its text."""
        sql = (
            "SELECT c.heading, d.pages, d.path FROM anabranch.documents d JOIN anabranch.chunks c "
            "ON c.corpus = d.corpus AND c.document = d.number "
            "WHERE d.corpus = %s AND d.doc_id = %s AND c.level = 2 AND c.start <= %s"
        )
        places = []
        for doc_id, position in spots:
            end = " ORDER BY c.start DESC LIMIT 1"
            known = storable_of([doc_id])
            rows = self._of_documents(connection, sql, (*known, position), scope, end) if known else []
            heading, pages, path = rows[0] if rows else ("", [], "")
            before = [page for start, page in pages if start <= position]
            places.append(Place(before[-1] if before else None, heading, path))
        return places

    def _of_documents(
        self, connection: Connection[Any], sql: LiteralString, parameters: tuple[Any, ...], scope: Scope,
        end: LiteralString = "", last: tuple[Any, ...] = (),
    ) -> list[tuple[Any, ...]]:  # fmt: skip
        """Return the rows of a statement whose documents `d` are of this corpus and in scope."""
        clause = self._visible(scope)
        return connection.execute(
            f"{sql} AND {clause.sql}{end}", (self.number, *parameters, *clause.parameters, *last)
        ).fetchall()

    def _visible(self, scope: Scope) -> Clause:
        audience = self._search.audiences(scope.access)
        narrowed = postgres_clause(scope.filters)
        # Access comes first and cannot be widened: whatever the filter says is joined to it by AND.
        return Clause(
            f"d.audience = ANY({audience.sql}) AND {narrowed.sql}", (*audience.parameters, *narrowed.parameters)
        )
