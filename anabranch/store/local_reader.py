"""A corpus in a folder: one opened generation of it, searched in worker threads."""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from anabranch.errors import IndexDamagedError
from anabranch.models.embedder import Embedder, Vectors
from anabranch.readers.document import Chunk
from anabranch.store.index.bm25 import BM25
from anabranch.store.index.checksum_watch import Watch
from anabranch.store.index.dense import cosines
from anabranch.store.index.segment_index import Index, Masks, seen
from anabranch.store.passage_reader import Passages, visible
from anabranch.store.protocol import Arm, Background, CorpusInfo, Outline, Place, RankedList, Scope
from anabranch.store.query_vectors import QueryVectors
from anabranch.text.analyzer import analyser

T = TypeVar("T")

# Searches are short and numpy and FAISS release the GIL; more threads than this would only wait for cores.
_POOL = ThreadPoolExecutor(max_workers=4, thread_name_prefix="anabranch-corpus")
MASKS = 32
SAMPLES = 4
"""Scopes whose samples are kept, each of `SAMPLE` vectors."""

SAMPLE = 512
"""Leaves that stand for all of them where the background of a query is asked for; takes a fraction of a millisecond."""


class LocalReader:
    """One generation of a corpus folder, implementing `CorpusReader`; open it with `open_corpus`."""

    def __init__(self, folder: Path, name: str, embedder: Embedder) -> None:
        """Open the files; nothing is read into memory that can be mapped.

        Raises:
            IndexDamagedError: A file is missing or is not what the manifest says.
        """
        self.folder = folder
        self._embedder = embedder
        self._index = Index(folder, name)
        self.manifest = self._index.manifest
        self._analyser = analyser(self.manifest.language)
        if self._analyser.name != self.manifest.analyser:
            msg = (
                f"The index {name} was made with the analyser {self.manifest.analyser!r}, not {self._analyser.name!r}."
            )
            raise IndexDamagedError(msg, hint="Run `anabranch corpus rebuild`.")
        self.watch = Watch(self._index)
        self._passages = Passages(folder)
        self._lock = threading.Lock()
        self._looking_up = threading.Lock()
        self._rows: tuple[tuple[tuple[str, ...], str, int], dict[str, int]] = (((), "", -1), {})
        self._vectors = QueryVectors(embedder)
        self._masks: OrderedDict[str, tuple[int, Masks]] = OrderedDict()
        self._samples: OrderedDict[int, tuple[Masks, tuple[int, Vectors]]] = OrderedDict()
        self._bm25s: OrderedDict[int, tuple[Masks, BM25]] = OrderedDict()

    @property
    def embedder(self) -> Embedder:
        """The embedder that its vectors were made with."""
        return self._embedder

    @property
    def generation(self) -> int:
        """The generation that this handle searches."""
        return self.manifest.number

    def is_up_to_date(self) -> bool:
        """Tell whether this generation still is of the documents as they are, in the file that it was made from."""
        return self._passages.is_same_file() and self._passages.changes() == self.manifest.changes

    async def info(self) -> CorpusInfo:
        """Count what is in it."""
        return await _in_thread(self._info)

    async def search(self, arm: Arm, queries: Sequence[str], k: int, scope: Scope) -> list[RankedList]:
        """Return one ranked list of leaves per query, filtered before ranking."""
        return await _in_thread(partial(self._search, arm, list(queries), k, scope))

    async def scores(
        self, arm: Arm, queries: Sequence[str], ids: Sequence[str], scope: Scope
    ) -> list[dict[str, float]]:
        """Return, for each query, the score of each of these leaves as `search` gives it."""
        return await _in_thread(partial(self._scores, arm, list(queries), list(dict.fromkeys(ids)), scope))

    async def background(self, queries: Sequence[str], scope: Scope) -> list[Background]:
        """Return how each query relates to the leaves in scope at large."""
        return await _in_thread(partial(self._background, list(queries), scope))

    async def chunks(self, ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
        """Fetch chunks with their text; ids that are gone or out of scope are absent."""
        return await _in_thread(partial(self._passages.chunks, list(dict.fromkeys(ids)), scope))

    async def children(self, ids: Sequence[str], scope: Scope) -> dict[str, list[str]]:
        """Return each chunk's ids one level down in document order."""
        return await _in_thread(partial(self._passages.children, list(dict.fromkeys(ids)), scope))

    async def outlines(self, scope: Scope, most: int) -> list[Outline]:
        """Return the documents in scope at a glance, by source."""
        return await _in_thread(partial(self._passages.outlines, scope, most))

    async def leaves(self, doc_ids: Sequence[str], scope: Scope, most: int) -> dict[str, list[str]]:
        """Return the ids of the first `most` leaves of each document in its order."""
        return await _in_thread(partial(self._passages.leaves, list(dict.fromkeys(doc_ids)), scope, most))

    async def places(self, spots: Sequence[tuple[str, int]], scope: Scope) -> list[Place]:
        """Return where each spot is, a document id and a character of its text."""
        return await _in_thread(partial(self._passages.places, list(spots), scope))

    async def idf(self, words: Sequence[str], scope: Scope) -> dict[str, float]:
        """Return the inverse document frequency of each analysed term of `words` in what the caller may read."""
        return await _in_thread(partial(self._idf, list(words), scope))

    async def occurring(self, words: Sequence[str], ids: Sequence[str], scope: Scope) -> dict[str, frozenset[str]]:
        """Return which analysed terms of `words` each of these leaves has."""
        return await _in_thread(partial(self._occurring, list(words), list(dict.fromkeys(ids)), scope))

    async def analyse(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the terms that BM25 sees in each text."""
        return await _in_thread(lambda: [self._analyser.terms(text) for text in texts])

    def _search(self, arm: Arm, queries: list[str], k: int, scope: Scope) -> list[RankedList]:
        self.watch.check()
        masks = self._mask(scope)
        if not queries or k < 1 or not seen(masks):
            return [RankedList(ids=[], scores=[]) for _ in queries]
        vectors = self._vectors.of(queries) if arm == "dense" else None
        try:
            return self._ranked(queries, vectors, k, masks, scope)
        except (IndexError, ValueError, OverflowError):
            # Numbers that lead nowhere, in a file that is still being checked.
            self.watch.check_all()
            raise

    def _scores(self, arm: Arm, queries: list[str], ids: list[str], scope: Scope) -> list[dict[str, float]]:
        self.watch.check()
        try:
            found = self._rows_of(tuple(ids), scope)
            rows = np.fromiter(found.values(), np.int64, len(found))
            if arm == "bm25":
                by_query = self._bm25(scope).scores([self._analyser.terms(query) for query in queries], rows)
            else:
                vectors = self._index.vectors(rows)
                by_query = [cosines(vectors, self._vectors.one(query)) for query in queries]
        except (IndexError, ValueError, OverflowError):
            self.watch.check_all()
            raise
        return [dict(zip(found, scores.tolist(), strict=True)) for scores in by_query]

    def _idf(self, words: list[str], scope: Scope) -> dict[str, float]:
        self.watch.check()
        terms = {term for word in words for term in self._analyser.terms(word)}
        bm25 = self._bm25(scope)
        return {term: idf for term in terms if (idf := bm25.idf(term)) is not None}

    def _occurring(self, words: list[str], ids: list[str], scope: Scope) -> dict[str, frozenset[str]]:
        self.watch.check()
        terms = list(dict.fromkeys(term for word in words for term in self._analyser.terms(word)))
        try:
            rows = self._rows_of(tuple(ids), scope)
            found = self._index.bm25.holding(terms, np.fromiter(rows.values(), np.int64, len(rows)))
        except (IndexError, ValueError, OverflowError):
            self.watch.check_all()
            raise
        return {
            chunk_id: frozenset(term for term, there in zip(terms, column, strict=True) if there)
            for chunk_id, column in zip(rows, found.T.tolist(), strict=True)
        }

    def _rows_of(self, ids: tuple[str, ...], scope: Scope) -> dict[str, int]:
        """Return the rows of leaves; both arms are asked about the same ones in turn, and one look does."""
        with self._looking_up:
            changes = self._passages.changes()
            key = (ids, json.dumps(visible(scope)), changes)
            if self._rows[0] != key:
                masks = self._mask(scope)
                # As long as nothing has changed, the masks know as much as the documents do.
                named = self._index.named(ids, masks) if changes == self.manifest.changes else None
                rows = self._index.rows(self._passages.owners(ids, scope), masks) if named is None else named
                self._rows = key, rows
            return self._rows[1]

    def _background(self, queries: list[str], scope: Scope) -> list[Background]:
        self.watch.check()
        passages, vectors = self._sample(self._mask(scope))
        if not passages:
            return [Background(0, 0.0, 0.0, 0.0) for _ in queries]
        sampled = [cosines(vectors, self._vectors.one(query)) for query in queries]
        rare = self._bm25(scope).rare()
        return [Background(passages, float(found.mean()), float(found.std()), rare) for found in sampled]

    def _sample(self, masks: Masks) -> tuple[int, Vectors]:
        """Return how many leaves may be seen, and the vectors of a few; those of the last masks are kept."""

        def taken() -> tuple[int, Vectors]:
            passages, rows = self._index.sample(masks, SAMPLE)
            return passages, self._index.vectors(rows)

        return self._kept(self._samples, SAMPLES, masks, taken)

    def _bm25(self, scope: Scope) -> BM25:
        """Return the BM25 of what a caller may read: what is hidden by access tags counts for nothing in a score."""
        masks = self._mask(Scope(access=scope.access))
        return self._kept(self._bm25s, MASKS, masks, lambda: self._index.bm25.within(masks))

    def _kept(self, kept: OrderedDict[int, tuple[Masks, T]], most: int, masks: Masks, make: Callable[[], T]) -> T:
        """Return what was made for these masks, which are themselves kept as long as they hold, or make it."""
        with self._lock:
            known = kept.get(id(masks))
        if known is not None and known[0] is masks:
            return known[1]
        made = make()
        with self._lock:
            kept[id(masks)] = masks, made
            while len(kept) > most:
                kept.popitem(last=False)
        return made

    def _ranked(
        self, queries: list[str], vectors: Vectors | None, k: int, masks: Masks, scope: Scope
    ) -> list[RankedList]:
        if vectors is None:
            found = self._bm25(scope).search([self._analyser.terms(query) for query in queries], k, masks)
        else:
            found = self._index.nearest(vectors, k, masks)
        return [RankedList(ids=self._index.ids(rows), scores=scores.tolist()) for rows, scores in found]

    def _mask(self, scope: Scope) -> Masks:
        """Return which rows may be seen; asked anew once the documents have changed.

        Tags may be given while this handle is open; a mask of before must not show what they hide.
        """
        key = json.dumps(visible(scope))
        changes = self._passages.changes()
        with self._lock:
            known = self._masks.get(key)
            if known is not None and known[0] == changes:
                self._masks.move_to_end(key)
                return known[1]
        # What was removed since this index was made is still in it.
        changes, allowed = self._passages.allowed(scope, self.manifest.changes)
        masks = self._index.masks(allowed)
        with self._lock:
            self._masks[key] = (changes, masks)
            while len(self._masks) > MASKS:
                self._masks.popitem(last=False)
        return masks

    def _info(self) -> CorpusInfo:
        manifest = self.manifest
        return CorpusInfo(
            address=str(self.folder), generation=manifest.number, documents=manifest.documents, chunks=manifest.chunks,
            leaves=manifest.leaves, tokens=manifest.tokens, embedder=manifest.embedder, dimension=manifest.dimension,
        )  # fmt: skip


async def _in_thread(work: Callable[[], T]) -> T:
    # As `asyncio.to_thread` does: meters and the like travel in context variables.
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_POOL, context.run, work)
