"""A loop that stands still is noticed, one that waits is not."""

from __future__ import annotations

import asyncio
import gc
import time

from benchmarks.answering.stopwatch import watched


async def test_a_stall_is_at_least_as_long_as_what_caused_it() -> None:
    async with watched(beat=True) as watch:
        time.sleep(0.05)
        watch.end()
    assert watch.stall >= 0.045
    assert watch.ended - watch.began >= 0.05


async def test_collecting_garbage_is_seen_and_only_while_watching() -> None:
    before = list(gc.callbacks)
    async with watched(beat=True) as watch:
        gc.collect()
        watch.end()
    assert 0 < watch.garbage <= watch.ended - watch.began
    assert gc.callbacks == before


async def test_waiting_takes_time_and_little_work() -> None:
    async with watched(beat=False) as watch:
        await asyncio.sleep(0.05)
        watch.end()
    assert watch.ended - watch.began >= 0.05
    assert 0 <= watch.cpu < watch.ended - watch.began


async def test_what_a_system_ends_after_its_answer_is_its_work_and_nothing_watches_it() -> None:
    async def work() -> None:
        until = time.process_time() + 0.02
        while time.process_time() < until:
            pass

    before = list(gc.callbacks)
    async with watched(beat=False) as watch:
        assert gc.callbacks == before
        watch.end()
        late = asyncio.create_task(work())
    await late
    assert watch.cpu >= 0.02
    assert watch.stall == watch.garbage == 0
