"""Reads a corpus in PostgreSQL: one published generation of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

from anabranch.errors import CorpusDamagedError
from anabranch.models.embedder import Embedder, Vectors
from anabranch.models.lru import LRU
from anabranch.readers.document import Chunk
from anabranch.store.index.dense import cosines
from anabranch.store.postgres.bm25_counts import TermCounts, bm25_scores, term_counts
from anabranch.store.postgres.connection_pool import Database
from anabranch.store.postgres.postgres_filters import Clause, postgres_clause
from anabranch.store.postgres.postgres_search import (
    NARROW,
    WIDEST,
    PostgresSearch,
    cosines_of,
    for_index,
    ranked,
    storable_of,
    vectors_of,
)
from anabranch.store.postgres.read_transaction import SqlStatement, answers
from anabranch.store.protocol import Arm, CorpusInfo, Original, Outline, Place, RankedList, Scope, Scores
from anabranch.store.query_vectors import QueryVectors
from anabranch.store.records import digest_of, summary_of
from anabranch.text.analyzer import Analyser

SCOPES = 32
"""Scopes of which is kept whether an index is of use, as many as a folder keeps."""

Rows = list[tuple[Any, ...]]


class PostgresReader:
    """A published generation, implementing `CorpusReader` and all that is optional; see `open_corpus`.

    Each method is one transaction and, but for the first search by vectors in a scope, one round trip.
    """

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
        self._wide = LRU[str, bool](SCOPES)

    async def _ask(self, access: Sequence[str], *statements: SqlStatement | Clause) -> list[Rows]:
        """Return the rows of each statement, for somebody with these tags."""
        asked = [SqlStatement(*each) for each in statements]
        return await self.database.run(lambda lent: answers(lent, self.number, storable_of(access), asked))

    async def info(self) -> CorpusInfo:
        """Count what is in it."""
        # A function that sees all rows: what is restricted counts, too.
        sql = "SELECT documents, chunks, leaves, tokens FROM anabranch.corpus_size(%s)"
        (((documents, chunks, leaves, tokens),),) = await self._ask((), SqlStatement(sql, (self.number,)))
        model = self.embedder
        return CorpusInfo(
            address=self._shown, generation=self.generation, documents=documents, chunks=chunks, leaves=leaves,
            tokens=tokens, embedder=model.name, dimension=model.dimension,
        )  # fmt: skip

    async def search(self, arm: Arm, queries: Sequence[str], k: int, scope: Scope) -> list[RankedList]:
        """Return one ranked list of leaves per query, filtered before ranking."""
        clause = postgres_clause(scope.filters)
        if not queries or k < 1:
            return [RankedList(ids=[], scores=[]) for _ in queries]
        if arm == "bm25":
            found = await self._by_words([self._words.terms(query) for query in queries], k, scope, clause)
        else:
            # In a thread, and before a connection is lent: a hosted embedder takes its time.
            vectors = await asyncio.to_thread(self._vectors.of, queries)
            found = await self._by_vectors(vectors, k, scope, clause)
        return [ranked(scores, k) for scores in found]

    async def _by_words(
        self, queries: Sequence[Sequence[str]], k: int, scope: Scope, clause: Clause
    ) -> list[dict[str, float]]:
        statistics = self._search.statistics(_distinct(queries), scope.access)
        statements = [self._search.by_words(terms, k, scope.access, clause) for terms in queries]
        counted, *found = await self._ask(scope.access, statistics, *statements)
        known = term_counts(counted)
        return [
            bm25_scores(sorted(rows, key=_number), terms, terms, known)
            for rows, terms in zip(found, queries, strict=True)
        ]

    async def _by_vectors(self, vectors: Vectors, k: int, scope: Scope, clause: Clause) -> list[dict[str, float]]:
        by_index = k <= WIDEST and await self._is_wide(scope, clause)
        found: list[Rows] = []
        if by_index:
            near = [self._search.by_vector(vector, k, scope.access, clause, exact=False) for vector in vectors]
            _, *found = await self._ask(scope.access, for_index(k), *near)
        # Fewer than asked for: the index has given up on its way through what a filter or a removal hides.
        if not by_index or any(len(rows) < k for rows in found):
            near = [self._search.by_vector(vector, k, scope.access, clause, exact=True) for vector in vectors]
            found = await self._ask(scope.access, *near)
        return [cosines_of(rows, vector) for rows, vector in zip(found, vectors, strict=True)]

    async def _is_wide(self, scope: Scope, clause: Clause) -> bool:
        """Tell whether there is an index, and too much in scope to compare each vector.

        Counted once for a scope: which way is taken changes what a search costs, and hardly what it finds.
        """
        key = json.dumps([scope.access, scope.filters])
        known = self._wide.get(key)
        if known is None:
            ((row,),) = await self._ask(scope.access, self._search.width(scope.access, clause))
            known = bool(row[0]) and row[1] > NARROW
            self._wide.set(key, known)
        return known

    async def scores(self, queries: Mapping[Arm, Sequence[str]], ids: Sequence[str], scope: Scope) -> Scores:
        """Return the score of each of these leaves for each query as `search` gives it, and that of a rare word."""
        clause = postgres_clause(scope.filters)
        asked = [self._words.terms(query) for query in queries.get("bm25", ())]
        dense = list(queries.get("dense", ()))
        vectors = await asyncio.to_thread(self._vectors.of, dense) if dense else ()
        distinct = _distinct(asked)
        statements = (
            self._search.statistics(distinct, scope.access),
            self._search.leaves(ids, distinct, scope.access, clause, vectors=bool(dense)),
        )
        counted, found = await self._ask(scope.access, *statements)
        # Put in order here: asked for it, the database goes through all leaves by their number.
        rows, known = sorted(found, key=_number), term_counts(counted)
        names, matrix = [row[1] for row in rows], vectors_of(rows) if dense and rows else None
        by_arm: dict[Arm, list[dict[str, float]]] = {
            "bm25": [bm25_scores(rows, distinct, terms, known) for terms in asked],
            "dense": [
                dict(zip(names, cosines(matrix, vector).tolist(), strict=True)) if matrix is not None else {}
                for vector in vectors
            ],
        }
        return Scores({arm: by_arm[arm] for arm in queries}, known.rare())

    async def idf(self, words: Sequence[str], scope: Scope) -> dict[str, float]:
        """Return the inverse document frequency of each analysed term of `words` in what the caller may read."""
        terms = self._terms(words)
        (counted,) = await self._ask(scope.access, self._search.statistics(terms, scope.access))
        known: TermCounts = term_counts(counted)
        return {term: idf for term in terms if (idf := known.idf(term)) is not None}

    async def occurring(self, words: Sequence[str], ids: Sequence[str], scope: Scope) -> dict[str, frozenset[str]]:
        """Return which analysed terms of `words` each of these leaves has."""
        clause, terms = postgres_clause(scope.filters), self._terms(words)
        statement = self._search.leaves(ids, terms, scope.access, clause, vectors=False)
        (found,) = await self._ask(scope.access, statement)
        return {
            name: frozenset(term for term, count in zip(terms, counts, strict=True) if count)
            for _, name, _, counts in found
        }

    def _terms(self, words: Sequence[str]) -> list[str]:
        return _distinct([self._words.terms(word) for word in words])

    async def analyse(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the terms that BM25 sees in each text."""
        return await asyncio.to_thread(lambda: [self._words.terms(text) for text in texts])

    async def chunks(self, ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
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
        for *row, position in await self._of_documents(sql, (storable_of(ids),), scope):
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
        for parent, child in await self._of_documents(sql, (storable_of(ids),), scope, end):
            result.setdefault(parent, []).append(child)
        return {chunk_id: result[chunk_id] for chunk_id in ids if chunk_id in result}

    async def outlines(self, scope: Scope, most: int) -> list[Outline]:
        """Return the documents of a scope at a glance, by source; no more than `most`."""
        sql = (
            "SELECT d.doc_id, d.title, d.metadata -> 'summary', d.leaves FROM anabranch.documents d WHERE d.corpus = %s"
        )
        # By code point, as Python sorts.
        end = ' ORDER BY d.source COLLATE "C" LIMIT %s'
        rows = await self._of_documents(sql, (), scope, end, (most,))
        return [Outline(doc_id, title, summary_of(summary), leaves) for doc_id, title, summary, leaves in rows]

    async def leaves(self, doc_ids: Sequence[str], scope: Scope, most: int) -> dict[str, list[str]]:
        """Return the ids of the first `most` leaves of each document in its order."""
        sql = (
            "SELECT d.doc_id, l.chunk_id FROM anabranch.documents d CROSS JOIN LATERAL (SELECT c.chunk_id, c.start "
            "FROM anabranch.chunks c WHERE c.corpus = d.corpus AND c.document = d.number AND c.level = 2 "
            "ORDER BY c.start LIMIT %s) l WHERE d.corpus = %s AND d.doc_id = ANY(%s)"
        )
        clause = self._visible(scope)
        parameters = (most, self.number, storable_of(doc_ids), *clause.parameters)
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
            for doc_id, source, title, path, sha256, pages, file, access in await self._of_documents(
                sql, (storable_of(doc_ids),), scope
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
                f"{sql} AND {clause.sql}{end}", (self.number, storable_of([doc_id]), position, *clause.parameters)
            )
            for doc_id, position in spots
        ]
        places = []
        for (_, position), rows in zip(spots, await self._ask(scope.access, *asked), strict=True):
            heading, pages, path = rows[0] if rows else ("", [], "")
            before = [page for start, page in pages if start <= position]
            places.append(Place(before[-1] if before else None, heading, path))
        return places

    async def _of_documents(
        self, sql: LiteralString, parameters: tuple[Any, ...], scope: Scope, end: LiteralString = "",
        last: tuple[Any, ...] = (),
    ) -> Rows:  # fmt: skip
        """Return the rows of a statement whose documents `d` are of this corpus and in scope."""
        clause = self._visible(scope)
        values = (self.number, *parameters, *clause.parameters, *last)
        (rows,) = await self._ask(scope.access, SqlStatement(f"{sql} AND {clause.sql}{end}", values))
        return rows

    def _visible(self, scope: Scope) -> Clause:
        audience = self._search.audiences(scope.access)
        narrowed = postgres_clause(scope.filters)
        # Access comes first and cannot be widened: whatever the filter says is joined to it by AND.
        return Clause(
            f"d.audience = ANY({audience.sql}) AND {narrowed.sql}", (*audience.parameters, *narrowed.parameters)
        )


def _distinct(terms: Sequence[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(term for each in terms for term in each))


def _number(row: tuple[Any, ...]) -> int:
    return int(row[0])
