"""The protocol of writing to a store. Not async: an ingest has a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from anabranch.models.embedder import Vectors
from anabranch.store.records import Grown


class FileRecord(NamedTuple):
    """A file that was taken in.

    Attributes:
        path: Its location, or another identity.
        source: Its name for people.
        sha256: The digest of its bytes; empty if it has to be read again.
        access: The tags that were given with it.
        complete: Whether all documents that it holds were seen (`CorpusWriter.see`): the others of it are gone.
        stamp: Its size and times in the file system when it was read; empty where these are unreliable.
    """

    path: str
    source: str
    sha256: str
    access: tuple[str, ...]
    complete: bool = True
    stamp: str = ""

    def unread(self) -> FileRecord:
        """Return the record of a file that has to be read again and keeps its former documents."""
        # No hash, so that the next run reads it; not complete, so that unread documents are not removed.
        return self._replace(sha256="", stamp="", complete=False)


class WriteResult(NamedTuple):
    """The outcome of a transaction.

    Attributes:
        removed: How many documents of each file were removed because it does not hold them any more.
        refused: The documents that the store did not take, and why.
    """

    removed: dict[str, int]
    refused: list[tuple[Grown, str]]


class BareDocument(NamedTuple):
    """A document without a summary; `digest` names its edition (`content_digest`)."""

    doc_id: str
    digest: str
    source: str
    title: str


class Summary(NamedTuple):
    """What a chat model wrote of one edition of a document."""

    doc_id: str
    digest: str
    text: str


class Progress(Protocol):
    """Called with the stage of a long task on a corpus, the amount done and the total (0 if unknown)."""

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None:
        """Show it."""
        ...


def silent(stage: str, done: int, total: int, detail: str = "") -> None:  # the signature of `Progress`
    """Show nothing."""


class CorpusWriter(Protocol):
    """All that an ingest needs of a store. One writer at a time; each method's writes survive a kill.

    Searches find writes only after `publish`; removals take effect at once.
    """

    def meta(self, name: str) -> str | None:
        """Return a fact about the corpus, such as `embedder`, `sizes` or `language`; None where none was kept."""
        ...

    def keep_meta(self, facts: Mapping[str, str]) -> None:
        """Keep facts about the corpus."""
        ...

    def is_empty(self) -> bool:
        """Tell whether it holds no document."""
        ...

    def file(self, path: str) -> FileRecord | None:
        """Return what is known of a file that was taken in."""
        ...

    def files(self) -> Iterable[FileRecord]:
        """Return each file that was taken in, by source."""
        ...

    def counts(self, path: str) -> tuple[int, int]:
        """Return how many documents and chunks a file holds."""
        ...

    def tags(self, path: str) -> frozenset[str]:
        """Return all access tags of a file and of the documents in it."""
        ...

    def holds(self, doc_id: str, digest: str, path: str) -> bool:
        """Tell whether a document is here exactly as it is in its file."""
        ...

    def origin(self, source: str) -> str | None:
        """Return the path of the file that a document of that name is from, None where there is no such document."""
        ...

    def see(self, path: str, doc_id: str) -> bool:
        """Note that a file holds a document; False if that was noted in this run before."""
        ...

    def dimension(self) -> int:
        """Return the length of its vectors, 0 where there are none, without calling the embedder."""
        ...

    def missing_vectors(self, texts: Sequence[str], embedder: str) -> dict[str, str]:
        """Return the texts that have no vector of this embedder yet, by their key (`anabranch.store.records`)."""
        ...

    def add_vectors(self, keys: Sequence[str], vectors: Vectors, embedder: str) -> None:
        """Keep vectors, shape (keys, dimension); they count for nothing until a leaf names them."""
        ...

    def write(self, batch: Sequence[Grown], files: Sequence[FileRecord]) -> WriteResult:
        """Replace documents, and record the files that are finished by them, all in one transaction.

        If the store rejects a document, its former edition stays, and its file counts as not read.
        """
        ...

    def named(self, source: str) -> list[str]:
        """Return the ids of the documents of that source, or of a file of that source, or that match it as a pattern.

        A name that looks like a shell pattern is a name first.
        """
        ...

    def remove_documents(self, doc_ids: Sequence[str]) -> int:
        """Remove documents and return how many those were; a file that loses one is read again by the next run."""
        ...

    def remove_file(self, path: str) -> int:
        """Remove a file and its documents; return how many those were."""
        ...

    def publish(self, *, quick: bool = False, progress: Callable[[int, int], None] | None = None) -> None:
        """Make writes visible to searches; does nothing if nothing has changed.

        Args:
            quick: Postpone what can wait, such as compaction, because the user wants the run to end.
            progress: Called with the leaves done and the leaves in all.
        """
        ...


@runtime_checkable
class SummaryWriter(CorpusWriter, Protocol):
    """A store that keeps summaries beside its documents, which `anabranch ingest --summaries` needs.

    A summary is a chat model's words, and no document's: `Outlines.outlines` alone returns it, for a document whose
    metadata have none. It goes when the document is removed or changes, and is found at once; copies that are published
    have it once `publish` was called.
    """

    def list_unsummarised(self, after: str, most: int) -> list[BareDocument]:
        """Return documents that have leaves and no summary, by source, at most `most` with a source after `after`."""
        ...

    def sample_leaves(self, doc_id: str, most: int) -> list[str]:
        """Return the text of at most `most` leaves of a document, in its order: all of them, or evenly spread ones."""
        ...

    def keep_summaries(self, summaries: Sequence[Summary]) -> int:
        """Keep summaries of documents that are still in these editions; return how many those are."""
        ...
