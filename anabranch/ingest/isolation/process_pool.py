"""Reads many files in processes of their own, ahead of whoever takes the documents, and hands them over in order.

A file that hangs, blows up or kills its process costs itself; the process is replaced and the others go on. Processes
are started when somebody waits for documents, not before: where embedding is what takes the time, one is enough.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar

from anabranch.ingest.isolation.framing import Frame, Tag
from anabranch.ingest.isolation.job_queue import Order, Orders
from anabranch.ingest.isolation.read_and_chunk import Part, cut_file
from anabranch.ingest.isolation.reader_process import COMMAND
from anabranch.ingest.isolation.supervisor import Crew
from anabranch.ingest.isolation.worker_protocol import Setup, to_part
from anabranch.readers import READERS

MOST_PROCESSES = 8

# Of frames that wait to be taken, and of files that are known to come.
_HELD_BYTES = 32 << 20
_AHEAD_FILES, _AHEAD_BYTES = 256, 64 << 20

# How long, all in all, one waits for documents before another process is started: longer than the start of one takes.
_PATIENCE_SECONDS = 0.5

# One changed note must not pay for a process. These formats have readers that cannot run away with so few bytes.
_HERE_BYTES = 64 << 10
_HERE = frozenset({".jsonl", ".log", ".markdown", ".md", ".ndjson", ".rst", ".text", ".txt"})


class Wanted(Protocol):
    """A file to be read."""

    @property
    def path(self) -> Path:
        """Where it was found."""
        ...

    @property
    def real(self) -> Path | None:
        """Where that led to; None for a file that nobody else can write to."""
        ...

    @property
    def source(self) -> str:
        """What a person calls it."""
        ...

    @property
    def size(self) -> int:
        """Its bytes."""
        ...


_Wanted = TypeVar("_Wanted", bound=Wanted)


class Pool:
    """Processes for one run, to be used in a `with` block, at whose end they are gone."""

    def __init__(self, setup: Setup, *, processes: int = 0, command: Sequence[str] = COMMAND) -> None:
        """Start nothing yet.

        Args:
            setup: What each process has to know.
            processes: The most; 0 for as many as there are cores, up to MOST_PROCESSES.
            command: What to start as a reading process.
        """
        self._setup = setup
        self._most = processes or min(MOST_PROCESSES, _cores())
        self._orders = Orders(_HELD_BYTES)
        self._crew = Crew(self._orders, setup, command)
        self._here = _HERE_BYTES
        self._waited = 0.0

    def __enter__(self) -> Self:
        """Enter the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all processes."""
        self._crew.close()

    @property
    def processes(self) -> int:
        """How many processes serve."""
        return len(self._crew)

    def read(self, wanted: Iterable[_Wanted]) -> Iterator[tuple[_Wanted, Iterator[Part]]]:
        """Yield each file with its parts, in order; the parts are to be taken before the next file is asked for.

        Iterating over the parts of a file raises `ReadingError` where the file cannot be read (any further), with the
        reasons of `read` and `timeout`, `memory` and `crashed`.

        Args:
            wanted: Gone through ahead of the files that are yielded, in the caller's thread.

        Raises:
            OperationError: No process can be started.
        """
        supply = iter(wanted)
        ahead: deque[tuple[_Wanted, Order | None]] = deque()
        while self._stock(ahead, supply):
            file, order = ahead.popleft()
            yield file, self._read_here(file) if order is None else self._taken(order)

    def _stock(self, ahead: deque[tuple[_Wanted, Order | None]], supply: Iterator[_Wanted]) -> bool:
        """Order what comes next; False if there is nothing."""
        size = sum(file.size for file, _ in ahead)
        while len(ahead) < self._most or (len(ahead) < _AHEAD_FILES and size < _AHEAD_BYTES):
            file = next(supply, None)
            if file is None:
                break
            ahead.append((file, self._ordered(file)))
            size += file.size
        return bool(ahead)

    def _ordered(self, file: Wanted) -> Order | None:
        if self._is_for_here(file):
            self._here -= file.size
            return None
        order = Order(file.path, file.source, file.real)
        self._orders.place(order)
        if not len(self._crew):
            self._crew.enlarge()
        return order

    def _is_for_here(self, file: Wanted) -> bool:
        kind = file.path.suffix.lower()
        return kind not in READERS or (kind in _HERE and file.size <= self._here)

    def _read_here(self, file: Wanted) -> Iterator[Part]:
        return cut_file(file.path, file.source, self._setup.options, real=file.real)

    def _taken(self, order: Order) -> Iterator[Part]:
        while True:
            frame = self._awaited(order)
            if frame is None:
                continue
            if frame.tag == Tag.END:
                return
            yield to_part(frame)

    def _awaited(self, order: Order) -> Frame | None:
        """Return the next frame, or None where another process was called for; one that comes in time costs nothing."""
        began = time.monotonic()
        frame = self._orders.take(order, _PATIENCE_SECONDS - self._waited)
        self._waited += time.monotonic() - began
        if self._waited >= _PATIENCE_SECONDS:
            self._waited = 0.0
            if self._orders.waiting and len(self._crew) < self._most:
                self._crew.enlarge()
        return frame


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
