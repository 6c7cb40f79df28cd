"""What a graph asks of a store of passages; what an ingest asks is in `anabranch.store.writer_protocol`.

`CorpusReader` is all that a question needs. What else a store can do it shows by having the methods of `FullScores`,
`MetadataSample`, `Outlines`, `Originals` or `TermStatistics`; who needs those asks with `isinstance` and does with less
without them. `anabranch_conformance` are the tests that every store has to pass. Every method is async: blocking work
is the store's own business and crosses to a thread inside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

# Authors of stores find these here, whose signatures name them.
from anabranch.types import Arm as Arm  # noqa: PLC0414
from anabranch.types import Chunk
from anabranch.types import RankedList as RankedList  # noqa: PLC0414

if TYPE_CHECKING:
    from anabranch.models.embedder import Embedder

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


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """What a corpus holds; `address` is how it is opened."""

    address: str
    generation: int
    documents: int
    chunks: int
    leaves: int
    tokens: int
    embedder: str
    dimension: int


class Place(NamedTuple):
    """Where some words are: 1-based page (None without pages, or where the document is gone), heading path, file.

    `path` is what the corpus knows the file by (`anabranch.store.file_identity`), empty where the document is gone.
    """

    page: int | None
    heading: str
    path: str = ""


MAX_METADATA = 10_000
"""Most characters of a document's metadata, as JSON, that a sample of them holds."""

LOOKED_AT = 20
"""Documents that are looked at for each of a sample: a caller who may read few of many gets a smaller one."""


class Outline(NamedTuple):
    """One document at a glance.

    Attributes:
        doc_id: See `Chunk.doc_id`.
        title: See `Document.title`.
        summary: The field `summary` of its metadata; where there is no such text, what a chat model wrote of it
            (`SummaryWriter`), or nothing.
        leaves: How many leaves it has.
    """

    doc_id: str
    title: str
    summary: str
    leaves: int


class Original(NamedTuple):
    """The file that a document was read from, as the corpus noted it.

    Attributes:
        source: See `Document.source`.
        title: See `Document.title`.
        path: See `Place.path`.
        sha256: Of the file's bytes in hexadecimal, empty where that is not known.
        pages: Number of the last page that has text, 0 for a format without pages.
        file: What a person calls the file, which may hold several documents.
        access: The document's access tags.
    """

    source: str
    title: str
    path: str
    sha256: str
    pages: int
    file: str
    access: tuple[str, ...]


# For each query of each retriever, scores by the ids of leaves. A leaf that shares no term with the query has a BM25
# score of 0; what is gone, hidden or no leaf is absent.
Scores = dict[Arm, list[dict[str, float]]]


class CorpusReader(Protocol):
    """One state of a corpus, to be searched; later changes of access tags and removals count at once all the same."""

    @property
    def embedder(self) -> Embedder:
        """The embedder that its vectors were made with."""
        ...

    @property
    def generation(self) -> int:
        """Which state it is: greater after each `CorpusWriter.publish` that changed something, at least 1."""
        ...

    async def info(self) -> CorpusInfo:
        """Count what is in it."""
        ...

    async def search(self, arm: Arm, queries: Sequence[str], k: int, scope: Scope) -> list[RankedList]:
        """Return one ranked list of leaf chunks per query, at most `k` long, filtered before ranking.

        BM25 lists hold no chunk that shares no term with the query. Its scores count the documents that the caller may
        read and no others: they tell nothing of those that are hidden by access tags. Filters change no score.

        Raises:
            SettingsError: The filters are malformed; so do all methods that take a scope.
        """
        ...

    async def chunks(self, ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
        """Fetch chunks with their text; ids that are gone or out of scope are absent from the answer."""
        ...

    async def children(self, ids: Sequence[str], scope: Scope) -> dict[str, list[str]]:
        """Return, for each chunk id, the ids one level down in document order; a parent out of scope is absent."""
        ...

    # Asked for by the citations of an answer, so few at a time: a place costs a look at the pages of a document.
    async def places(self, spots: Sequence[tuple[str, int]], scope: Scope) -> list[Place]:
        """Return where each spot is, a document id and a character of its text, as a reader would look for it."""
        ...

    async def analyse(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the terms that BM25 sees in each text: folded, stemmed, stop words removed, duplicates kept."""
        ...


# Checked by the names of methods alone, which is what `isinstance` does with protocols: a store of another package need
# not import anything of ours.
@runtime_checkable
class FullScores(CorpusReader, Protocol):
    """A store that gives the scores of any passage, which the fusion `complete` needs."""

    async def scores(self, queries: Mapping[Arm, Sequence[str]], ids: Sequence[str], scope: Scope) -> Scores:
        """Return the score of each of these leaves for each query, the same that `search` gives it."""
        ...


@runtime_checkable
class Outlines(CorpusReader, Protocol):
    """A store that lists its documents, which the retriever 'llm' needs."""

    async def outlines(self, scope: Scope, most: int) -> list[Outline]:
        """Return the documents in scope at a glance, by source, at most `most` of them."""
        ...

    async def leaves(self, doc_ids: Sequence[str], scope: Scope, most: int) -> dict[str, list[str]]:
        """Return the ids of the first `most` leaves of each document in its order; one out of scope is absent."""
        ...


@runtime_checkable
class MetadataSample(CorpusReader, Protocol):
    """A store that shows the metadata of its documents, so that a filter can be inferred from a question."""

    async def sample_metadata(self, scope: Scope, most: int) -> list[dict[str, Any]]:
        """Return the metadata of at most `most` documents in scope, drawn evenly, with the title as the key `title`.

        Documents with more than `MAX_METADATA` characters of metadata are left out, and so is what is beyond
        `LOOKED_AT` times `most` documents of the whole corpus.
        """
        ...


@runtime_checkable
class Originals(CorpusReader, Protocol):
    """A store that knows the files of its documents, so that the page of a quote can be shown."""

    async def originals(self, doc_ids: Sequence[str], scope: Scope) -> dict[str, Original]:
        """Return the file of each document by its id; one that is gone or out of scope is absent."""
        ...


@runtime_checkable
class TermStatistics(CorpusReader, Protocol):
    """A store that knows how rare words are, to judge evidence and choose sentences; without, all count the same."""

    async def idf(self, words: Sequence[str], scope: Scope) -> dict[str, float]:
        """Return the BM25 inverse document frequency of each analysed term of `words`.

        As in a score, documents hidden by access tags do not count, and filters change nothing. A term is absent where
        nothing that the caller may read holds it.
        """
        ...

    async def occurring(self, words: Sequence[str], ids: Sequence[str], scope: Scope) -> dict[str, frozenset[str]]:
        """Return which analysed terms of `words` BM25 finds each of these leaves by (absent: gone or hidden)."""
        ...
