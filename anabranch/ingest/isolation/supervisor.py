"""Threads with a reading process each, which they give orders, replace when it dies, and end when it falls silent."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from anabranch.errors import OperationError
from anabranch.ingest.isolation.framing import Frame, Tag
from anabranch.ingest.isolation.job_queue import Order, Orders
from anabranch.ingest.isolation.reader_process import Process
from anabranch.ingest.isolation.worker_protocol import Setup, leaves, of_error, reason

_LOOK_SECONDS = 0.25
_FAREWELL_SECONDS = 10.0


class Crew:
    """All threads of one pool."""

    def __init__(self, orders: Orders, setup: Setup, command: Sequence[str]) -> None:
        """Start nothing yet."""
        self._orders = orders
        self._setup = setup
        self._command = command
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._threads: list[threading.Thread] = []
        self._processes: set[Process] = set()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._size = 0

    def __len__(self) -> int:
        """How many serve."""
        return self._size

    def enlarge(self) -> None:
        """Let one more process serve."""
        if self._folder is None:
            # What a process that is killed leaves behind goes with the run.
            self._folder = tempfile.TemporaryDirectory(prefix="anabranch-", ignore_cleanup_errors=True)
            self._start(self._watch)
        self._start(_Server(self._orders, self._hire, self._dismiss).serve)
        self._size += 1

    def close(self) -> None:
        """End all processes and threads; what they were at is lost."""
        self._closing.set()
        self._orders.close()
        with self._lock:
            for process in self._processes:
                process.kill()
        for thread in self._threads:
            # They end at once. Should a Ctrl-C have left a lock behind, nobody waits for ever: they are daemons.
            thread.join(_FAREWELL_SECONDS)
        if self._folder is not None:
            self._folder.cleanup()

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name="anabranch-reading", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _hire(self) -> Process:
        process = Process(self._setup, Path(self._folder.name if self._folder else "."), self._command)
        with self._lock:
            self._processes.add(process)
            if self._closing.is_set():
                process.kill()
        try:
            process.greet()
        except OperationError:
            self._dismiss(process)
            raise
        return process

    def _dismiss(self, process: Process) -> None:
        with self._lock:
            self._processes.discard(process)
        process.close()

    def _watch(self) -> None:
        while not self._closing.wait(_LOOK_SECONDS):
            with self._lock:
                for process in self._processes:
                    process.end_if_silent()


class _Server:
    """One thread's work."""

    def __init__(self, orders: Orders, hire: Callable[[], Process], dismiss: Callable[[Process], None]) -> None:
        self._orders = orders
        self._hire = hire
        self._dismiss = dismiss
        self._process: Process | None = None

    def serve(self) -> None:
        """Carry out orders until there are no more."""
        try:
            while (order := self._orders.next()) is not None:
                while not self._carry_out(order):
                    pass
        except Exception as error:  # noqa: BLE001  # whoever waits for the frames has to hear of it
            self._orders.fail(error)
        finally:
            self._leave()

    def _carry_out(self, order: Order) -> bool:
        """Hand on the answer to an order; False if that has to be tried again by a fresh process."""
        process = self._process = self._process or self._hire()
        was_used, has_sent = process.orders > 0, False
        process.order(order.path, order.source, order.real)
        for frame in self._answer(process, order):
            if frame.is_last and leaves(frame):
                self._leave()
                # A file is not to blame for what those before it have left behind.
                if was_used and not has_sent and reason(frame) in ("memory", "crashed"):
                    return False
            self._orders.put(order, frame)
            has_sent = True
        return True

    def _answer(self, process: Process, order: Order) -> Iterator[Frame]:
        while (head := process.head()) is not None:
            if not self._orders.wait_for_room(order, head[1]):
                return
            frame = process.body(*head)
            if frame is None:
                break
            if frame.tag != Tag.BEAT:
                yield frame
            if frame.is_last:
                return
        yield of_error(process.fault(order.source), leaves=True)

    def _leave(self) -> None:
        if self._process is not None:
            self._dismiss(self._process)
            self._process = None
