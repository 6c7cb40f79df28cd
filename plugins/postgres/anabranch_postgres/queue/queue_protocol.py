"""What distributed ingestion asks of a store: a table of jobs, one for each file that somebody has to take in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, runtime_checkable

from anabranch.errors import SettingsError
from anabranch.store.corpus_address import StrPath, shown_address
from anabranch.store.stores import store_of
from anabranch.store.writer_protocol import CorpusWriter


class QueuedFile(NamedTuple):
    """A job: a file, page or archive that has to be read.

    Attributes:
        path: What the corpus knows it by (`FileRecord.path`): where it lies, behind all links, or its address.
        place: Where it was found; its name tells its kind.
        source: What a person calls it.
        options: How all files of its run are read, as JSON.
        access: The access tags of each file in it that has to be read, by what the corpus knows that by; it alone
            unless it is an archive.
        gone: What the corpus knows those files by that had its name and are gone, as who has queued it could see.
        id: Its number, 0 before it is queued.
        tries: How often it was begun.
    """

    path: str
    place: str
    source: str
    options: str
    access: Mapping[str, Sequence[str]]
    gone: Sequence[str] = ()
    id: int = 0
    tries: int = 0


class QueueFailure(NamedTuple):
    """A job that was given up, or that has a remark."""

    source: str
    error: str


class QueueState(NamedTuple):
    """The queue of a corpus at one moment.

    Attributes:
        todo: Jobs that nobody has.
        running: Jobs that a worker has.
        done: Jobs that ended well since the queue was empty last.
        failed: Jobs that were given up.
        workers: How many workers have jobs.
        passages: Passages that were written by jobs that ended in the last minute.
        files: How many jobs those were.
        queuing: Whether somebody is queuing files.
        published: Whether searches find everything that was written.
        failures: The latest failures and remarks.
    """

    todo: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0
    workers: int = 0
    passages: int = 0
    files: int = 0
    queuing: bool = False
    published: bool = True
    failures: Sequence[QueueFailure] = ()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to do, and nobody is about to bring more."""
        return not self.todo and not self.running and not self.queuing


class QueueWriter(CorpusWriter, Protocol):
    """A writer beside others, and its jobs. Many may write at once; what `CorpusWriter` says of one holds for each.

    `write` leaves out what belongs to a job that this worker does not have any more, and ends the jobs that the batch
    completes in the same transaction.
    """

    def enqueue(self, jobs: Sequence[QueuedFile]) -> set[str]:
        """Queue files; return the paths of those that were left alone, because a worker has them just now."""
        ...

    def forget(self, path: str) -> None:
        """Drop the job of a file that is gone, unless a worker has it."""
        ...

    def begin(self) -> None:
        """Begin to queue: workers wait for more until this writer is closed. Jobs that are done are dropped."""
        ...

    def queued(self) -> Iterator[str]:
        """Yield the paths of the jobs that wait for a worker, or were given up."""
        ...

    def claim(self, most: int, *, options: str, but: Collection[int], alone: bool) -> list[QueuedFile]:
        """Take jobs, oldest first; others leave them alone until the lease ends.

        Args:
            most: How many at most.
            options: Only of that run; empty for that of the oldest job.
            but: Not these.
            alone: One that several workers had and did not end, and nothing else; otherwise none of those.
        """
        ...

    def fail(self, job: QueuedFile, error: str, *, again: bool) -> None:
        """Give a job up, or after a while to the next worker, if few have tried."""
        ...

    def note(self, job: QueuedFile, remark: str) -> None:
        """Keep a remark with a job."""
        ...

    def finish_file(self, job: QueuedFile, path: str) -> None:
        """End a job if that was the last file in it which nothing was said of yet; `write` does so by itself."""
        ...

    def is_replaced(self, path: str) -> bool:
        """Tell whether a file is gone whose name a claimed one may have (`QueuedFile.gone`)."""
        ...

    def release(self) -> None:
        """Give back all jobs that this worker has; they count as not begun."""
        ...

    def state(self) -> QueueState:
        """Return how many jobs are where."""
        ...


@runtime_checkable
class QueueStore(Protocol):
    """A kind of store that several machines can write to at once."""

    def queue(self, address: StrPath, *, worker: str, lease: float) -> AbstractContextManager[QueueWriter]:
        """Return a writer beside others.

        Args:
            address: Where the corpus is, which has to exist.
            worker: What the worker is known by, also after it has lost its connection and made another.
            lease: For how many seconds its jobs are its own, again and again while it lives.

        Raises:
            CorpusNotFoundError: There is no corpus at that address.
            CorpusUnreachableError: The database does not answer.
        """
        ...


def open_queue(corpus: StrPath, *, worker: str, lease: float) -> AbstractContextManager[QueueWriter]:
    """Return a writer of a corpus beside other writers, and its jobs; see `QueueStore.queue`.

    Raises:
        SettingsError: The corpus is in a store to which one writes at a time.
        CorpusNotFoundError: There is no corpus at that address.
    """
    store = store_of(corpus)
    if not isinstance(store, QueueStore):
        msg = f"Several machines cannot write to {shown_address(corpus)!r} at once."
        hint = (
            "Use `anabranch ingest` for it, or keep the corpus in PostgreSQL: --corpus postgresql://host/database#name"
        )
        raise SettingsError(msg, hint=hint)
    return store.queue(corpus, worker=worker, lease=lease)
