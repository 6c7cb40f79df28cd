"""Many questions at once, beside one alone."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from benchmarks.report import Table, ms, times
from benchmarks.scale import Scale
from benchmarks.turns import asked, timed
from graph.answer import build
from nodes.settings import Context
from tests.servers.openai_stub import OpenAIStub

COLUMNS = (
    "route",
    "questions",
    "answered",
    "one alone, ms",
    "all at once, ms",
    "all / one",
    "one after the other / all",
)


async def measure(scale: Scale, corpus: Path, stub: OpenAIStub, questions: Iterator[str]) -> Table:
    """Return the table of questions at once, without a model and with one."""
    models: dict[str, dict[str, Any]] = {
        "compose (no model)": {},
        "create": {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0, "strategy": "none"},
    }
    rows = []
    for title, settings in models.items():
        context = Context(corpus=str(corpus), **settings)
        answered, alone, together = await _one_and_all(scale, context, stub, questions)
        ratios = (together / alone, alone * scale.together / together)
        counts = (str(scale.together), f"{answered:.0f}")
        rows.append((title, *counts, ms(alone), ms(together), *map(times, ratios)))
    return Table("together", "Questions at once", COLUMNS, tuple(rows))


async def _one_and_all(
    scale: Scale, context: Context, stub: OpenAIStub, questions: Iterator[str]
) -> tuple[float, float, float]:
    """Return medians: how many of all were answered, the seconds of one that was, the seconds of all."""
    compiled = build().compile(checkpointer=InMemorySaver())
    alone: list[float] = []
    together: list[float] = []
    answered: list[int] = []
    while len(alone) <= scale.repeats:
        turn = await asked(compiled, stub, next(questions), context)
        if not turn.state["abstained"]:
            alone.append(turn.wall)
    for _ in range(min(scale.repeats, 3)):
        many = list(itertools.islice(questions, scale.together))
        began = time.perf_counter()
        turns = await asyncio.gather(*(timed(compiled, {"question": question}, context) for question in many))
        together.append(time.perf_counter() - began)
        answered.append(sum(not turn.state["abstained"] for turn in turns))
    # The first turn only warmed up.
    return statistics.median(answered), statistics.median(alone[1:]), statistics.median(together)
