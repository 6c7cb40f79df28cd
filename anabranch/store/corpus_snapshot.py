"""All of a corpus at one moment, as its owner sees it: for listing, verifying, exporting and copying."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from anabranch.store.stored_document import ExaminedDocument
from anabranch.store.writer_protocol import FileRecord, Progress, Summary


@dataclass(frozen=True, slots=True)
class Overview:
    """What a corpus holds.

    Attributes:
        generation: Number of the current index, 0 where there is none.
        is_current: Whether the index is up to date.
        bytes: Of all files; in PostgreSQL of the tables, in which all corpora of a database are.
        problem: Why the index cannot be used, judged by its manifest; `verify` checks its files.
        advice: How to update an index that is not current.
    """

    path: str
    generation: int
    documents: int
    chunks: int
    leaves: int
    tokens: int
    embedder: str
    dimension: int
    bytes: int
    is_current: bool
    problem: str = ""
    advice: str = "The next search rebuilds it, or run `anabranch corpus rebuild`."


@dataclass(frozen=True, slots=True)
class Listed:
    """One document of a list."""

    source: str
    title: str
    key: str
    access: list[str]
    tokens: int
    chunks: int


FindingKind = Literal["history", "index", "document", "database"]
"""What has to be repaired: lost changes, the index, vectors, a document, or the whole corpus."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem or remark.

    Attributes:
        kind: See `FindingKind`.
        said: The message for people.
        is_remark: Whether the corpus is sound all the same.
    """

    kind: FindingKind
    said: str
    is_remark: bool = False


class FileEntry(NamedTuple):
    """The record of a file that was taken in, and how many documents of the corpus are from it."""

    record: FileRecord
    documents: int


class CorpusListing(Protocol):
    """What a corpus holds at one moment, whatever its access tags."""

    def overview(self) -> Overview:
        """Count what is in it.

        Raises:
            CorpusDamagedError: It cannot be read; so does the other method.
        """
        ...

    def listed(self, most: int | None) -> Iterator[Listed]:
        """Yield its documents by source, at most `most` of them."""
        ...


class CorpusSnapshot(CorpusListing, Protocol):
    """All of a corpus at one moment, whatever its access tags and whatever is written meanwhile."""

    @property
    def address(self) -> str:
        """Where the corpus is, without a password."""
        ...

    def facts(self) -> dict[str, str]:
        """Return the facts about the corpus that were kept (`CorpusWriter.keep_meta`).

        Raises:
            CorpusDamagedError: They cannot be read; so do the other methods.
        """
        ...

    def dimension(self) -> int:
        """Return the length that most of its vectors have, 0 where there are none."""
        ...

    def count(self) -> int | None:
        """Return how many documents it has, None where they cannot be counted."""
        ...

    def documents(self) -> Iterator[ExaminedDocument]:
        """Yield each document with its chunks and what is wrong with it; one is in memory at a time."""
        ...

    def document(self, doc_id: str) -> ExaminedDocument | None:
        """Return one document as `documents` yields it, None where there is none of that id."""
        ...

    def vectors(self, document: ExaminedDocument) -> list[bytes | None]:
        """Return the vector of each leaf in document order, 32-bit numbers; None for one that is missing or none."""
        ...

    def files(self) -> Iterator[FileEntry]:
        """Yield the record of each file that was taken in."""
        ...

    def summaries(self) -> Iterator[Summary]:
        """Yield what a chat model wrote of documents, by id."""
        ...

    def findings(self, progress: Progress) -> Iterator[Finding]:
        """Yield what is wrong with it, and what is worth a remark."""
        ...
