"""Read many files in separate processes, ahead of the consumer, and return the documents in order.

A file that hangs, needs too much memory or kills its process affects only itself; the process is replaced. Processes
are started only while the consumer waits for documents: if embedding takes longer than reading, one is enough. Each has
a thread here, which gives it jobs and replaces it when it dies; another thread kills the silent ones.

Why not `concurrent.futures` or `multiprocessing.Pool`: they reply in pickle, so that a hostile file that takes over a
parser could send code to the parent, and they cannot kill one busy process.
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

from anabranch.errors import OperationError, ReadingError
from anabranch.ingestion.change_detection import Arrival
from anabranch.ingestion.isolation.job_queue import Job, JobQueue
from anabranch.ingestion.isolation.read_and_chunk import FilePart, read_and_chunk
from anabranch.ingestion.isolation.reader_process import COMMAND, ReaderProcess
from anabranch.ingestion.isolation.worker_protocol import Frame, Setup, Tag, error_frame, leaves, parse_part, reason
from anabranch.readers import READERS, Failure, extension_of
from anabranch.readers.faults import refuse, refuse_faults

MOST_PROCESSES = 8

# Limits of the waiting frames, and of the files that are looked at in advance.
_HELD_BYTES = 32 << 20
_AHEAD_FILES, _AHEAD_BYTES = 256, 64 << 20

# Total waiting time before another process is started, which is longer than its start takes.
_PATIENCE_SECONDS = 0.5

# Small files of these formats are read in this process: one changed note is not worth starting another.
_HERE_BYTES = 64 << 10
_HERE = frozenset({".jsonl", ".log", ".markdown", ".md", ".ndjson", ".text", ".txt"})

_LOOK_SECONDS = 0.25
_FAREWELL_SECONDS = 10.0


class ReaderPool:
    """The processes of one run; a `with` block ends them."""

    def __init__(self, setup: Setup, *, processes: int = 0, ahead: int = 0, command: Sequence[str] = COMMAND) -> None:
        """Take the options; no process is started yet.

        Args:
            setup: The options of each process.
            processes: Most processes; 0 for the number of cores, up to MOST_PROCESSES.
            ahead: Files to look at in advance; 0 for the default of a single run.
            command: The command of a reading process.
        """
        self.processes = 0
        """Number of running processes."""
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
        """End all processes and threads; unfinished work is lost."""
        self._closing.set()
        self._jobs.close()
        with self._lock:
            for process in self._running:
                process.kill()
        for thread in self._threads:
            # They end at once. The timeout is for a lock that a Ctrl-C may have left; the threads are daemons.
            thread.join(_FAREWELL_SECONDS)
        if self._folder is not None:
            self._folder.cleanup()

    def read(self, files: Iterable[Arrival]) -> Iterator[tuple[Arrival, Iterator[FilePart]]]:
        """Yield each file with its parts, in order; take the parts before the next file.

        Iterating over the parts of a file raises `ReadingError` where the file cannot be read (any further), with the
        reasons of `read` and `timeout`, `memory` and `crashed`.

        Args:
            files: Iterated in advance, in the caller's thread.

        Raises:
            OperationError: No process can be started.
        """
        supply = iter(files)
        ahead: deque[tuple[Arrival, Job | None]] = deque()
        while self._look_ahead(ahead, supply):
            file, job = ahead.popleft()
            yield file, self._parts(file, job)

    def _look_ahead(self, ahead: deque[tuple[Arrival, Job | None]], supply: Iterator[Arrival]) -> bool:
        """Create jobs for the next files; return False if there are none."""
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
        kind = extension_of(file.path)
        if kind not in READERS or (kind in _HERE and file.size <= self._here):
            # The budget is for the whole run: ten thousand notes are read by the processes.
            self._here -= file.size
            return None
        job = Job(file.path, file.source, file.real)
        self._jobs.place(job)
        if not self.processes:
            self._add_process()
        return job

    def _parts(self, file: Arrival, job: Job | None) -> Iterator[FilePart]:
        if job is None:
            with refuse_faults(file.source, "read"):
                yield from read_and_chunk(file.path, file.source, self._setup.options, real=file.real)
            return
        while True:
            frame = self._next_frame(job)
            if frame is None:
                continue
            if frame.tag == Tag.END:
                return
            try:
                part = parse_part(frame)
            except ReadingError:
                raise
            except Exception as error:  # noqa: BLE001  # others of its parts may follow
                part = Failure(file.source, "broken", refuse(file.source, "read", error).message)
            yield part

    def _next_frame(self, job: Job) -> Frame | None:
        """Return the next frame; None after waiting too long, when another process is started."""
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
            # Temporary files of killed processes are deleted after the run.
            self._folder = tempfile.TemporaryDirectory(prefix="anabranch-", ignore_cleanup_errors=True)
            self._start_thread(self._kill_silent)
        self._start_thread(self._serve)
        self.processes += 1

    def _start_thread(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name="anabranch-reading", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _kill_silent(self) -> None:
        while not self._closing.wait(_LOOK_SECONDS):
            with self._lock:
                for process in self._running:
                    process.kill_if_silent()

    def _serve(self) -> None:
        """Do jobs until there are no more, replacing the process when it ends."""
        process: ReaderProcess | None = None
        try:
            while (job := self._jobs.next()) is not None:
                is_done = False
                while not is_done:
                    process = process or self._start_process()
                    is_done, process = self._do(job, process)
        except Exception as error:  # noqa: BLE001  # the consumer of the frames must get it
            self._jobs.fail(error)
        finally:
            if process is not None:
                self._end(process)

    def _do(self, job: Job, process: ReaderProcess) -> tuple[bool, ReaderProcess | None]:
        """Pass on the result of a job; return whether it is complete, and the process if it can take more jobs."""
        was_used, has_sent = process.orders > 0, False
        process.order(job.path, job.source, job.real)
        for frame in self._answer(process, job):
            is_leaving = frame.is_last and leaves(frame)
            if is_leaving:
                self._end(process)
                # The failure may be due to earlier files of this process, so a fresh process tries again.
                if was_used and not has_sent and reason(frame) in ("memory", "crashed"):
                    return False, None
            self._jobs.put(job, frame)
            has_sent = True
            if is_leaving:
                return True, None
        return True, process

    def _answer(self, process: ReaderProcess, job: Job) -> Iterator[Frame]:
        while (head := process.head()) is not None:
            # False at the end of the run, when nobody takes frames.
            if not self._jobs.wait_for_room(job, head[1]):
                return
            frame = process.body(*head)
            if frame is None:
                break
            if frame.tag != Tag.BEAT:
                yield frame
            if frame.is_last:
                return
        yield error_frame(process.fault(job.source), leaves=True)

    def _start_process(self) -> ReaderProcess:
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
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
