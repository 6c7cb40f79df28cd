"""What is measured is measured."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.at_scale.gauges import cpu_seconds, megabytes, memory, timed


def test_memory_that_is_used_is_seen() -> None:
    before = memory()
    block = np.ones(8_000_000)
    assert memory()["peak"] - before["peak"] >= 0
    assert memory()["peak"] >= block.nbytes / 1e6


async def test_every_call_is_made_and_the_times_are_theirs() -> None:
    calls = [partial(asyncio.sleep, 0.01 if number else 0.05, number) for number in range(20)]
    results, p50, p95, _ = await timed(calls)
    assert results == list(range(20))
    assert 10 <= p50 <= p95


async def test_a_slow_search_is_asked_fewer_questions() -> None:
    results, *_ = await timed([partial(asyncio.sleep, 0.001)] * 100, longest=0.0)
    assert len(results) == 20


async def work(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


async def test_waiting_takes_no_cpu_time_and_work_does() -> None:
    waiting = await timed([partial(asyncio.sleep, 0.02)] * 20)
    working = await timed([partial(work, 0.02)] * 20)
    assert working.cpu >= 20
    assert waiting.cpu < working.cpu


def test_the_cpu_time_of_processes_that_have_ended_counts() -> None:
    before = cpu_seconds() - time.process_time()
    program = "import time\nwhile time.process_time() < 0.2: pass"
    subprocess.run([sys.executable, "-S", "-c", program], check=True)
    assert cpu_seconds() - time.process_time() - before >= 0.1


def test_the_size_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_bytes(b"x" * 2_000_000)
    assert megabytes(tmp_path) == 2.0
