"""The protocol of a store for distributed ingestion: a table of jobs, one for each file to ingest."""

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
        path: Its identity in the corpus (`FileRecord.path`): its resolved path or its address.
        place: Where it was found; its name tells its kind.
        source: Its name for people.
        options: The options of its run, as JSON.
        access: The access tags of each file in it that has to be read, by identity; only its own unless it is an
            archive.
        gone: The identities of former files of that name that were gone when it was queued.
        id: Its number, 0 before it is queued.
        tries: How often it was attempted.
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
    """A job that was given up, or has a remark."""

    source: str
    error: str


class QueueState(NamedTuple):
    """The queue of a corpus at one moment.

    Attributes:
        todo: Waiting jobs.
        running: Jobs held by workers.
        done: Jobs that succeeded since the queue was last empty.
        failed: Jobs that were given up.
        workers: How many workers have jobs.
        passages: Passages written by jobs that ended in the last minute.
        files: The number of these jobs.
        queuing: Whether somebody is queuing files.
        published: Whether everything that was written is published.
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
        """Whether nothing is left to do, and nobody is queuing more."""
        return not self.todo and not self.running and not self.queuing


class QueueWriter(CorpusWriter, Protocol):
    """A writer beside others, and its jobs. Many may write at once; each obeys `CorpusWriter`.

    `write` skips documents of jobs that this worker has lost, and finishes the jobs that the batch completes in the
    same transaction.
    """

    def enqueue(self, jobs: Sequence[QueuedFile]) -> set[str]:
        """Queue files; return the paths of those that were skipped, because a worker is reading them."""
        ...

    def forget(self, path: str) -> None:
        """Drop the job of a file that is gone, unless a worker has it."""
        ...

    def begin(self) -> None:
        """Begin to queue: workers wait for more until this writer is closed. Finished jobs are dropped."""
        ...

    def queued(self) -> Iterator[str]:
        """Yield the paths of the jobs that wait for a worker, or were given up."""
        ...

    def claim(self, most: int, *, options: str, excluded: Collection[int], alone: bool) -> list[QueuedFile]:
        """Take jobs, oldest first; others leave them alone until the lease ends.

        Args:
            most: Most jobs to take.
            options: The run to take jobs of; empty for that of the oldest job.
            excluded: Jobs to skip.
            alone: Take one job whose workers died, and nothing else; otherwise take none of these.
        """
        ...

    def fail(self, job: QueuedFile, error: str, *, again: bool) -> None:
        """Give up a job, or leave it to another worker after a while if few have tried."""
        ...

    def note(self, job: QueuedFile, remark: str) -> None:
        """Store a remark with a job."""
        ...

    def finish_file(self, job: QueuedFile, path: str) -> None:
        """Finish a file of a job, and the job with its last file; `write` does so by itself."""
        ...

    def is_replaced(self, path: str) -> bool:
        """Tell whether a file is gone whose name a claimed one may take (`QueuedFile.gone`)."""
        ...

    def release(self) -> None:
        """Return all jobs of this worker to the queue; they count as not begun."""
        ...

    def state(self) -> QueueState:
        """Return the number of jobs in each state."""
        ...


@runtime_checkable
class QueueStore(Protocol):
    """A kind of store that several machines can write to at once."""

    def queue(self, address: StrPath, *, worker: str, lease: float) -> AbstractContextManager[QueueWriter]:
        """Return a writer beside others.

        Args:
            address: The address of an existing corpus.
            worker: The name of the worker, which stays the same when it reconnects.
            lease: Seconds that its jobs stay leased; renewed while it lives.

        Raises:
            CorpusNotFoundError: There is no corpus at that address.
            CorpusUnreachableError: The database does not answer.
        """
        ...


def open_queue(corpus: StrPath, *, worker: str, lease: float) -> AbstractContextManager[QueueWriter]:
    """Return a writer of a corpus beside other writers, and its jobs; see `QueueStore.queue`.

    Raises:
        SettingsError: The corpus is in a store with one writer at a time.
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
