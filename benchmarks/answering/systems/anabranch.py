"""Anabranch: the answer graph, streamed as a page streams it, with its threads in memory or in SQLite."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from anabranch.agent.graph.answer import build
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import VISIBLE
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from benchmarks.answering.material import Asked
from benchmarks.answering.rows import DEPTH, Row
from benchmarks.answering.systems import Answer, Ask
from benchmarks.at_scale.systems.anabranch import System as Corpus

Compiled = CompiledStateGraph[Any, Any, Any, Any]

CORPUS = "corpus"
ROUTES = {"refine": "refine", "map_reduce": "map_reduce"}
"""The route that a row is about where it makes windows small enough; an answer of one call for all others."""


class System:
    """A compiled graph per row."""

    savers = ("memory", "SQLite")

    def __init__(self, asked: Asked, folder: Path, base_url: str) -> None:
        """Keep what is needed."""
        self._asked, self._folder, self._base_url = asked, folder, base_url
        self._held = AsyncExitStack()
        self._made: dict[str, BaseCheckpointSaver[Any]] = {}

    async def build(self) -> None:
        """Ingest, with the vectors that are there."""
        material = self._asked.passages
        shutil.rmtree(self._folder / CORPUS, ignore_errors=True)  # of an earlier run in a folder that is kept
        corpus = Corpus(material, self._folder / CORPUS, {"depth": DEPTH, "alpha": 0.5, "fusion": "convex"})
        corpus.prepare()
        await corpus.build()

    async def ready(self, row: Row, saver: str) -> Ask:
        """Compile a graph, and choose the context."""
        graph = build().compile(checkpointer=await self._opened(saver))
        context = Context(**self.given(), model_retries=0, **row.settings)
        several = "window_tokens" in row.settings
        return partial(_ask, graph, context, ROUTES.get(context.synthesis, "create") if several else "create")

    def given(self) -> dict[str, str]:
        """Return what the caller says of corpus and model."""
        return {"corpus": str(self._folder / CORPUS), "model": "openai:stub", "base_url": self._base_url}

    async def _opened(self, saver: str) -> BaseCheckpointSaver[Any]:
        if saver not in self._made:
            file = str(self._folder / "threads.db")
            sqlite = saver == "SQLite"
            made: Any = (
                await self._held.enter_async_context(AsyncSqliteSaver.from_conn_string(file)) if sqlite else None
            )
            self._made[saver] = made or InMemorySaver()
        return self._made[saver]

    async def know(self, questions: Sequence[str]) -> None:
        """Search each query once: the corpus keeps the vectors of queries, as the peers have theirs in memory."""
        corpus = await open_corpus(self._folder / CORPUS)
        queries = [query for question in questions for query in self._asked.by_question[question]]
        await corpus.search("dense", queries, 1, Scope())

    async def idle(self, saver: str, steps: int) -> float | None:
        """Run an empty graph of as many steps with the same checkpointer."""
        graph = _empty(steps, await self._opened(saver))
        config: RunnableConfig = {"configurable": {"thread_id": uuid4().hex}}
        began = time.perf_counter()
        async for _ in graph.astream({"at": 0}, config, stream_mode=["messages", "values"]):
            pass
        return time.perf_counter() - began


async def _ask(graph: Compiled, context: Context, route: str, question: str) -> Answer:
    """Take one turn in a thread of its own."""
    config: RunnableConfig = {"configurable": {"thread_id": uuid4().hex}}
    first, state = None, {}
    steps = -1
    streamed: Any = graph.astream(
        {"question": question}, config, context=context, stream_mode=["messages", "values"], output_keys=VISIBLE
    )
    async for mode, item in streamed:
        if mode == "values":
            state, steps = item, steps + 1
        elif first is None and isinstance(item[0], AIMessage) and item[0].text:
            first = time.monotonic()
    return Answer(state["answer"], first, steps, _astray(state, route))


def _astray(state: dict[str, Any], route: str) -> str:
    """Say what the turn did that its row is not about."""
    if state["abstained"] or state["degraded"]:
        return f"abstained: {state['abstained']}, degraded: {state['degraded']!r}"
    return "" if state["route"]["name"] == route else f"went the route {state['route']!r}"


class Counted(TypedDict):
    """The state of an empty graph."""

    at: int


def _empty(steps: int, saver: BaseCheckpointSaver[Any]) -> Compiled:
    """Return a graph of `steps` nodes, one after the other, that do nothing but count."""

    async def count(state: Counted) -> Counted:
        return {"at": state["at"] + 1}

    builder: StateGraph[Counted, None, Counted, Counted] = StateGraph(Counted)
    builder.add_sequence([(f"step_{number}", count) for number in range(steps)])
    builder.add_edge(START, "step_0")
    builder.add_edge(f"step_{steps - 1}", END)
    return builder.compile(checkpointer=saver)
