"""The files of a worker's claimed jobs, as the input of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from anabranch.ingestion.change_detection import Arrival, ChangeCheck, Unchanged
from anabranch.ingestion.directory_walk import FoundFile, Walked, identity_of
from anabranch.ingestion.ingest_report import FileRow, Status, Tally
from anabranch.ingestion.sources import Gathered, gather_addresses
from anabranch.readers.document import Failure
from anabranch.store.file_identity import is_url
from anabranch.text.normalization import storable
from anabranch_postgres.queue.queue_protocol import QueuedFile, QueueWriter

CLAIMED = 8
"""Jobs per claim: few, so that all workers share a small folder."""

TRIED_AGAIN = frozenset({"crashed", "memory", "timeout", "unreachable", "unreadable"})
"""Failures that may not happen again, perhaps on another machine. An encrypted file stays encrypted."""


class ClaimedFiles:
    """Claims jobs during the iteration until there are none; can be iterated once."""

    folders: Collection[Path] = ()

    def __init__(self, queue: QueueWriter, first: Sequence[QueuedFile], folder: Path, *, private_urls: bool) -> None:
        """Take the first claimed jobs; later ones are of the same run. Copies go into `folder`."""
        self._queue = queue
        self._first = first
        self._folder = folder
        self._private_urls = private_urls
        self._had = {job.id for job in first}
        self._items: list[tuple[QueuedFile, str]] = []

    def __len__(self) -> int:
        """Return the number of files known so far."""
        return len(self._items)

    def __iter__(self) -> Iterator[FoundFile | Failure]:
        """Yield each file, or a failure if it cannot be fetched."""
        jobs = self._first
        while jobs:
            for job in jobs:
                yield from self._files_of(job)
            # Skip jobs that have just failed here: their documents would count as seen twice.
            options = self._first[0].options
            jobs = self._queue.claim(CLAIMED, options=options, excluded=self._had, alone=False)
            self._had |= {job.id for job in jobs}

    def find_job(self, number: int) -> tuple[QueuedFile, str]:
        """Return the job of a file by number, and the file's identity in the corpus."""
        return self._items[number]

    def look(self, number: int, found: FoundFile, folders: Collection[Path] = ()) -> Arrival | Unchanged:
        """Look at a file, whose tags were determined when it was queued.

        Raises:
            OSError: It cannot be looked at.
        """
        job, path = self.find_job(number)
        return ChangeCheck(self._queue, job.access[path], inherits=False).look(number, found, folders)

    def _files_of(self, job: QueuedFile) -> Iterator[FoundFile | Failure]:
        missing = set(job.access)
        for item in self._gather(job):
            path = identity_of(item) if isinstance(item, FoundFile) else _identity(job, item)
            if path in missing or path == job.path:
                missing.discard(path)
                self._items.append((job, path))
                yield item
            elif isinstance(item, FoundFile):
                item.discard()  # an unchanged member
        for path in missing:
            self._queue.note(job, "a file in it no longer existed")
            self._queue.finish_file(job, path)

    def _gather(self, job: QueuedFile) -> Gathered:
        if is_url(job.path):
            return gather_addresses([job.path], self._folder, private_urls=self._private_urls)
        # Use the path resolved at queuing: a link created since is not followed.
        file = FoundFile(Path(job.place), job.source, real=Path(job.path))
        return Gathered(Walked((file,), ()), self._folder, archives=True)


def _identity(job: QueuedFile, failure: Failure) -> str:
    return storable(f"{job.path}{failure.source.removeprefix(job.source)}")


class QueueTally(Tally):
    """Reports the outcome of each file to the queue, and counts."""

    def __init__(self, queue: QueueWriter, files: ClaimedFiles, listener: Callable[[FileRow], None]) -> None:
        """Call `listener` with every failure."""
        super().__init__()
        self.counts: Counter[Status] = Counter()
        self._queue = queue
        self._files = files
        self._listener = listener

    def add(self, number: int, row: FileRow) -> None:
        """Report the outcome of a file without storing it, for there may be millions."""
        self._count(row)
        self._queue.finish_file(*self._files.find_job(number))

    def fail(self, number: int, source: str, reason: str, message: str) -> None:
        """Report that a file cannot be read."""
        job, path = self._files.find_job(number)
        self._count(FileRow(source, "failed", f"{reason}: {message}"))
        if job.path in job.access:
            self._queue.fail(job, f"{reason}: {message}", again=reason in TRIED_AGAIN)
        else:
            self._queue.note(job, f"{source}: {reason}: {message}")
            self._queue.finish_file(job, path)

    def fail_part(self, number: int, file: str, source: str, reason: str, message: str) -> None:  # noqa: ARG002
        """Report that a part of a file cannot be read."""
        self._listener(FileRow(source, "failed", f"{reason}: {message}"))
        self._queue.note(self._files.find_job(number)[0], f"{source}: {reason}: {message}")

    def _count(self, row: FileRow) -> None:
        self.counts[row.status] += 1
        if row.status == "failed":
            self._listener(row)
