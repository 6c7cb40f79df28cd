"""Hands jobs from one taker to many servers, and their frames back: file by file, in order, within a bound."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

from anabranch.ingestion.isolation.worker_protocol import Frame


@dataclass(slots=True, eq=False)
class Job:
    """A file that is to be read, and the frames of its answer that nobody has taken yet."""

    path: Path
    source: str
    real: Path | None = None
    # SimpleQueue is written in C: a signal between its lines cannot leave it locked.
    frames: SimpleQueue[Frame] = field(default_factory=SimpleQueue)


class JobQueue:
    """Where jobs wait for a server, and frames for the taker.

    Frames of later files wait while those of earlier ones are taken, up to a number of bytes; a server that has more
    waits itself. The file whose turn it is never waits, so that nobody waits for ever.
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
        """How many jobs no server has taken up."""
        return len(self._queue)

    def place(self, job: Job) -> None:
        """Let a job wait for a server."""
        with self._changed:
            self._queue.append(job)
            self._changed.notify_all()

    def take(self, job: Job, patience: float) -> Frame | None:
        """Return the next frame of a job, which it becomes the turn of; None if none comes within some seconds.

        Raises:
            Exception: What keeps the servers from their work (`OperationError`: no process can be started).
        """
        with self._changed:
            self._current = job
            self._changed.notify_all()
        try:
            # Not by waiting for the condition, which a Ctrl-C at the wrong moment leaves with a lock that is not held.
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
        """Wait for a job; None once there will be no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._is_closed)
            return None if self._is_closed else self._queue.popleft()

    def wait_for_room(self, job: Job, length: int) -> bool:
        """Wait until a frame of `length` bytes may be put; False once nobody takes any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._has_room(job, length))
            return not self._is_closed

    def put(self, job: Job, frame: Frame) -> None:
        """Hand over the next frame of a job."""
        with self._changed:
            self._held += len(frame.body)
        job.frames.put(frame)

    def fail(self, fault: Exception) -> None:
        """Tell the taker that nothing more will come."""
        with self._changed:
            self._fault = self._fault or fault

    def close(self) -> None:
        """Send the servers home."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _has_room(self, job: Job, length: int) -> bool:
        # Otherwise the frames of later files could fill the room and wait for the first, which waits for room.
        return self._held + length <= self._most or (job is self._current and job.frames.empty())
