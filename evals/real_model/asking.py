"""One question through the whole graph on one route, and what came of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from evals.real_model.questions import Question, contains
from evals.real_model.serving import Clock
from graph.answer import build
from nodes.settings import Context
from nodes.state import CHANNELS

WINDOW = 1000
"""Tokens of passages in all, on every route: a small model on one core reads some forty a second."""

ROUTES: dict[str, dict[str, Any]] = {
    "compose": {"model": None, "base_url": None, "window_tokens": WINDOW},
    "stuff": {"synthesis": "stuff", "window_tokens": WINDOW},
    "refine": {"synthesis": "refine", "window_tokens": WINDOW // 2},
    "map_reduce": {"synthesis": "map_reduce", "window_tokens": WINDOW // 2},
}
COMMON: dict[str, Any] = {
    # What a slow machine takes is measured, not cut off; the question itself is the only query, so that every call is
    # one of the route; one round, so that all routes see the same passages.
    "model_timeout": 1800.0, "model_retries": 0, "strategy": "none", "max_rounds": 1, "top_k": 8, "answer_tokens": 200,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Result:
    """What one question came to on one route.

    Attributes:
        route: Asked for.
        went: The route that was gone: one window is answered at once, whatever was asked for.
        contains: Whether the answer holds what is expected.
        abstained: Whether the graph gave no answer.
        claims: Sentences that claim something.
        supported: Those of them that a passage supports.
        citations: All that are shown.
        quoted: Those of them whose claim stands in its passage word for word.
        cpu: Seconds of the model server.
        degraded: Steps that could not do their best.
    """

    question: str
    kind: str
    route: str
    went: str
    answer: str
    contains: bool
    abstained: bool
    claims: int
    supported: int
    citations: int
    quoted: int
    calls: int
    rounds: int
    prompt: int
    output: int
    cpu: float
    wall: float
    degraded: list[str]


async def ask(question: Question, route: str, corpus: Path, base_url: str, clock: Clock) -> Result:
    """Ask one question in a thread of its own."""
    server = {"model": "openai:local", "base_url": base_url}
    context = Context(**{**COMMON, **server, **ROUTES[route], "corpus": str(corpus)})
    config: RunnableConfig = {"configurable": {"thread_id": uuid4().hex}}
    cpu, began = clock(), time.perf_counter()
    state: dict[str, Any] = await build().compile(checkpointer=InMemorySaver()).ainvoke(
        {"question": question.text}, config, context=context, output_keys=CHANNELS
    )  # fmt: skip
    usage, counts = state["usage"], _counts(state, "cite")
    return Result(
        question=question.id,
        kind=question.kind,
        route=route,
        went=state["route"]["name"],
        answer=state["answer"],
        contains=not state["abstained"] and contains(state["answer"], question),
        abstained=state["abstained"],
        claims=counts.get("claims", 0),
        supported=counts.get("quoted", 0) + counts.get("supported", 0),
        citations=len(state["citations"]),
        quoted=sum(citation["grade"] == "quoted" for citation in state["citations"]),
        calls=usage["calls"],
        rounds=usage["rounds"],
        prompt=usage["prompt_tokens"],
        output=usage["output_tokens"],
        cpu=round(clock() - cpu, 2),
        wall=round(time.perf_counter() - began, 2),
        degraded=[f"{each['step']}: {each['reason']}"[:200] for each in state["degraded"]],
    )


def _counts(state: dict[str, Any], node: str) -> dict[str, Any]:
    return next((step["counts"] for step in reversed(state["trace"]) if step["node"] == node), {})
