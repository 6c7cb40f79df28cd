"""Reads a corpus in memory: every search looks at every passage."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from anabranch.models.embedder import Embedder, embed_queries
from anabranch.models.embedders import load_embedder
from anabranch.store.access_scope import scope_condition
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_facts import counts_in
from anabranch.store.corpus_language import resolve_language
from anabranch.store.passage_reader import Passages, run_in_thread
from anabranch.store.protocol import Arm, CorpusInfo, RankedList, Scope, Scores
from anabranch.store.records import embedded_text
from anabranch.text.analyzer import analyser


class MemoryReader(Passages):
    """A published state of a corpus in memory, implementing `CorpusReader` and all that is optional."""

    def __init__(
        self,
        address: str,
        database: CorpusDatabase,
        lend: Callable[[], AbstractContextManager[sqlite3.Connection]],
        generation: int,
    ) -> None:
        """Analyse every leaf; each search asks the database which of them the caller may see.

        Raises:
            SettingsError: The embedder is not available.
        """
        self._address = address
        self.generation = generation
        self.embedder: Embedder = load_embedder(database.meta("spec") or "", database.meta("base_url") or None)
        rows = database.all(
            "SELECT c.chunk_id, d.title, c.heading, c.text, v.vector FROM documents d JOIN chunks c USING (doc_id) "
            "JOIN vectors v ON v.vector_key = c.vector_key AND v.embedder = ? ORDER BY d.number, c.start",
            database.meta("embedder") or "",
        )
        # Made for each published state, because readers of the previous one go on using theirs.
        super().__init__(lend, analyser(resolve_language(database)))
        self._ids = [row[0] for row in rows]
        self._terms = [self._analyser.terms(embedded_text(*parts)) for _, *parts, _ in rows]
        self._vectors = np.array([np.frombuffer(row[-1], dtype=np.float32) for row in rows], dtype=np.float32)

    @property
    def leaf_count(self) -> int:
        """How many leaves it searches."""
        return len(self._ids)

    @run_in_thread
    def info(self) -> CorpusInfo:
        """Count what is in it."""
        with self._lend() as connection:
            counts = counts_in(connection)
        model = self.embedder
        return CorpusInfo(self._address, self.generation, **counts, embedder=model.name, dimension=model.dimension)

    @run_in_thread
    def search(self, arm: Arm, queries: Sequence[str], k: int, scope: Scope) -> list[RankedList]:
        """Return one ranked list of leaves per query, filtered before ranking."""
        rows = self._rows(scope)
        lists = []
        for query, scores in zip(queries, self._score(arm, queries, scope), strict=True):
            asked = set(self._analyser.terms(query))
            # A passage without any of the words scores zero, but so does one whose only match is in every passage: so
            # the words decide what is found, not the score.
            own = [row for row in rows if arm == "dense" or asked & set(self._terms[row])]
            best = sorted(own, key=lambda row, scores=scores: (-scores[row], row))[: max(k, 0)]  # type: ignore[misc]
            lists.append(RankedList(ids=[self._ids[row] for row in best], scores=[float(scores[row]) for row in best]))
        return lists

    @run_in_thread
    def scores(self, queries: Mapping[Arm, Sequence[str]], ids: Sequence[str], scope: Scope) -> Scores:
        """Return the score of each of these leaves for each query as `search` gives it."""
        wanted = set(ids)
        rows = [row for row in self._rows(scope) if self._ids[row] in wanted]
        return {
            arm: [{self._ids[row]: float(scores[row]) for row in rows} for scores in self._score(arm, asked, scope)]
            for arm, asked in queries.items()
        }

    @run_in_thread
    def idf(self, words: Sequence[str], scope: Scope) -> dict[str, float]:
        """Return the inverse document frequency of each analysed term of `words` in what the caller may read."""
        bm25, _ = self._bm25(scope)
        terms = {term for word in words for term in self._analyser.terms(word)}
        return {term: float(bm25.idf[term]) for term in terms if bm25 is not None and term in bm25.idf}

    @run_in_thread
    def occurring(self, words: Sequence[str], ids: Sequence[str], scope: Scope) -> dict[str, frozenset[str]]:
        """Return which analysed terms of `words` each of these leaves has."""
        asked = {term for word in words for term in self._analyser.terms(word)}
        rows = {self._ids[row]: row for row in self._rows(scope)}
        return {chunk_id: frozenset(asked & set(self._terms[rows[chunk_id]])) for chunk_id in ids if chunk_id in rows}

    def _rows(self, scope: Scope) -> list[int]:
        """Return the rows of the leaves that a caller may see now, in order."""
        where, parameters = scope_condition(scope)
        sql = f"SELECT c.chunk_id FROM chunks c JOIN documents d USING (doc_id) WHERE c.level = 2 AND {where}"  # noqa: S608
        with self._lend() as connection:
            there = {chunk_id for (chunk_id,) in connection.execute(sql, parameters)}
        return [row for row, chunk_id in enumerate(self._ids) if chunk_id in there]

    def _score(self, arm: Arm, queries: Sequence[str], scope: Scope) -> list[NDArray[np.float64]]:
        """Return the scores of all rows for each query; rows hidden from the caller have no valid score."""
        if arm == "dense":
            # Embed one query at a time: a batch may change the last bit of a vector.
            vectors = [embed_queries(self.embedder, [query])[0] for query in queries]
            return [np.asarray(self._vectors @ vector, dtype=np.float64) for vector in vectors]
        bm25, rows = self._bm25(scope)
        scored = [np.zeros(len(self._ids)) for _ in queries]
        if bm25 is not None:
            for query, scores in zip(queries, scored, strict=True):
                scores[rows] = bm25.get_scores(self._analyser.terms(query))
        return scored

    def _bm25(self, scope: Scope) -> tuple[BM25Okapi | None, list[int]]:
        """Return the BM25 of what a caller may read, and its rows; None where there is no word."""
        # Access alone decides the statistics: a filter narrows the results and must not change a score.
        rows = self._rows(Scope(access=scope.access))
        terms = [self._terms[row] for row in rows]
        return (BM25Okapi(terms, epsilon=0) if any(terms) else None), rows
