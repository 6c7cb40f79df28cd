"""What a process can tell about itself: time, memory and disk."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

LONGEST = 120.0
"""Seconds for one row of a table; a slow search is asked fewer questions, and its row says how many."""

FEWEST = 20
WARMING = 5.0


def memory() -> dict[str, float]:
    """Return MB of this process: `private` is its own, `mapped` are file pages that the system may take back.

    `peak` is that of this program alone: `ru_maxrss` would begin with what the parent held when it forked.
    """
    try:
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
    except FileNotFoundError:
        unit = 1 if sys.platform == "darwin" else 1024
        return {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6}
    fields = {"VmHWM:": "peak", "RssAnon:": "private", "RssFile:": "mapped"}
    found = (line.split() for line in lines)
    return {fields[parts[0]]: int(parts[1]) * 1024 / 1e6 for parts in found if parts and parts[0] in fields}


def cpu_seconds() -> float:
    """Return the CPU seconds of this process, in all its threads, and of the processes it started that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def megabytes(folder: Path) -> float:
    """Return the size of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


class Timed(NamedTuple):
    """What calls returned, in order, the milliseconds that they took, and the CPU milliseconds of one on average."""

    results: list[Any]
    p50: float
    p95: float
    cpu: float


async def timed(calls: Sequence[Callable[[], Awaitable[Any]]], *, longest: float = LONGEST) -> Timed:
    """Call each one, first to warm up and then with a stopwatch, while the time lasts."""
    await _until(calls, WARMING, fewest=1)
    began = cpu_seconds()
    results, seconds = await _until(calls, longest, fewest=FEWEST)
    used = (cpu_seconds() - began) / len(results)
    p50, p95 = np.percentile(np.array(seconds) * 1000, [50, 95])
    return Timed(results, float(p50), float(p95), used * 1000)


async def _until(
    calls: Sequence[Callable[[], Awaitable[Any]]], longest: float, *, fewest: int
) -> tuple[list[Any], list[float]]:
    results: list[Any] = []
    seconds: list[float] = []
    end = time.perf_counter() + longest
    for number, call in enumerate(calls):
        began = time.perf_counter()
        if number >= fewest and began > end:
            break
        results.append(await call())
        seconds.append(time.perf_counter() - began)
    return results, seconds
