"""Reads many files in processes of their own, ahead of whoever takes the documents, and hands them over in order.

A file that hangs, blows up or kills its process costs itself; the process is replaced and the others go on. Processes
are started when somebody waits for documents, not before: where embedding is what takes the time, one is enough. Each
has a thread here, which gives it jobs and replaces it when it dies; one more thread ends those that fall silent.

Not `concurrent.futures` nor `multiprocessing.Pool`: these answer in pickle, which lets whoever has broken a parser of
hostile files send code to the parent, and neither can end one process at work.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from anabranch.errors import OperationError
from anabranch.ingestion.change_detection import Arrival
from anabranch.ingestion.isolation.job_queue import Job, JobQueue
from anabranch.ingestion.isolation.read_and_chunk import FilePart, read_and_chunk
from anabranch.ingestion.isolation.reader_process import COMMAND, ReaderProcess
from anabranch.ingestion.isolation.worker_protocol import Frame, Setup, Tag, leaves, of_error, reason, to_part
from anabranch.readers import READERS

MOST_PROCESSES = 8

# Of frames that wait to be taken, and of files that are known to come.
_HELD_BYTES = 32 << 20
_AHEAD_FILES, _AHEAD_BYTES = 256, 64 << 20

# How long, all in all, one waits for documents before another process is started: longer than the start of one takes.
_PATIENCE_SECONDS = 0.5

# One changed note must not pay for a process. These formats have readers that cannot run away with so few bytes.
_HERE_BYTES = 64 << 10
_HERE = frozenset({".jsonl", ".log", ".markdown", ".md", ".ndjson", ".text", ".txt"})

_LOOK_SECONDS = 0.25
_FAREWELL_SECONDS = 10.0


class ReaderPool:
    """Processes for one run, to be used in a `with` block, at whose end they are gone."""

    def __init__(self, setup: Setup, *, processes: int = 0, ahead: int = 0, command: Sequence[str] = COMMAND) -> None:
        """Start nothing yet.

        Args:
            setup: What each process has to know.
            processes: The most; 0 for as many as there are cores, up to MOST_PROCESSES.
            ahead: How many files may be known to come; 0 for as many as are good for one run alone.
            command: What to start as a reading process.
        """
        self.processes = 0
        """How many processes serve."""
        self._setup = setup
        self._command = command
        self._most = processes or min(MOST_PROCESSES, _cores())
        self._ahead = ahead or _AHEAD_FILES
        self._jobs = JobQueue(_HELD_BYTES)
        self._here = _HERE_BYTES
        self._waited = 0.0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._threads: list[threading.Thread] = []
        self._running: set[ReaderProcess] = set()
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def __enter__(self) -> Self:
        """Enter the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all processes and threads; what they were at is lost."""
        self._closing.set()
        self._jobs.close()
        with self._lock:
            for process in self._running:
                process.kill()
        for thread in self._threads:
            # They end at once. Should a Ctrl-C have left a lock behind, nobody waits for ever: they are daemons.
            thread.join(_FAREWELL_SECONDS)
        if self._folder is not None:
            self._folder.cleanup()

    def read(self, files: Iterable[Arrival]) -> Iterator[tuple[Arrival, Iterator[FilePart]]]:
        """Yield each file with its parts, in order; the parts are to be taken before the next file is asked for.

        Iterating over the parts of a file raises `ReadingError` where the file cannot be read (any further), with the
        reasons of `read` and `timeout`, `memory` and `crashed`.

        Args:
            files: Gone through ahead of the files that are yielded, in the caller's thread.

        Raises:
            OperationError: No process can be started.
        """
        supply = iter(files)
        ahead: deque[tuple[Arrival, Job | None]] = deque()
        while self._look_ahead(ahead, supply):
            file, job = ahead.popleft()
            yield file, self._parts(file, job)

    def _look_ahead(self, ahead: deque[tuple[Arrival, Job | None]], supply: Iterator[Arrival]) -> bool:
        """Make jobs of the files that come next; False if there are none."""
        size = sum(file.size for file, _ in ahead)
        # At least one file for each process, however large they are.
        while len(ahead) < self._most or (len(ahead) < self._ahead and size < _AHEAD_BYTES):
            file = next(supply, None)
            if file is None:
                break
            ahead.append((file, self._job_for(file)))
            size += file.size
        return bool(ahead)

    def _job_for(self, file: Arrival) -> Job | None:
        """Return a job for the processes; None for a file that is read here."""
        kind = file.path.suffix.lower()
        if kind not in READERS or (kind in _HERE and file.size <= self._here):
            # A budget for the run and not for a file: ten thousand notes are read by the processes.
            self._here -= file.size
            return None
        job = Job(file.path, file.source, file.real)
        self._jobs.place(job)
        if not self.processes:
            self._add_process()
        return job

    def _parts(self, file: Arrival, job: Job | None) -> Iterator[FilePart]:
        if job is None:
            yield from read_and_chunk(file.path, file.source, self._setup.options, real=file.real)
            return
        while True:
            frame = self._awaited(job)
            if frame is None:
                continue
            if frame.tag == Tag.END:
                return
            yield to_part(frame)

    def _awaited(self, job: Job) -> Frame | None:
        """Return the next frame, or None where another process was called for; one that comes in time costs nothing."""
        began = time.monotonic()
        frame = self._jobs.take(job, _PATIENCE_SECONDS - self._waited)
        self._waited += time.monotonic() - began
        if self._waited >= _PATIENCE_SECONDS:
            self._waited = 0.0
            if self._jobs.waiting and self.processes < self._most:
                self._add_process()
        return frame

    def _add_process(self) -> None:
        if self._folder is None:
            # What a process that is killed leaves behind goes with the run.
            self._folder = tempfile.TemporaryDirectory(prefix="anabranch-", ignore_cleanup_errors=True)
            self._start_thread(self._end_silent)
        self._start_thread(self._serve)
        self.processes += 1

    def _start_thread(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name="anabranch-reading", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _end_silent(self) -> None:
        while not self._closing.wait(_LOOK_SECONDS):
            with self._lock:
                for process in self._running:
                    process.end_if_silent()

    def _serve(self) -> None:
        """Do jobs, with one process after the other, until there are no more."""
        process: ReaderProcess | None = None
        try:
            while (job := self._jobs.next()) is not None:
                is_done = False
                while not is_done:
                    process = process or self._started()
                    is_done, process = self._do(job, process)
        except Exception as error:  # noqa: BLE001  # whoever waits for the frames has to hear of it
            self._jobs.fail(error)
        finally:
            if process is not None:
                self._end(process)

    def _do(self, job: Job, process: ReaderProcess) -> tuple[bool, ReaderProcess | None]:
        """Hand on the answer to a job; return whether that was it, and the process if it takes further ones."""
        was_used, has_sent = process.orders > 0, False
        process.order(job.path, job.source, job.real)
        for frame in self._answer(process, job):
            is_leaving = frame.is_last and leaves(frame)
            if is_leaving:
                self._end(process)
                # A file is not to blame for what those before it have left behind: a fresh process tries again.
                if was_used and not has_sent and reason(frame) in ("memory", "crashed"):
                    return False, None
            self._jobs.put(job, frame)
            has_sent = True
            if is_leaving:
                return True, None
        return True, process

    def _answer(self, process: ReaderProcess, job: Job) -> Iterator[Frame]:
        while (head := process.head()) is not None:
            # False at the end of the run, and nobody would take the frame.
            if not self._jobs.wait_for_room(job, head[1]):
                return
            frame = process.body(*head)
            if frame is None:
                break
            if frame.tag != Tag.BEAT:
                yield frame
            if frame.is_last:
                return
        yield of_error(process.fault(job.source), leaves=True)

    def _started(self) -> ReaderProcess:
        process = ReaderProcess(self._setup, Path(self._folder.name if self._folder else "."), self._command)
        with self._lock:
            self._running.add(process)
            if self._closing.is_set():
                process.kill()
        try:
            process.greet()
        except OperationError:
            self._end(process)
            raise
        return process

    def _end(self, process: ReaderProcess) -> None:
        with self._lock:
            self._running.discard(process)
        process.close()


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
