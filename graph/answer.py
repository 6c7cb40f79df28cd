"""The answer graph: the order of the steps, and nothing else.

`graph` is what `langgraph.json` names; a LangGraph server brings its own checkpointer. In your own code:

    await build().compile(checkpointer=saver).ainvoke({"question": "..."}, context=Context(...))
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langgraph.graph import END, START, StateGraph

from anabranch.errors import SettingsError
from anabranch.synthesis.routing import SYNTHESIS_MODES
from graph.retrieval import build as build_retrieval
from graph.routes import after_begin, after_cite, after_draft, after_gather, after_pack, after_retrieval, to_begin
from graph.sync_adapter import both_ways, route
from nodes.abstain import abstain
from nodes.begin import begin
from nodes.cite import cite
from nodes.create import create
from nodes.finish import finish
from nodes.gather import gather
from nodes.installed import installed
from nodes.map import map_window
from nodes.pack import pack
from nodes.reduce import reduce
from nodes.refine import refine
from nodes.retrieve import checked
from nodes.review import review_sources
from nodes.settings import Context
from nodes.state import BeginTask, InputState, MapTask, OutputState, ReduceTask, RetrievalInput, State
from nodes.support.dependencies import MAX_CONCURRENCY, checked_model
from nodes.support.run_spans import followed
from nodes.support.settings_precedence import given_settings, in_force

AnswerBuilder = StateGraph[State, Context, InputState, OutputState]


def build(
    retrievers: Mapping[str, BaseRetriever] | None = None, *, model: BaseChatModel | None = None
) -> AnswerBuilder:
    """Wire the answer graph; compile it with a checkpointer to keep threads.

    Args:
        retrievers: LangChain retrievers to join the fan-out, by the names that `Context.retrievers` will use.
        model: The chat model of every run that names no other, used as it is, with its own timeouts and retries.

    Raises:
        SettingsError: A retriever has a name that is built in, or none, or is no retriever; the model is none.
    """
    step, edges = partial(both_ways, model=checked_model(model)), partial(route, model=model)
    builder: AnswerBuilder = StateGraph(
        State, context_schema=Context, input_schema=InputState, output_schema=OutputState
    )
    builder.add_node("begin", step(begin, external=checked(retrievers)), input_schema=BeginTask)
    builder.add_node("retrieval", build_retrieval(retrievers, model=model).compile(), input_schema=RetrievalInput)
    builder.add_node("review_sources", review_sources)
    builder.add_node("pack", step(pack))
    builder.add_node("create", step(create))
    builder.add_node("refine", step(refine))
    builder.add_node("map", step(map_window), input_schema=MapTask)
    builder.add_node("gather", step(gather))
    builder.add_node("reduce", step(reduce), input_schema=ReduceTask)
    builder.add_node("cite", step(cite))
    builder.add_node("abstain", step(abstain))
    builder.add_node("finish", step(finish))

    if SYNTHESIS_MODES.names:
        builder.add_node("installed", step(installed))
        builder.add_edge("installed", "cite")

    edges(builder, START, to_begin, ["begin"])
    edges(builder, "begin", after_begin)
    edges(builder, "retrieval", after_retrieval)
    builder.add_edge("review_sources", "pack")
    edges(builder, "pack", after_pack, ["create", "map", "abstain", *(["installed"] if SYNTHESIS_MODES.names else [])])
    edges(builder, "create", after_draft)
    edges(builder, "refine", after_draft)
    builder.add_edge("map", "gather")
    edges(builder, "gather", after_gather, ["reduce", "cite"])
    builder.add_edge("reduce", "gather")
    edges(builder, "cite", after_cite)
    builder.add_edge("abstain", "finish")
    builder.add_edge("finish", END)
    return builder


graph = build().compile(name="answer").with_config(max_concurrency=MAX_CONCURRENCY, callbacks=followed("answer"))


def answer(question: str, *, filters: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:  # noqa: ANN401
    """Answer one question.

    Args:
        question: In words.
        filters: What the documents have to be like.
        **settings: As `Context` takes them: `corpus` says where to search, `model` who writes, by its name or as an
            object.

    Returns:
        What `OutputState` lists: the answer, its citations, whether it abstained, what was degraded, the usage.

    Raises:
        UserError: The question, a setting or the corpus cannot be used.
        ModelError: No answer could be made without the model that failed.
    """
    return graph.invoke(InputState(question=question, filters=filters), context=_unpaused(settings))


async def aanswer(question: str, *, filters: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:  # noqa: ANN401
    """Answer one question, as `answer` does, without blocking the event loop."""
    return await graph.ainvoke(InputState(question=question, filters=filters), context=_unpaused(settings))


def _unpaused(values: dict[str, Any]) -> Context:
    """Return the settings of a run that nothing pauses, because nobody could resume it."""
    context = given_settings(values)
    if (review := in_force(context).review) != "none":
        msg = f"review: {review} pauses the run for a person, and only a graph with a checkpointer can wait."
        raise SettingsError(msg, hint="Use build().compile(checkpointer=...), or leave `review` out.")
    return context
