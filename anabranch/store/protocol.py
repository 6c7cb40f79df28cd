"""The contract between the graph and wherever the passages live.

The embedded store (SQLite, FAISS, BM25 in one folder) is the first implementation; a server store has to pass the
same conformance suite (tests/store/test_conformance.py). Every method is async: blocking work is the store's own
business and crosses to a thread inside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from typing_extensions import TypedDict

from anabranch.models.embedder import Embedder
from anabranch.readers.document import Chunk
from anabranch.store.document_summaries import Outline
from anabranch.store.score_background import Background

Arm = Literal["bm25", "dense"]

Filters = Mapping[str, Any]
"""A filter expression, see `anabranch.store.filters`."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a search may see.

    Attributes:
        access: The caller's access tags. A document without tags is public; one with tags needs one of them here.
        filters: What the caller asked for on top; narrows, never widens.
    """

    access: tuple[str, ...] = ()
    filters: Filters | None = None


class RankedList(TypedDict):
    """One retriever's answer to one query, best first; JSON primitives only, because it lives in checkpoints.

    Attributes:
        ids: Chunk ids, no duplicates.
        scores: Raw scores of the arm (BM25, cosine), same length as `ids`, descending, python floats.
    """

    ids: list[str]
    scores: list[float]


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """What `corpus stats` shows and what `begin` checks."""

    path: str
    generation: int
    documents: int
    chunks: int
    leaves: int
    tokens: int
    embedder: str
    dimension: int
    bytes: int


class Place(NamedTuple):
    """Where some words are: 1-based page (None without pages, or where the document is gone), heading path, file.

    `path` is what the corpus knows the file by (`anabranch.store.file_identity`), empty where the document is gone.
    """

    page: int | None
    heading: str
    path: str = ""


class CorpusStore(Protocol):
    """Read side of a corpus, one immutable generation of it."""

    @property
    def embedder(self) -> Embedder:
        """The embedder that its vectors were made with."""
        ...

    @property
    def generation(self) -> int:
        """The index generation that this handle searches, from its opening to its end."""
        ...

    async def info(self) -> CorpusInfo:
        """Count what is in it."""
        ...

    async def edition(self) -> str:
        """Name this corpus as it is now: any change of its documents, their tags or its index makes another name."""
        ...

    async def search(self, arm: Arm, queries: Sequence[str], k: int, scope: Scope) -> list[RankedList]:
        """Return one ranked list of leaf chunks per query, at most `k` long, filtered before ranking.

        BM25 lists hold no chunk that shares no term with the query. Its scores count the documents that the caller may
        read and no others: they tell nothing of those that are hidden by access tags. Filters change no score.
        """
        ...

    async def scores(
        self, arm: Arm, queries: Sequence[str], ids: Sequence[str], scope: Scope
    ) -> list[dict[str, float]]:
        """Return, for each query, the score of each of these leaves, the same that `search` gives it.

        A leaf that shares no term with the query has a BM25 score of 0; what is gone, hidden or no leaf is absent.
        """
        ...

    async def background(self, queries: Sequence[str], scope: Scope) -> list[Background]:
        """Return how each query relates to the leaves in scope at large."""
        ...

    async def chunks(self, ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
        """Fetch chunks with their text; ids that are gone or out of scope are absent from the answer."""
        ...

    async def children(self, ids: Sequence[str], scope: Scope) -> dict[str, list[str]]:
        """Return, for each chunk id, the ids one level down in document order; a parent out of scope is absent."""
        ...

    async def outlines(self, scope: Scope, most: int) -> list[Outline]:
        """Return the documents in scope at a glance, by source, at most `most` of them."""
        ...

    async def leaves(self, doc_ids: Sequence[str], scope: Scope, most: int) -> dict[str, list[str]]:
        """Return the ids of the first `most` leaves of each document in its order; one out of scope is absent."""
        ...

    async def places(self, spots: Sequence[tuple[str, int]], scope: Scope) -> list[Place]:
        """Return where each spot is, a document id and a character of its text, as a reader would look for it."""
        ...

    async def idf(self, words: Sequence[str], scope: Scope) -> dict[str, float]:
        """Return the BM25 inverse document frequency of each analysed term of `words`.

        As in a score, documents hidden by access tags do not count, and filters change nothing. A term is absent where
        nothing that the caller may read holds it.
        """
        ...

    async def occurring(self, words: Sequence[str], ids: Sequence[str], scope: Scope) -> dict[str, frozenset[str]]:
        """Return which analysed terms of `words` BM25 finds each of these leaves by (absent: gone or hidden)."""
        ...

    async def analyse(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the terms that BM25 sees in each text: folded, stemmed, stop words removed, duplicates kept."""
        ...
