"""Time, and how long the event loop stood still."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

BEAT = 0.001


@dataclass(slots=True)
class Watch:
    """What was measured, in seconds.

    Attributes:
        began: By the machine's clock, which its processes share.
        ended: By the same.
        cpu: Of this process, all threads; it says more than the clock where others use the machine, too.
        stall: The longest.
        garbage: The longest that collecting garbage took; it stops the loop, too.
    """

    began: float
    ended: float = 0.0
    cpu: float = 0.0
    stall: float = 0.0
    garbage: float = 0.0

    def begin(self) -> None:
        """Start."""
        self.began, self.cpu = time.monotonic(), -time.process_time()

    def end(self) -> None:
        """Stop."""
        self.ended = time.monotonic()
        self.cpu += time.process_time()

    def facts(self) -> dict[str, float]:
        """Return all of it, for JSON."""
        return asdict(self)


@asynccontextmanager
async def watched() -> AsyncIterator[Watch]:
    """Measure what happens inside; a task that wants to run every millisecond tells how late it was at worst."""
    watch = Watch(time.monotonic())
    collecting = _collector(watch)
    gc.callbacks.append(collecting)
    beating = asyncio.create_task(_beat(watch))
    await asyncio.sleep(0)
    watch.begin()
    try:
        yield watch
    finally:
        # What stands still at the end shows only once the task has run again.
        await asyncio.sleep(2 * BEAT)
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
