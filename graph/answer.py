"""The answer graph: the order of the steps, and nothing else.

`graph` is what `langgraph.json` names; a LangGraph server brings its own checkpointer. In your own code:

    await build().compile(checkpointer=saver).ainvoke({"question": "..."}, context=Context(...))
"""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.retrievers import BaseRetriever
from langgraph.graph import END, START, StateGraph

from graph.routes import (
    after_begin,
    after_cite,
    after_draft,
    after_gather,
    after_grade,
    after_pack,
    after_rewrite,
    search,
)
from graph.sync_adapter import both_ways, route
from nodes.abstain import abstain
from nodes.begin import begin
from nodes.cite import cite
from nodes.condense import condense
from nodes.create import create
from nodes.finish import finish
from nodes.fuse import fuse
from nodes.gather import gather
from nodes.grade import grade
from nodes.map import map_window
from nodes.merge import merge
from nodes.pack import pack
from nodes.reduce import reduce
from nodes.refine import refine
from nodes.rerank import rerank
from nodes.retrieve import checked, retrieve
from nodes.review import review_queries, review_sources
from nodes.rewrite import rewrite
from nodes.settings import Context
from nodes.state import InputState, MapTask, ReduceTask, RetrieveTask, State

Builder = StateGraph[State, Context, InputState, State]


def build(retrievers: Mapping[str, BaseRetriever] | None = None) -> Builder:
    """Wire the answer graph; compile it with a checkpointer to keep threads.

    Args:
        retrievers: LangChain retrievers to join the fan-out, by the names that `Context.retrievers` will use.

    Raises:
        SettingsError: One of them has a name that is built in, or none, or is no retriever.
    """
    guests = checked(retrievers)
    builder: Builder = StateGraph(State, context_schema=Context, input_schema=InputState)
    builder.add_node("begin", both_ways(begin, guests=guests), input_schema=InputState)
    builder.add_node("condense", both_ways(condense))
    builder.add_node("rewrite", both_ways(rewrite))
    builder.add_node("review_queries", review_queries)
    builder.add_node("retrieve", both_ways(retrieve, guests=guests), input_schema=RetrieveTask)
    builder.add_node("fuse", both_ways(fuse))
    builder.add_node("rerank", both_ways(rerank))
    builder.add_node("merge", both_ways(merge))
    builder.add_node("grade", both_ways(grade))
    builder.add_node("review_sources", review_sources)
    builder.add_node("pack", both_ways(pack))
    builder.add_node("create", both_ways(create))
    builder.add_node("refine", both_ways(refine))
    builder.add_node("map", both_ways(map_window), input_schema=MapTask)
    builder.add_node("gather", both_ways(gather))
    builder.add_node("reduce", both_ways(reduce), input_schema=ReduceTask)
    builder.add_node("cite", both_ways(cite))
    builder.add_node("abstain", both_ways(abstain))
    builder.add_node("finish", both_ways(finish))

    builder.add_edge(START, "begin")
    route(builder, "begin", after_begin, ["condense", "rewrite"])
    builder.add_edge("condense", "rewrite")
    route(builder, "rewrite", after_rewrite, ["retrieve", "review_queries"])
    route(builder, "review_queries", search, ["retrieve"])
    builder.add_edge("retrieve", "fuse")
    builder.add_edge("fuse", "rerank")
    builder.add_edge("rerank", "merge")
    builder.add_edge("merge", "grade")
    route(builder, "grade", after_grade)
    builder.add_edge("review_sources", "pack")
    route(builder, "pack", after_pack, ["create", "map", "abstain"])
    route(builder, "create", after_draft)
    route(builder, "refine", after_draft)
    builder.add_edge("map", "gather")
    route(builder, "gather", after_gather, ["reduce", "cite"])
    builder.add_edge("reduce", "gather")
    route(builder, "cite", after_cite)
    builder.add_edge("abstain", "finish")
    builder.add_edge("finish", END)
    return builder


graph = build().compile(name="answer")
