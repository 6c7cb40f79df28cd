"""What runs say while they run, kept so that a reader can come back.

In this process it is read at once, elsewhere from the database. An event's number holds the attempt of its run: a
worker that takes a run over counts on from the next million, whatever part of the former worker's events was written.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from anabranch_server.database import events
from anabranch_server.run_queue import UNFINISHED, RunQueue
from anabranch_server.write_probe import WriteProbe, not_kept

log = logging.getLogger("anabranch.server")

OF_ATTEMPT = 1_000_000
"""Numbers that one attempt has for its events."""

FLUSH = 0.1
"""Seconds between writes to the database: an event for each word, one by one, would cost more than the answer."""

POLL = 0.3
"""Seconds between looks into the database for a run of another worker's."""

KEEP_ALIVE = 15.0
"""Seconds of silence after which a reader is sent a comment, so that nothing in between gives the connection up."""

STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Of a reply that comes piece by piece: nginx and others would hold it back until it is whole."""


EventRow = Mapping[str, Any]
"""An event as the table has it."""


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One event: its number within the run, its name, and its data as JSON."""

    number: int
    name: str
    data: str


@dataclass
class _Live:
    """A run of this process: what it said so far, in how many characters, what the database has, and of its end."""

    number: int
    said: list[RunEvent] = field(default_factory=list)
    spoken: int = 0
    written: int = 0
    is_over: bool = False
    is_told: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def wake(self) -> None:
        """Wake all readers; they wait for the next event on a new flag."""
        self.changed.set()
        self.changed = asyncio.Event()


class EventLog:
    """The events of all runs; those of this process's runs are held until the run is over."""

    def __init__(self, engine: AsyncEngine, runs: RunQueue, probe: WriteProbe) -> None:
        """Take the database, the runs whose end is an end of reading, and what says whether they can end."""
        self._engine = engine
        self._runs = runs
        self._probe = probe
        self._live: dict[str, _Live] = {}
        # The writer that goes round and a run that ends must not write the same events.
        self._writing = asyncio.Lock()

    def begin(self, run_id: str, attempt: int) -> None:
        """Hold the events of a run that this process works on."""
        self._live[run_id] = _Live(number=attempt * OF_ATTEMPT)

    def put(self, run_id: str, name: str, data: str) -> None:
        """Say something; it is read at once, and written soon."""
        live = self._live[run_id]
        live.number += 1
        live.said.append(RunEvent(live.number, name, data))
        live.spoken += len(data)
        live.wake()

    def spoken(self, run_id: str) -> int:
        """Return how many characters a run of this process has said."""
        return self._live[run_id].spoken

    async def write(self) -> None:
        """Write what was said since the last time."""
        async with self._writing:
            live = dict(self._live)
            # All runs in one transaction: with each on its own, that would be most of what a server works.
            if not await self._written(live):
                for run_id, each in live.items():
                    if not await self._written({run_id: each}):
                        log.info("Run %s was removed while it ran", run_id)
                        each.written = len(each.said)

    async def _written(self, live: Mapping[str, _Live]) -> bool:
        """Write what is new in these runs; False, and nothing written, where one of them is gone with its thread."""
        new = {run_id: each.said[each.written :] for run_id, each in live.items()}
        rows = [row for run_id, said in new.items() for row in _rows(run_id, said)]
        try:
            if rows:
                async with self._engine.begin() as connection:
                    await connection.execute(insert(events), rows)
        except IntegrityError:
            return False
        for run_id, said in new.items():
            live[run_id].written += len(said)
        return True

    async def end(self, run_id: str, note: Callable[[Sequence[EventRow]], Awaitable[bool]] | None = None) -> None:
        """Write the rest, and let the readers go.

        Args:
            run_id: The run.
            note: Writes events, `end` among them, together with how the run ended, and says whether it did: nobody
                reads that a run is over before it is. None for a run that has not ended, and goes on elsewhere.
        """
        live = self._live[run_id]
        last = RunEvent(live.number + 1, "end", "null")
        try:
            async with self._writing:
                if note is None:
                    await self._written({run_id: live})
                elif await note(_rows(run_id, [*live.said[live.written :], last])):
                    live.said.append(last)
                    live.is_told = True
        finally:
            # Also where the database is away: readers look for the run themselves.
            del self._live[run_id]
            live.is_over = True
            live.wake()

    async def read(self, run_id: str, after: int = 0) -> AsyncIterator[RunEvent | None]:
        """Yield a run's events after the number `after`, until it is over; None where nothing was said for a while.

        Raises:
            OperationError: It cannot end: nothing can be written.
        """
        while True:
            live = self._live.get(run_id)
            if live is not None:
                async for event in _read_live(live, after):
                    after = event.number if event is not None else after
                    yield event
                if live.is_told:
                    return
            for event in await self._kept(run_id, after):
                after = event.number
                yield event
            run = await self._runs.get(run_id)
            if run is None or (run.status not in UNFINISHED and run_id not in self._live):
                # What was written between the look at the events and the look at the run.
                for event in await self._kept(run_id, after):
                    yield event
                return
            if run_id not in self._live:
                # Nobody could begin it, or note how it ended.
                if await self._probe.problem() is not None:
                    raise not_kept()
                yield None
                await asyncio.sleep(POLL)

    async def over(self, run_id: str) -> None:
        """Wait until a run is over."""
        async for _ in self.read(run_id):
            pass

    async def _kept(self, run_id: str, after: int) -> Sequence[RunEvent]:
        query = select(events).where(events.c.run_id == run_id, events.c.number > after).order_by(events.c.number)
        async with self._engine.connect() as connection:
            return [RunEvent(row.number, row.event, row.data) for row in await connection.execute(query)]


def _rows(run_id: str, said: Sequence[RunEvent]) -> Sequence[EventRow]:
    return [{"run_id": run_id, "number": each.number, "event": each.name, "data": each.data} for each in said]


async def _read_live(live: _Live, after: int) -> AsyncIterator[RunEvent | None]:
    """Yield what a run of this process says, from memory, until it is over."""
    place = next((at for at, event in enumerate(live.said) if event.number > after), len(live.said))
    while True:
        changed = live.changed
        while place < len(live.said):
            yield live.said[place]
            place += 1
        if live.is_over:
            return
        if changed is live.changed:
            with suppress(TimeoutError):
                async with asyncio.timeout(KEEP_ALIVE):
                    await changed.wait()
                continue
            yield None
