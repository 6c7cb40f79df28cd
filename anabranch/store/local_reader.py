"""A corpus in a folder: one opened generation of it, searched in worker threads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import IndexDamagedError
from anabranch.models.embedder import Embedder
from anabranch.models.lru import LRU
from anabranch.store.access_scope import scope_condition
from anabranch.store.connections import Connections
from anabranch.store.index.bm25 import BM25
from anabranch.store.index.checksum_watch import Watch
from anabranch.store.index.dense import cosines
from anabranch.store.index.segment_index import Index, Masks, allows_any
from anabranch.store.passage_reader import Passages, run_in_thread
from anabranch.store.protocol import Arm, CorpusInfo, RankedList, Scope, Scores
from anabranch.store.query_vectors import QueryVectors
from anabranch.text.analyzer import analyser

VIEWS = 32
"""Scopes whose row masks are cached."""


class _View:
    """The rows that a scope lets through, at one count of changes."""

    def __init__(self, changes: int, masks: Masks, whole: BM25) -> None:
        self.changes = changes
        self.masks = masks
        self._whole = whole

    @cached_property
    def bm25(self) -> BM25:
        """The BM25 of these rows alone, made on the first search by words, outside any lock."""
        return self._whole.restrict(self.masks)


class LocalReader(Passages):
    """One generation of a corpus folder; implements `CorpusReader` and all optional protocols; see `open_corpus`."""

    def __init__(self, folder: Path, name: str, embedder: Embedder, connections: Connections | None = None) -> None:
        """Open the files; nothing is read into memory that can be mapped.

        Args:
            folder: Holds the index, and the database if `connections` is not given.
            name: Name of the generation.
            embedder: The embedder that made the vectors.
            connections: Connections to a database elsewhere.

        Raises:
            IndexDamagedError: A file is missing or is not what the manifest says.
        """
        # Opened before the index: if another corpus replaces this one meanwhile, its database is noticed.
        connections = connections or Connections(folder)
        self.connections = connections
        self.folder = folder
        self.address = str(folder)
        self.embedder = embedder
        self._index = Index(folder, name)
        self.manifest = self._index.manifest
        super().__init__(connections.lend, analyser(self.manifest.language))
        # Another version of the analyser makes other terms, so queries would silently miss passages.
        if self._analyser.name != self.manifest.analyser:
            msg = (
                f"The index {name} was made with the analyser {self.manifest.analyser!r}, not {self._analyser.name!r}."
            )
            raise IndexDamagedError(msg, hint="Run `anabranch corpus rebuild`.")
        self.watch = Watch(self._index)
        self._vectors = QueryVectors(embedder)
        self._views = LRU[str, _View](VIEWS)

    @property
    def generation(self) -> int:
        """The generation that this handle searches."""
        return self.manifest.number

    @run_in_thread
    def info(self) -> CorpusInfo:
        """Count what is in it."""
        manifest = self.manifest
        return CorpusInfo(
            address=self.address, generation=manifest.number, documents=manifest.documents, chunks=manifest.chunks,
            leaves=manifest.leaves, tokens=manifest.tokens, embedder=manifest.embedder, dimension=manifest.dimension,
        )  # fmt: skip

    @run_in_thread
    def search(self, arm: Arm, queries: Sequence[str], k: int, scope: Scope) -> list[RankedList]:
        """Return one ranked list of leaves per query, filtered before ranking."""
        self.watch.check()
        masks = self._mask(scope)
        # Checked before embedding, because a hosted embedder charges for each query.
        if not queries or k < 1 or not allows_any(masks):
            return [RankedList(ids=[], scores=[]) for _ in queries]
        vectors = self._vectors.embed(queries) if arm == "dense" else None
        with self._report_damage():
            if vectors is None:
                found = self._bm25(scope).search([self._analyser.terms(query) for query in queries], k, masks)
            else:
                found = self._index.nearest(vectors, k, masks)
            return [RankedList(ids=self._index.ids(rows), scores=scores.tolist()) for rows, scores in found]

    @run_in_thread
    def scores(self, queries: Mapping[Arm, Sequence[str]], ids: Sequence[str], scope: Scope) -> Scores:
        """Return the score of each of these leaves for each query as `search` gives it."""
        self.watch.check()
        with self._report_damage():
            found = self._rows_of(ids, scope)
            rows = np.fromiter(found.values(), np.int64, len(found))
            bm25, scored = self._bm25(scope), dict[Arm, list[NDArray[np.float64]]]()
            for arm, asked in queries.items():
                if arm == "bm25":
                    scored[arm] = bm25.scores([self._analyser.terms(query) for query in asked], rows)
                else:
                    vectors = self._index.vectors(rows)
                    scored[arm] = [cosines(vectors, self._vectors.embed_one(query)) for query in asked]
        return {
            arm: [dict(zip(found, scores.tolist(), strict=True)) for scores in lists] for arm, lists in scored.items()
        }

    @run_in_thread
    def idf(self, words: Sequence[str], scope: Scope) -> dict[str, float]:
        """Return the inverse document frequency of each analysed term of `words` in what the caller may read."""
        self.watch.check()
        terms = {term for word in words for term in self._analyser.terms(word)}
        bm25 = self._bm25(scope)
        return {term: idf for term in terms if (idf := bm25.idf(term)) is not None}

    @run_in_thread
    def occurring(self, words: Sequence[str], ids: Sequence[str], scope: Scope) -> dict[str, frozenset[str]]:
        """Return which analysed terms of `words` each of these leaves has."""
        self.watch.check()
        terms = list(dict.fromkeys(term for word in words for term in self._analyser.terms(word)))
        with self._report_damage():
            rows = self._rows_of(ids, scope)
            found = self._index.bm25.find_terms(terms, np.fromiter(rows.values(), np.int64, len(rows)))
        return {
            chunk_id: frozenset(term for term, there in zip(terms, column, strict=True) if there)
            for chunk_id, column in zip(rows, found.T.tolist(), strict=True)
        }

    @contextmanager
    def _report_damage(self) -> Iterator[None]:
        """Turn an index error into a damage error while the checksums are still being read."""
        try:
            yield
        except (IndexError, ValueError, OverflowError):
            self.watch.check_all()
            raise

    def _rows_of(self, ids: Sequence[str], scope: Scope) -> dict[str, int]:
        """Return the rows of leaves."""
        return self._index.rows(self.owners(ids, scope), self._mask(scope))

    def _bm25(self, scope: Scope) -> BM25:
        """Return the BM25 of what a caller may read: documents hidden by access tags never count in a score."""
        return self._view(Scope(access=scope.access)).bm25

    def _mask(self, scope: Scope) -> Masks:
        """Return which rows may be seen."""
        return self._view(scope).masks

    def _view(self, scope: Scope) -> _View:
        """Return the rows that a scope lets through; computed again once the documents have changed.

        Tags may change while this handle is open; an old mask must not show what they hide.
        """
        key = json.dumps(scope_condition(scope))
        changes = self.changes()
        known = self._views.get(key)
        if known is not None and known.changes == changes:
            return known
        # Documents removed since this index was made are still in it.
        # The count comes with the numbers from one transaction: a change between two reads would be kept under a count
        # that knows nothing of it.
        changes, allowed = self.allowed(scope, self.manifest.changes)
        made = _View(changes, self._index.masks(allowed), self._index.bm25)
        self._views.set(key, made)
        return made
