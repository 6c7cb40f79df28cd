"""Pass jobs from one consumer to many workers, and their frames back: in order, and within a limit."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

from anabranch.ingestion.isolation.worker_protocol import Frame


@dataclass(slots=True, eq=False)
class Job:
    """A file to read, and the frames of its result that were not taken yet."""

    path: Path
    source: str
    real: Path | None = None
    # SimpleQueue is written in C: a signal cannot leave it locked.
    frames: SimpleQueue[Frame] = field(default_factory=SimpleQueue)


class JobQueue:
    """Jobs that wait for a worker, and frames that wait for the consumer.

    Frames of later files wait until those of earlier files are taken, up to a number of bytes; then their workers wait.
    The frames of the current file never wait, so that there is no deadlock.
    """

    def __init__(self, most_bytes: int) -> None:
        """Start empty."""
        self._most = most_bytes
        self._changed = threading.Condition()
        self._queue: deque[Job] = deque()
        self._held = 0
        self._current: Job | None = None
        self._fault: Exception | None = None
        self._is_closed = False

    @property
    def waiting(self) -> int:
        """The number of jobs without a worker."""
        return len(self._queue)

    def place(self, job: Job) -> None:
        """Add a job."""
        with self._changed:
            self._queue.append(job)
            self._changed.notify_all()

    def take(self, job: Job, patience: float) -> Frame | None:
        """Make this job the current one, and return its next frame; None if none comes within `patience` seconds.

        Raises:
            Exception: The fault of the workers (`OperationError`: no process can be started).
        """
        with self._changed:
            self._current = job
            self._changed.notify_all()
        try:
            # Not with the condition, whose lock a Ctrl-C at the wrong moment would break.
            frame = job.frames.get(timeout=max(patience, 0.0))
        except Empty:
            if self._fault is not None:
                raise self._fault from None
            return None
        with self._changed:
            self._held -= len(frame.body)
            self._changed.notify_all()
        return frame

    def next(self) -> Job | None:
        """Wait for a job; None after `close`."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._is_closed)
            return None if self._is_closed else self._queue.popleft()

    def wait_for_room(self, job: Job, length: int) -> bool:
        """Wait until a frame of `length` bytes may be put; False after `close`."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._has_room(job, length))
            return not self._is_closed

    def put(self, job: Job, frame: Frame) -> None:
        """Add the next frame of a job."""
        with self._changed:
            self._held += len(frame.body)
        job.frames.put(frame)

    def fail(self, fault: Exception) -> None:
        """Make `take` raise this error once no frame is left."""
        with self._changed:
            self._fault = self._fault or fault

    def close(self) -> None:
        """Let the workers end."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _has_room(self, job: Job, length: int) -> bool:
        # Without the second condition, frames of later files could fill the queue while the current file waits for
        # room.
        return self._held + length <= self._most or (job is self._current and job.frames.empty())
