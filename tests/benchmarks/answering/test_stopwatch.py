"""A loop that stands still is noticed, one that waits is not."""

from __future__ import annotations

import asyncio
import gc
import time

from benchmarks.answering.stopwatch import watched


async def test_a_stall_is_at_least_as_long_as_what_caused_it() -> None:
    async with watched() as watch:
        time.sleep(0.05)
        watch.end()
    assert watch.stall >= 0.045
    assert watch.ended - watch.began >= 0.05


async def test_collecting_garbage_is_seen_and_only_while_watching() -> None:
    before = list(gc.callbacks)
    async with watched() as watch:
        gc.collect()
        watch.end()
    assert 0 < watch.garbage <= watch.ended - watch.began
    assert gc.callbacks == before


async def test_waiting_takes_time_and_little_work() -> None:
    async with watched() as watch:
        await asyncio.sleep(0.05)
        watch.end()
    assert watch.ended - watch.began >= 0.05
    assert 0 <= watch.cpu < watch.ended - watch.began
