"""Reads a corpus in PostgreSQL: one published generation of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from anabranch.models.embedder import Embedder, Vectors
from anabranch.models.lru import LRU
from anabranch.store.index.dense import cosines
from anabranch.store.protocol import Arm, CorpusInfo, RankedList, Scope, Scores
from anabranch.store.query_vectors import QueryVectors
from anabranch.text.analyzer import Analyser
from anabranch_postgres.bm25_counts import TermCounts, bm25_scores, term_counts
from anabranch_postgres.connection_pool import Database
from anabranch_postgres.postgres_filters import Clause, postgres_clause
from anabranch_postgres.postgres_passages import PostgresPassages, Rows
from anabranch_postgres.postgres_search import (
    NARROW,
    WIDEST,
    cosines_of,
    pick_best,
    prefer_index,
    vectors_of,
)
from anabranch_postgres.read_transaction import SqlStatement

SCOPES = 32
"""Scopes for which the choice of the vector index is cached, as many as in a folder."""


class PostgresReader(PostgresPassages):
    """A published generation; implements `CorpusReader` and all optional protocols; see `open_corpus`.

    Each method is one transaction and, except for the first search by vectors in a scope, one round trip.
    """

    def __init__(  # the columns of the corpus
        self, database: Database, address: str, number: int, generation: int, embedder: Embedder, words: Analyser
    ) -> None:
        """Take the row of the corpus, its embedder and the analyser that its words were indexed with."""
        super().__init__(database, number, generation)
        self.embedder = embedder
        self._address = address
        self._words = words
        self._vectors = QueryVectors(embedder)
        self._wide = LRU[str, bool](SCOPES)

    async def info(self) -> CorpusInfo:
        """Count what is in it."""
        # This function sees all rows, so restricted documents count, too.
        sql = "SELECT documents, chunks, leaves, tokens FROM anabranch.corpus_size(%s)"
        (((documents, chunks, leaves, tokens),),) = await self._ask((), SqlStatement(sql, (self.number,)))
        model = self.embedder
        return CorpusInfo(
            address=self._address, generation=self.generation, documents=documents, chunks=chunks, leaves=leaves,
            tokens=tokens, embedder=model.name, dimension=model.dimension,
        )  # fmt: skip

    async def search(self, arm: Arm, queries: Sequence[str], k: int, scope: Scope) -> list[RankedList]:
        """Return one ranked list of leaves per query, filtered before ranking."""
        clause = postgres_clause(scope.filters)
        if not queries or k < 1:
            return [RankedList(ids=[], scores=[]) for _ in queries]
        if arm == "bm25":
            found = await self._search_words([self._words.terms(query) for query in queries], k, scope, clause)
        else:
            # Embed in a thread, before borrowing a connection: a hosted embedder takes its time.
            vectors = await asyncio.to_thread(self._vectors.embed, queries)
            found = await self._search_vectors(vectors, k, scope, clause)
        return [pick_best(scores, k) for scores in found]

    async def _search_words(
        self, queries: Sequence[Sequence[str]], k: int, scope: Scope, clause: Clause
    ) -> list[dict[str, float]]:
        statistics = self._search.statistics(_distinct(queries), scope.access)
        statements = [self._search.find_by_words(terms, k, scope.access, clause) for terms in queries]
        counted, *found = await self._ask(scope.access, statistics, *statements)
        known = term_counts(counted)
        return [
            bm25_scores(sorted(rows, key=_number), terms, terms, known)
            for rows, terms in zip(found, queries, strict=True)
        ]

    async def _search_vectors(self, vectors: Vectors, k: int, scope: Scope, clause: Clause) -> list[dict[str, float]]:
        by_index = k <= WIDEST and await self._is_wide(scope, clause)
        found: list[Rows] = []
        if by_index:
            near = [self._search.find_by_vector(vector, k, scope.access, clause, exact=False) for vector in vectors]
            _, *found = await self._ask(scope.access, prefer_index(k), *near)
        # Too few results: the index stopped before it had passed all rows hidden by a filter or a removal.
        if not by_index or any(len(rows) < k for rows in found):
            near = [self._search.find_by_vector(vector, k, scope.access, clause, exact=True) for vector in vectors]
            found = await self._ask(scope.access, *near)
        return [cosines_of(rows, vector) for rows, vector in zip(found, vectors, strict=True)]

    async def _is_wide(self, scope: Scope, clause: Clause) -> bool:
        """Tell whether there is an index, and too many vectors in scope to compare each.

        Decided once per scope: the choice changes the cost of a search, and hardly its results.
        """
        key = json.dumps([scope.access, scope.filters])
        known = self._wide.get(key)
        if known is None:
            ((row,),) = await self._ask(scope.access, self._search.width(scope.access, clause))
            known = bool(row[0]) and row[1] > NARROW
            self._wide.set(key, known)
        return known

    async def scores(self, queries: Mapping[Arm, Sequence[str]], ids: Sequence[str], scope: Scope) -> Scores:
        """Return the score of each of these leaves for each query as `search` gives it."""
        clause = postgres_clause(scope.filters)
        asked = [self._words.terms(query) for query in queries.get("bm25", ())]
        dense = list(queries.get("dense", ()))
        vectors = await asyncio.to_thread(self._vectors.embed, dense) if dense else ()
        distinct = _distinct(asked)
        statements = (
            self._search.statistics(distinct, scope.access),
            self._search.leaves(ids, distinct, scope.access, clause, vectors=bool(dense)),
        )
        counted, found = await self._ask(scope.access, *statements)
        # Sort here: with ORDER BY, the database would scan all leaves by number.
        rows, known = sorted(found, key=_number), term_counts(counted)
        names, matrix = [row[1] for row in rows], vectors_of(rows) if dense and rows else None
        by_arm: Scores = {
            "bm25": [bm25_scores(rows, distinct, terms, known) for terms in asked],
            "dense": [
                dict(zip(names, cosines(matrix, vector).tolist(), strict=True)) if matrix is not None else {}
                for vector in vectors
            ],
        }
        return {arm: by_arm[arm] for arm in queries}

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


def _distinct(terms: Sequence[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(term for each in terms for term in each))


def _number(row: tuple[Any, ...]) -> int:
    return int(row[0])
