"""Run one turn of the answer graph: its events to whoever watches, its end state or its question to a person."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StreamMode

from anabranch.cli.live_answer import LiveAnswer
from nodes.settings import Context
from nodes.state import CHANNELS, InputState


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What a run left: the state, and what it waits for if a person has to speak first."""

    state: dict[str, Any]
    waiting: list[dict[str, Any]] = field(default_factory=list)


Graph = CompiledStateGraph[Any, Context, Any, Any]


async def run_turn(
    graph: Graph, given: InputState | Command[Any] | None, context: Context, config: RunnableConfig, watcher: LiveAnswer
) -> TurnResult:
    """Run until the end or an interrupt; each step is on disk before the next begins, where there is a checkpointer.

    Args:
        graph: The compiled answer graph.
        given: Its input; None goes on with an unfinished run, a Command with a person's reply.
        context: The settings.
        config: Names the thread, if there is one.
        watcher: Told of tokens and steps.
    """
    state: dict[str, Any] = {}
    modes: list[StreamMode] = ["messages", "custom", "values"]
    # Written before the next step begins, so that a killed run repeats no finished model call.
    options: dict[str, Any] = {"durability": "sync"} if graph.checkpointer else {}
    stream: AsyncIterator[Any] = graph.astream(
        given, config, context=context, stream_mode=modes, output_keys=CHANNELS, subgraphs=True, **options
    )
    async for graph_of, mode, payload in stream:
        if mode == "values":
            # The search is a graph of its own inside; the turn's state is that of the outer one.
            state = state if graph_of else dict(payload)
        elif mode == "custom":
            watcher.event(payload)
        elif isinstance(payload[0], AIMessageChunk):
            watcher.token(payload[0].text, payload[0].id)
    interrupts = state.pop("__interrupt__", ())
    return TurnResult(state, [interrupt.value for interrupt in interrupts])
