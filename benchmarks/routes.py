"""What each route costs: model calls, round trips, time to the first word, and the time that is not the model's."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from benchmarks.report import Table, kilobytes, ms, times
from benchmarks.scale import Scale
from benchmarks.turns import Compiled, Turn, asked, empty, timed
from graph.answer import build
from nodes.settings import Context
from tests.servers.openai_stub import OpenAIStub

# Windows of one leaf or less, so that a guide of a few pages fills enough of them.
SMALL = {"window_tokens": 128, "merge_threshold": 1.0, "strategy": "none"}


@dataclass(frozen=True, slots=True)
class Route:
    """A way to an answer: its settings, the name that the graph must choose, the fewest windows that count as it."""

    title: str
    chosen: str
    windows: int = 1
    settings: dict[str, Any] = field(default_factory=dict)


ROUTES = (
    Route("compose (no model)", "compose", settings={"model": None, "base_url": None}),
    Route("create", "create", settings={"strategy": "none"}),
    Route("rewrite, create", "create"),
    # Asked to, though all passages fit one window and will be read in any case.
    Route("LLM rerank, create", "create", settings={"strategy": "none", "rerank": "llm", "rerank_always": True}),
    Route("refine", "refine", 4, {**SMALL, "synthesis": "refine", "top_k": 5}),
    Route("map-reduce, fan-in 4", "map_reduce", 6, {**SMALL, "synthesis": "map_reduce", "top_k": 10, "fan_in": 4}),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """The median turn of a route, and the median time of an empty graph of as many steps."""

    route: Route
    saver: str
    turn: Turn
    floor: float


async def measure(scale: Scale, corpus: Path, stub: OpenAIStub, questions: Iterator[str], folder: Path) -> list[Table]:
    """Return the tables of cost and of time."""
    costs, speeds = [], []
    async with AsyncSqliteSaver.from_conn_string(str(folder / "threads.db")) as kept:
        savers: dict[str, BaseCheckpointSaver[Any]] = {"memory": InMemorySaver(), "SQLite": kept}
        for route in ROUTES:
            measured = [
                await _median(scale, route, name, savers[name], corpus, stub, questions) for name in scale.savers
            ]
            costs.append(_cost(measured[-1], *await _sizes(kept, measured[-1].turn.thread)))
            speeds += [_speed(each, scale.delay) for each in measured]
    return [
        Table("cost", "Cost of each route", COST, tuple(costs)),
        Table("time", f"Time of each route, ms (the model takes {ms(scale.delay)} ms a call)", TIME, tuple(speeds)),
    ]


async def _median(
    scale: Scale,
    route: Route,
    name: str,
    saver: BaseCheckpointSaver[Any],
    corpus: Path,
    stub: OpenAIStub,
    questions: Iterator[str],
) -> Measured:
    """Take turns with the empty graph, so that a busy machine slows both alike; the first turn only warms up."""
    compiled = build().compile(checkpointer=saver)
    server = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
    settings: dict[str, Any] = {"corpus": str(corpus), **server, **route.settings}
    context = Context(**settings)
    steps = (await _taken(route, compiled, stub, questions, context)).steps
    idle = empty(steps, saver)
    await timed(idle, {"at": 0})
    turns, floors = [], []
    for _ in range(scale.repeats):
        turns.append(await _taken(route, compiled, stub, questions, context))
        floors += [(await timed(idle, {"at": 0})).wall for _ in range(3)]
    turns.sort(key=lambda turn: turn.wall)
    return Measured(route, name, turns[len(turns) // 2], statistics.median(floors))


async def _taken(
    route: Route, compiled: Compiled, stub: OpenAIStub, questions: Iterator[str], context: Context
) -> Turn:
    """Return a turn that went the route; a question that is searched again, or abstained from, went another way.

    Raises:
        RuntimeError: Ten questions in a row went another way.
    """
    went: list[str] = []
    while len(went) < 10:
        turn = await asked(compiled, stub, next(questions), context)
        state = turn.state
        chosen, windows = state["route"]["name"], len(state["windows"])
        once = [step["node"] for step in state["trace"]].count("fuse") == 1
        as_meant = chosen == route.chosen and windows >= route.windows and once
        if as_meant and not state["abstained"] and not state["degraded"]:
            return turn
        went.append(f"{state['asked']!r}: {chosen!r}, {windows!r} windows")
    raise RuntimeError(f"no question went the route {route.title!r}: {'; '.join(went)}")


async def _sizes(saver: AsyncSqliteSaver, thread: str) -> tuple[int, int, int]:
    """Return the bytes of a thread's checkpoints together, of the largest, and of the writes between them."""
    sql = "SELECT sum(length(checkpoint)), max(length(checkpoint)) FROM checkpoints WHERE thread_id = ?"
    ((together, largest),) = await saver.conn.execute_fetchall(sql, (thread,))
    sql = "SELECT sum(length(value)) FROM writes WHERE thread_id = ?"
    ((writes,),) = await saver.conn.execute_fetchall(sql, (thread,))
    return together, largest, writes


COST = ("route", "windows", "calls", "rounds", "steps", "checkpoints kB", "largest kB", "writes kB")
TIME = ("route", "threads in", "wall", "first word", "model", "not model", "empty graph", "not model / empty")


def _cost(measured: Measured, *sizes: int) -> tuple[str, ...]:
    turn = measured.turn
    counts = (len(turn.state["windows"]), turn.calls, turn.rounds, turn.steps)
    return (measured.route.title, *map(str, counts), *map(kilobytes, sizes))


def _speed(measured: Measured, delay: float) -> tuple[str, ...]:
    turn = measured.turn
    model = turn.rounds * delay
    seconds = (turn.wall, turn.first, model, turn.wall - model, measured.floor)
    return (measured.route.title, measured.saver, *map(ms, seconds), times((turn.wall - model) / measured.floor))
