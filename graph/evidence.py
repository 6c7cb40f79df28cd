"""The evidence graph: the middle of the answer graph, from queries to windows, for a step that looks ahead.

Same nodes, same edges between them. It runs inside a step, so it keeps no checkpoints of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Any, cast

from langchain_core.runnables.config import set_config_context
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph

from graph.bridge import both_ways, route
from graph.context import Context
from graph.routes import after_grade, search
from graph.state import RetrieveTask, State
from nodes.fuse import fuse
from nodes.grade import grade
from nodes.merge import merge
from nodes.pack import pack
from nodes.rerank import rerank
from nodes.retrieve import retrieve

ENDS: dict[Hashable, str] = {"pack": "pack", "rewrite": END, "abstain": END, "review_sources": END}
"""Windows are made only where the answer graph would make some now."""


def build() -> StateGraph[State, Context, State, State]:
    """Wire the evidence graph; its result is in the channels `windows`, `passages` and `route`."""
    builder: StateGraph[State, Context, State, State] = StateGraph(State, context_schema=Context)
    builder.add_node("retrieve", both_ways(retrieve), input_schema=RetrieveTask)
    builder.add_node("fuse", both_ways(fuse))
    builder.add_node("rerank", both_ways(rerank))
    builder.add_node("merge", both_ways(merge))
    builder.add_node("grade", both_ways(grade))
    builder.add_node("pack", both_ways(pack))

    route(builder, START, search, ["retrieve"])
    builder.add_edge("retrieve", "fuse")
    builder.add_edge("fuse", "rerank")
    builder.add_edge("rerank", "merge")
    builder.add_edge("merge", "grade")
    route(builder, "grade", after_grade, ENDS)
    builder.add_edge("pack", END)
    return builder


graph = build().compile(checkpointer=False, name="evidence")


async def evidence(state: State, context: Context) -> State:
    """Return the state with the evidence for its queries."""
    # Apart from the run around it: a graph without checkpoints fails where that run waits for each of them to be kept.
    outer = get_config()
    kept: Any = {name: value for name, value in outer.items() if name in ("callbacks", "metadata", "tags")}
    with set_config_context(kept) as apart:
        found: Any = await asyncio.create_task(graph.ainvoke(state, context=context), context=apart)
    return cast("State", found)
