"""One turn of a compiled graph, with a stopwatch; and the least that LangGraph takes for as many steps."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from nodes.settings import Context
from tests.servers.openai_stub import OpenAIStub

Compiled = CompiledStateGraph[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn took.

    Attributes:
        thread: Thread id, for the size of its checkpoints.
        state: As it was at the end.
        wall: Seconds from the call to the end of the stream.
        first: Seconds to the first piece of text; 0 where none came.
        steps: Supersteps of LangGraph.
        calls: Model calls, as the server counted them.
        rounds: Steps of the graph that made some: calls of branches side by side are one round trip.
    """

    thread: str
    state: dict[str, Any]
    wall: float
    first: float
    steps: int
    calls: int = 0
    rounds: int = 0


async def timed(compiled: Compiled, given: dict[str, Any], context: Context | None = None) -> Turn:
    """Run one turn in a thread of its own, streamed as a page would stream it."""
    thread = uuid4().hex
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    state: dict[str, Any] = {}
    first = 0.0
    began = time.perf_counter()
    streamed: Any = compiled.astream(given, config, context=context, stream_mode=["messages", "values"])
    async for mode, item in streamed:
        if mode == "values":
            state = item
        elif not first and isinstance(item[0], AIMessage) and item[0].text:
            first = time.perf_counter() - began
    wall = time.perf_counter() - began
    snapshot = await compiled.aget_state(config)
    return Turn(thread, state, wall, first, int((snapshot.metadata or {}).get("step", 0)))


async def asked(compiled: Compiled, stub: OpenAIStub, question: str, context: Context) -> Turn:
    """Ask one question and count what the model server saw of it."""
    calls = len(stub.calls)
    turn = await timed(compiled, {"question": question}, context)
    rounds = turn.state["usage"]["rounds"]
    return Turn(turn.thread, turn.state, turn.wall, turn.first, turn.steps, len(stub.calls) - calls, rounds)


class Counted(TypedDict):
    """The state of an empty graph."""

    at: int


def empty(steps: int, saver: BaseCheckpointSaver[str]) -> Compiled:
    """Return a graph of `steps` nodes, one after the other, that do nothing but count."""
    builder: StateGraph[Counted, None, Counted, Counted] = StateGraph(Counted)

    async def count(state: Counted) -> Counted:
        return {"at": state["at"] + 1}

    names = [f"step_{number}" for number in range(steps)]
    for name in names:
        builder.add_node(name, count)
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    return builder.compile(checkpointer=saver)
