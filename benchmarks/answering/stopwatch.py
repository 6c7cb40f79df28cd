"""CPU and wall time of a turn; or, in a turn of its own, how long the event loop stood still."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

BEAT = 0.001
SETTLE = 0.05
"""Seconds after the answer in which a system ends what it began, which counts as its CPU time."""


@dataclass(slots=True)
class Watch:
    """What was measured, in seconds.

    Attributes:
        began: By the machine's clock, which its processes share.
        ended: By the same.
        cpu: Of this process, all threads; 0 where stalls are measured, because measuring them takes most of it.
        stall: The longest, where it is measured.
        garbage: The longest that collecting garbage took; it stops the loop, too.
    """

    began: float
    ended: float = 0.0
    cpu: float = 0.0
    stall: float = 0.0
    garbage: float = 0.0

    def end(self) -> None:
        """Stop the clock."""
        self.ended = time.monotonic()

    def facts(self) -> dict[str, float]:
        """Return all of it, for JSON."""
        return asdict(self)


@asynccontextmanager
async def watched(*, beat: bool) -> AsyncIterator[Watch]:
    """Measure what happens inside: with `beat` the stalls, else the CPU time.

    A task that wants to run every millisecond tells how late it was at worst. It would be a third of the CPU time of
    what is measured here.
    """
    async with _beating() if beat else _counting() as watch:
        yield watch


@asynccontextmanager
async def _counting() -> AsyncIterator[Watch]:
    cpu = time.process_time()
    watch = Watch(time.monotonic())
    yield watch
    await asyncio.sleep(SETTLE)
    watch.cpu = time.process_time() - cpu


@asynccontextmanager
async def _beating() -> AsyncIterator[Watch]:
    watch = Watch(time.monotonic())
    collecting = _collector(watch)
    gc.callbacks.append(collecting)
    beating = asyncio.create_task(_beat(watch))
    await asyncio.sleep(0)
    watch.began = time.monotonic()
    try:
        yield watch
    finally:
        # What stands still at the end shows only once the task has run again.
        await asyncio.sleep(SETTLE)
        beating.cancel()
        gc.callbacks.remove(collecting)


def _collector(watch: Watch) -> Callable[[str, dict[str, int]], None]:
    """Return what Python calls when it begins and ends to collect garbage."""
    began = 0.0

    def collecting(phase: str, _: dict[str, int]) -> None:
        nonlocal began
        if phase == "start":
            began = time.monotonic()
        else:
            watch.garbage = max(watch.garbage, time.monotonic() - began)

    return collecting


async def _beat(watch: Watch) -> None:
    while True:
        before = time.monotonic()
        await asyncio.sleep(BEAT)
        watch.stall = max(watch.stall, time.monotonic() - before - BEAT)
