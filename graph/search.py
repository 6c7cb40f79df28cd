"""The search graph: the first half of the answer graph, up to the reranked passages, for `anabranch search`.

Same nodes, same edges between them; a question stands alone here, so `condense` only makes it the first query, and
nobody is asked to review.
"""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.retrievers import BaseRetriever
from langgraph.graph import END, START, StateGraph

from graph.routes import search
from graph.sync_adapter import both_ways, route
from nodes.begin import begin
from nodes.condense import condense
from nodes.fuse import fuse
from nodes.rerank import rerank
from nodes.retrieve import checked, retrieve
from nodes.rewrite import rewrite
from nodes.settings import Context
from nodes.state import InputState, RetrieveTask, State

Builder = StateGraph[State, Context, InputState, State]


def build(retrievers: Mapping[str, BaseRetriever] | None = None) -> Builder:
    """Wire the search graph; its result is in the channel `candidates`; `retrievers` as in the answer graph."""
    guests = checked(retrievers)
    builder: Builder = StateGraph(State, context_schema=Context, input_schema=InputState)
    builder.add_node("begin", both_ways(begin, guests=guests), input_schema=InputState)
    builder.add_node("condense", both_ways(condense))
    builder.add_node("rewrite", both_ways(rewrite))
    builder.add_node("retrieve", both_ways(retrieve, guests=guests), input_schema=RetrieveTask)
    builder.add_node("fuse", both_ways(fuse))
    builder.add_node("rerank", both_ways(rerank, order_counts=True))

    builder.add_edge(START, "begin")
    builder.add_edge("begin", "condense")
    builder.add_edge("condense", "rewrite")
    route(builder, "rewrite", search, ["retrieve"])
    builder.add_edge("retrieve", "fuse")
    builder.add_edge("fuse", "rerank")
    builder.add_edge("rerank", END)
    return builder


graph = build().compile(name="search")
