"""Asks questions at once, and measures a process and its children meanwhile."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

WARM = 0.2
"""Share of the questions after which memory is looked at first: by then everything is imported and kept once."""

Ask = Callable[[str], Awaitable[float]]
"""Asks a question, and returns the seconds to the first word of its answer; raises where there is none."""


@dataclass
class LoadResult:
    """What was measured: seconds, and megabytes after the warm-up and at the end."""

    at_once: int
    questions: int
    wall: float = 0.0
    cpu: float = 0.0
    warm: float = 0.0
    end: float = 0.0
    first_words: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def cpu_each(self) -> float:
        """CPU-seconds for each question."""
        return self.cpu / self.questions

    @property
    def first_word(self) -> tuple[float, float]:
        """Seconds to the first word: median, and what 95 of 100 readers waited at most."""
        return median(self.first_words), quantiles(self.first_words, n=20)[-1]


async def load(ask: Ask, questions: Sequence[str], at_once: int, process: int) -> LoadResult:
    """Ask all questions, so many at once, and return what that took of a process with its children."""
    result = LoadResult(at_once, len(questions))
    began, cpu, left = time.monotonic(), cpu_of(process), iter(questions)
    done = 0

    async def reader() -> None:
        nonlocal done
        for question in left:
            try:
                result.first_words.append(await ask(question))
            except Exception as error:  # noqa: BLE001  # whatever goes wrong is counted
                result.errors.append(f"{type(error).__name__}: {error}"[:200])
            done += 1
            if done == int(WARM * len(questions)):
                result.warm = memory_of(process)

    await asyncio.gather(*(reader() for _ in range(at_once)))
    result.wall, result.cpu, result.end = time.monotonic() - began, cpu_of(process) - cpu, memory_of(process)
    return result


def cpu_of(process: int) -> float:
    """Return the CPU-seconds of a process and its children, those that have ended among them."""
    ticks = 0
    for each in _family(process):
        fields = _read(each, "stat").rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15])) if each == process else sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def memory_of(process: int) -> float:
    """Return the megabytes of a process and its children."""
    pages = sum(int(_read(each, "statm").split()[1]) for each in _family(process))
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _family(process: int) -> Iterator[int]:
    yield process
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from _family(int(child))


def _read(process: int, name: str) -> str:
    return Path(f"/proc/{process}/{name}").read_text()
