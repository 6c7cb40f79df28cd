"""What is measured is measured."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.at_scale.gauges import megabytes, memory, timed


def test_memory_that_is_used_is_seen() -> None:
    before = memory()
    block = np.ones(8_000_000)
    assert memory()["peak"] - before["peak"] >= 0
    assert memory()["peak"] >= block.nbytes / 1e6


async def test_every_call_is_made_and_the_times_are_theirs() -> None:
    calls = [partial(asyncio.sleep, 0.01 if number else 0.05, number) for number in range(20)]
    results, p50, p95 = await timed(calls)
    assert results == list(range(20))
    assert 10 <= p50 <= p95


async def test_a_slow_search_is_asked_fewer_questions() -> None:
    results, _, _ = await timed([partial(asyncio.sleep, 0.001)] * 100, longest=0.0)
    assert len(results) == 20


def test_the_size_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_bytes(b"x" * 2_000_000)
    assert megabytes(tmp_path) == 2.0
