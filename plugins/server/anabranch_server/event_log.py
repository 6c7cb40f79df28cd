"""The events of runs, stored so that a reader can come back.

This process reads them from memory, others from the database. An event's number holds the attempt of its run: a worker
that takes a run over counts from the next million, whatever part of the former worker's events was written.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from anabranch_server.database import events
from anabranch_server.run_queue import UNFINISHED, RunQueue
from anabranch_server.write_probe import WriteProbe, storage_error

log = logging.getLogger("anabranch.server")

OF_ATTEMPT = 1_000_000
"""Size of the range of event numbers of one attempt."""

FLUSH = 0.1
"""Seconds between writes to the database: writing each word on its own would cost more than the answer."""

POLL = 0.3
"""Seconds between queries for the events of another worker's run."""

PACE = 0.025
"""Seconds in which the events of a stream are collected: sending one costs as much as writing several of them."""

KEEP_ALIVE = 15.0
"""Seconds without events after which a comment is sent, so that proxies keep the connection open."""

STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Headers of a stream: nginx and others would buffer it without them."""


EventRow = Mapping[str, Any]
"""A row of the table of events."""


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One event: its number within the run, its name, and its data as JSON."""

    number: int
    name: str
    data: str


@dataclass
class _Live:
    """A run of this process: its events so far, their characters, how many are written, and whether it is over."""

    number: int
    events: list[RunEvent] = field(default_factory=list)
    size: int = 0
    written: int = 0
    is_over: bool = False
    has_end: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def wake(self) -> None:
        """Wake all readers; they then wait on a new flag."""
        self.changed.set()
        self.changed = asyncio.Event()


class EventLog:
    """The events of all runs; those of this process's runs stay in memory until the run is over."""

    def __init__(self, engine: AsyncEngine, runs: RunQueue, probe: WriteProbe) -> None:
        """Take the database, the runs, and the probe that tells whether their end can be written."""
        self._engine = engine
        self._runs = runs
        self._probe = probe
        self._live: dict[str, _Live] = {}
        # Runs that readers wait for; the readers hold the flags.
        self._awaited: WeakValueDictionary[str, asyncio.Event] = WeakValueDictionary()
        # The periodic writer and a run that ends must not write the same events.
        self._writing = asyncio.Lock()

    def begin(self, run_id: str, attempt: int) -> None:
        """Begin to collect the events of a run that this process works on."""
        self._live[run_id] = _Live(number=attempt * OF_ATTEMPT)
        if (awaited := self._awaited.pop(run_id, None)) is not None:
            awaited.set()

    def put(self, run_id: str, name: str, data: str) -> None:
        """Add an event; readers get it at once, and it is written soon."""
        live = self._live[run_id]
        live.number += 1
        live.events.append(RunEvent(live.number, name, data))
        live.size += len(data)
        live.wake()

    def size(self, run_id: str) -> int:
        """Return how many characters the events of a run of this process have."""
        return self._live[run_id].size

    async def write(self) -> None:
        """Write the events since the last write."""
        async with self._writing:
            live = dict(self._live)
            # One transaction for all runs: one for each would be most of the server's work.
            if not await self._write_new(live):
                for run_id, each in live.items():
                    if not await self._write_new({run_id: each}):
                        log.info("Run %s was removed while it ran", run_id)
                        each.written = len(each.events)

    async def _write_new(self, live: Mapping[str, _Live]) -> bool:
        """Write the new events of these runs; return False, with nothing written, where one of them was removed."""
        new = {run_id: each.events[each.written :] for run_id, each in live.items()}
        rows = [row for run_id, unwritten in new.items() for row in _rows(run_id, unwritten)]
        try:
            if rows:
                async with self._engine.begin() as connection:
                    await connection.execute(insert(events), rows)
        except IntegrityError:
            return False
        for run_id, unwritten in new.items():
            live[run_id].written += len(unwritten)
        return True

    async def end(self, run_id: str, note: Callable[[Sequence[EventRow]], Awaitable[bool]] | None = None) -> None:
        """Write the remaining events, and end the streams of readers.

        Args:
            run_id: The run.
            note: Writes events, `end` among them, together with the result, and returns whether it did. Nobody may
                read `end` before the run is over. None for a run that goes on elsewhere.
        """
        live = self._live[run_id]
        last = RunEvent(live.number + 1, "end", "null")
        try:
            async with self._writing:
                if note is None:
                    await self._write_new({run_id: live})
                elif await note(_rows(run_id, [*live.events[live.written :], last])):
                    live.events.append(last)
                    live.has_end = True
        finally:
            # Also where the database fails: readers then query the run themselves.
            del self._live[run_id]
            live.is_over = True
            live.wake()

    async def read(self, run_id: str, after: int = 0) -> AsyncIterator[RunEvent | None]:
        """Yield a run's events after the number `after`, until it is over; None where there was none for a while.

        Raises:
            OperationError: The run cannot end, because the database cannot be written.
        """
        async for some in self.read_together(run_id, after):
            for event in some or (None,):
                yield event

    async def read_together(self, run_id: str, after: int = 0) -> AsyncIterator[Sequence[RunEvent]]:
        """Yield what `read` does, as many events together as there are; none where there was none for a while.

        Raises:
            OperationError: The run cannot end, because the database cannot be written.
        """
        while True:
            live = self._live.get(run_id)
            if live is not None:
                async for some in _read_live(live, after):
                    after = some[-1].number if some else after
                    yield some
                if live.has_end:
                    return
            # Before the events: those of a run that has ended are then all stored.
            run = await self._runs.get(run_id)
            if run is None:
                return
            # A run that no worker has claimed has no events.
            if run.attempt and (some := await self._read_stored(run_id, after)):
                after = some[-1].number
                yield some
            if run.status not in UNFINISHED and run_id not in self._live:
                return
            if not await self._begins_here(run_id):
                # No worker can begin the run, or write its end, while the database fails.
                if await self._probe.problem() is not None:
                    raise storage_error()
                yield ()

    async def wait_for_end(self, run_id: str) -> None:
        """Wait until a run is over."""
        async for _ in self.read_together(run_id):
            pass

    async def _begins_here(self, run_id: str) -> bool:
        """Wait until this process works on a run, or for POLL seconds; return whether it does."""
        if run_id not in self._live:
            awaited = self._awaited.setdefault(run_id, asyncio.Event())
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL):
                    await awaited.wait()
        return run_id in self._live

    async def _read_stored(self, run_id: str, after: int) -> Sequence[RunEvent]:
        query = select(events).where(events.c.run_id == run_id, events.c.number > after).order_by(events.c.number)
        async with self._engine.connect() as connection:
            return [RunEvent(row.number, row.event, row.data) for row in await connection.execute(query)]


def _rows(run_id: str, unwritten: Sequence[RunEvent]) -> Sequence[EventRow]:
    return [{"run_id": run_id, "number": each.number, "event": each.name, "data": each.data} for each in unwritten]


async def _read_live(live: _Live, after: int) -> AsyncIterator[Sequence[RunEvent]]:
    """Yield the events of a run of this process from memory, until it is over."""
    place = next((at for at, event in enumerate(live.events) if event.number > after), len(live.events))
    while True:
        changed = live.changed
        if some := live.events[place:]:
            place += len(some)
            yield some
        # More events may have come while these were sent.
        if live.is_over and place == len(live.events):
            return
        if some:
            await asyncio.sleep(PACE)
            continue
        with suppress(TimeoutError):
            async with asyncio.timeout(KEEP_ALIVE):
                await changed.wait()
            continue
        yield ()
