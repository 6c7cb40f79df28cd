"""Reads a corpus in memory: every search looks at every passage."""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from anabranch.models.embedder import Embedder, embed_queries
from anabranch.models.embedders import load_embedder
from anabranch.readers.document import Chunk
from anabranch.store.corpus_language import SAMPLE, language_of
from anabranch.store.filters import matches, parse_filters
from anabranch.store.index.bm25 import K1
from anabranch.store.protocol import Arm, CorpusInfo, Outline, Place, RankedList, Scope
from anabranch.store.records import Grown, embedded_text, facts_of, pages_of, rows_of, summary_of, text_key
from anabranch.store.writer_protocol import FileRecord
from anabranch.text.analyzer import analyser


class MemoryDocument(NamedTuple):
    """A document as it was written; `chunks` in reading order, parents before their children."""

    path: str
    digest: str
    columns: dict[str, str]
    metadata: dict[str, object]
    access: frozenset[str]
    pages: list[tuple[int, int]]
    chunks: tuple[Chunk, ...]

    def is_open_to(self, tags: Iterable[str]) -> bool:
        """Tell whether a caller with these access tags may see it."""
        return not self.access or not self.access.isdisjoint(tags)


class MemoryCorpus:
    """What was written under one name; the maps are replaced and never changed, so that readers need no lock."""

    def __init__(self) -> None:
        self.writing = threading.Lock()
        self.meta: dict[str, str] = {}
        self.files: dict[str, FileRecord] = {}
        self.documents: dict[str, MemoryDocument] = {}
        self.vectors: dict[tuple[str, str], NDArray[np.float32]] = {}
        self.is_changed = False
        self.generation = 0
        self.reader: MemoryReader | None = None


class MemoryReader:
    """A published state of a corpus in memory, implementing `CorpusReader` and all that is optional."""

    def __init__(self, address: str, corpus: MemoryCorpus, generation: int) -> None:
        """Analyse every leaf; documents are looked up in the corpus as it is when somebody asks.

        Raises:
            SettingsError: The embedder cannot be had.
        """
        meta = corpus.meta
        self._address = address
        self._corpus = corpus
        self.generation = generation
        self.embedder: Embedder = load_embedder(meta["spec"], meta.get("base_url") or None)
        self._leaves = [leaf for document in corpus.documents.values() for leaf in leaves_of(document)]
        # In the order of ids, as a folder takes them: the same documents have the same language in both stores.
        sample = sorted(self._leaves, key=lambda leaf: leaf.chunk_id)[:SAMPLE]
        # Made anew for each published state, because readers of the state before go on with theirs.
        self._analyser = analyser(meta.get("language") or language_of(leaf.text for leaf in sample))
        texts = [text_of(leaf) for leaf in self._leaves]
        self._terms = [self._analyser.terms(text) for text in texts]
        self._vectors = np.array([corpus.vectors[meta["embedder"], text_key(text)] for text in texts], dtype=np.float32)

    @property
    def leaf_count(self) -> int:
        """How many leaves it searches."""
        return len(self._leaves)

    async def info(self) -> CorpusInfo:
        """Count what is in it."""
        every = [chunk for document in self._corpus.documents.values() for chunk in document.chunks]
        return CorpusInfo(
            address=self._address,
            generation=self.generation,
            documents=len(self._corpus.documents),
            chunks=len(every),
            leaves=sum(chunk.level == 2 for chunk in every),
            tokens=sum(chunk.tokens for chunk in every if chunk.level == 0),
            embedder=self.embedder.name,
            dimension=self.embedder.dimension,
        )

    async def search(self, arm: Arm, queries: Sequence[str], k: int, scope: Scope) -> list[RankedList]:
        """Return one ranked list of leaves per query, filtered before ranking."""
        return await asyncio.to_thread(self._search, arm, queries, k, scope)

    def _search(self, arm: Arm, queries: Sequence[str], k: int, scope: Scope) -> list[RankedList]:
        rows = self._rows(scope)
        lists = []
        for query, scores in zip(queries, self._scored(arm, queries, scope), strict=True):
            asked = set(self._analyser.terms(query))
            # A passage without any of the words has a score of zero, and so may one with a word of every passage: the
            # words decide what is found, not the score.
            own = [row for row in rows if arm == "dense" or asked & set(self._terms[row])]
            best = sorted(own, key=lambda row, scores=scores: (-scores[row], row))[: max(k, 0)]  # type: ignore[misc]
            ids = [self._leaves[row].chunk_id for row in best]
            lists.append(RankedList(ids=ids, scores=[float(scores[row]) for row in best]))
        return lists

    async def scores(
        self, arm: Arm, queries: Sequence[str], ids: Sequence[str], scope: Scope
    ) -> list[dict[str, float]]:
        """Return, for each query, the score of each of these leaves as `search` gives it."""
        wanted = set(ids)
        rows = [row for row in self._rows(scope) if self._leaves[row].chunk_id in wanted]
        scored = await asyncio.to_thread(self._scored, arm, queries, scope)
        return [{self._leaves[row].chunk_id: float(scores[row]) for row in rows} for scores in scored]

    async def rare(self, scope: Scope) -> float:
        """Return what BM25 gives at most for a word that a single passage holds."""
        return self._rare(scope)

    async def chunks(self, ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
        """Fetch chunks with their text."""
        found = {chunk.chunk_id: chunk for document in self._visible(scope).values() for chunk in document.chunks}
        return {chunk_id: found[chunk_id] for chunk_id in dict.fromkeys(ids) if chunk_id in found}

    async def children(self, ids: Sequence[str], scope: Scope) -> dict[str, list[str]]:
        """Return each chunk's ids one level down in document order."""
        below: dict[str, list[str]] = {}
        for document in self._visible(scope).values():
            for chunk in document.chunks:
                below.setdefault(chunk.parent_id or "", []).append(chunk.chunk_id)
        return {chunk_id: below[chunk_id] for chunk_id in ids if chunk_id and chunk_id in below}

    async def outlines(self, scope: Scope, most: int) -> list[Outline]:
        """Return the documents in scope at a glance, by source."""
        found = sorted(self._visible(scope).items(), key=lambda each: each[1].columns["source"])[:most]
        return [
            Outline(doc_id, each.columns["title"], summary_of(each.metadata.get("summary")), len(leaves_of(each)))
            for doc_id, each in found
        ]

    async def leaves(self, doc_ids: Sequence[str], scope: Scope, most: int) -> dict[str, list[str]]:
        """Return the ids of the first `most` leaves of each document in its order."""
        found = self._visible(scope)
        return {
            doc_id: [leaf.chunk_id for leaf in leaves_of(found[doc_id])[:most]] for doc_id in doc_ids if doc_id in found
        }

    async def places(self, spots: Sequence[tuple[str, int]], scope: Scope) -> list[Place]:
        """Return where each spot is."""
        found = self._visible(scope)
        return [_place(found.get(doc_id), position) for doc_id, position in spots]

    async def idf(self, words: Sequence[str], scope: Scope) -> dict[str, float]:
        """Return the inverse document frequency of each analysed term of `words` in what the caller may read."""
        bm25, _ = self._bm25(scope)
        terms = {term for word in words for term in self._analyser.terms(word)}
        return {term: float(bm25.idf[term]) for term in terms if bm25 is not None and term in bm25.idf}

    async def occurring(self, words: Sequence[str], ids: Sequence[str], scope: Scope) -> dict[str, frozenset[str]]:
        """Return which analysed terms of `words` each of these leaves has."""
        asked = {term for word in words for term in self._analyser.terms(word)}
        rows = {self._leaves[row].chunk_id: row for row in self._rows(scope)}
        return {chunk_id: frozenset(asked & set(self._terms[rows[chunk_id]])) for chunk_id in ids if chunk_id in rows}

    async def analyse(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the terms that BM25 sees in each text."""
        return [self._analyser.terms(text) for text in texts]

    def _visible(self, scope: Scope) -> dict[str, MemoryDocument]:
        wanted = parse_filters(scope.filters)
        return {
            doc_id: each
            for doc_id, each in self._corpus.documents.items()
            if each.is_open_to(scope.access) and matches(wanted, each.columns, each.metadata)
        }

    def _rows(self, scope: Scope) -> list[int]:
        """Return the rows of the leaves that a caller may see now, in order."""
        there = {leaf.chunk_id for document in self._visible(scope).values() for leaf in leaves_of(document)}
        return [row for row, leaf in enumerate(self._leaves) if leaf.chunk_id in there]

    def _scored(self, arm: Arm, queries: Sequence[str], scope: Scope) -> list[NDArray[np.float64]]:
        """Return the scores of all rows for each query; those that the caller may not see have none that counts."""
        if arm == "dense":
            # One query at a time: what else is in a batch must not change a vector in its last bit.
            vectors = [embed_queries(self.embedder, [query])[0] for query in queries]
            return [np.asarray(self._vectors @ vector, dtype=np.float64) for vector in vectors]
        bm25, rows = self._bm25(scope)
        scored = [np.zeros(len(self._leaves)) for _ in queries]
        if bm25 is not None:
            for query, scores in zip(queries, scored, strict=True):
                scores[rows] = bm25.get_scores(self._analyser.terms(query))
        return scored

    def _bm25(self, scope: Scope) -> tuple[BM25Okapi | None, list[int]]:
        """Return the BM25 of what a caller may read, and its rows; None where there is no word."""
        # By access alone: filters narrow what comes back and change no score, or a score would depend on the filter.
        rows = self._rows(Scope(access=scope.access))
        terms = [self._terms[row] for row in rows]
        return (BM25Okapi(terms, epsilon=0) if any(terms) else None), rows

    def _rare(self, scope: Scope) -> float:
        bm25, _ = self._bm25(scope)
        if bm25 is None:
            return 0.0
        return max(0.0, math.log(bm25.corpus_size - 0.5) - math.log(1.5)) * (K1 + 1)


def document_of(grown: Grown) -> MemoryDocument:
    """Return a document as it is kept: with ids, as `records` makes them, and in reading order."""
    facts = {name: str(value) for name, value in facts_of(grown).items()}
    columns = {name: facts[name] for name in ("source", "title", "key", "doc_id")}
    chunks = [
        Chunk(
            chunk_id=row[0], doc_id=row[1], doc_key=facts["key"], source=facts["source"], title=facts["title"],
            heading=node.heading, page=node.page, page_end=node.page_end, level=node.level, parent_id=row[2],
            start=node.start, end=node.end, text=node.text, tokens=node.tokens,
        )
        for row, node in zip(rows_of(facts["doc_id"], grown), grown.tree.nodes, strict=True)
    ]  # fmt: skip
    # A parent begins where its first child does, and the level puts it in front.
    chunks.sort(key=lambda chunk: (chunk.start, chunk.level))
    access = frozenset(json.loads(facts["access"]))
    metadata = json.loads(facts["metadata"])
    return MemoryDocument(grown.path, grown.digest, columns, metadata, access, pages_of(grown), tuple(chunks))


def leaves_of(document: MemoryDocument) -> list[Chunk]:
    """Return the leaves of a document in its order."""
    return [chunk for chunk in document.chunks if chunk.level == 2]


def text_of(leaf: Chunk) -> str:
    """Return what is embedded and analysed of a leaf."""
    return embedded_text(leaf.title, leaf.heading, leaf.text)


def _place(document: MemoryDocument | None, position: int) -> Place:
    if document is None:
        return Place(None, "")
    before = [leaf for leaf in leaves_of(document) if leaf.start <= position]
    pages = [page for start, page in document.pages if start <= position]
    return Place(pages[-1] if pages else None, before[-1].heading if before else "", document.path)
