"""The answer graph: the order of the steps, and nothing else.

`graph` is what `langgraph.json` names; a LangGraph server brings its own checkpointer. In your own code:

    await build().compile(checkpointer=saver).ainvoke({"question": "..."}, context=Context(...))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from anabranch.agent.graph.bindings import bind, bind_run
from anabranch.agent.graph.dependencies import MAX_CONCURRENCY
from anabranch.agent.graph.retrieval import build as build_retrieval
from anabranch.agent.graph.routes import (
    after_begin,
    after_cite,
    after_draft,
    after_gather,
    after_pack,
    after_retrieval,
    after_survey,
    to_begin,
)
from anabranch.agent.graph.settings_precedence import resolve_settings
from anabranch.agent.graph.step import OwnStep, Steps, refuse_unknown_steps
from anabranch.agent.graph.telemetry import RunSpans
from anabranch.agent.nodes.abstain import abstain
from anabranch.agent.nodes.begin import BeginTask, begin
from anabranch.agent.nodes.cite import cite
from anabranch.agent.nodes.create import create
from anabranch.agent.nodes.finish import finish
from anabranch.agent.nodes.gather import gather
from anabranch.agent.nodes.installed import installed
from anabranch.agent.nodes.map import MapTask, map_window
from anabranch.agent.nodes.pack import pack
from anabranch.agent.nodes.reduce import ReduceTask, reduce
from anabranch.agent.nodes.refine import refine
from anabranch.agent.nodes.review import review_sources
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import InputState, OutputState, RetrievalInput, State
from anabranch.agent.nodes.survey import survey
from anabranch.errors import SettingsError

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever

    from anabranch.agent.graph.bindings import Retrievers
    from anabranch.models.embedder import Embedder
    from anabranch.retrieval.query_generator import QueryGenerator

AnswerBuilder = StateGraph[State, Context, InputState, OutputState]
AnswerGraph = CompiledStateGraph[State, Context, InputState, OutputState]


def build(
    retrievers: Mapping[str, BaseRetriever] | None = None,
    *,
    model: BaseChatModel | str | None = None,
    embedder: Embeddings | Embedder | None = None,
    reranker: BaseDocumentCompressor | str | None = None,
    queries: QueryGenerator | None = None,
    nodes: Mapping[str, OwnStep] | None = None,
    settings: Context | Mapping[str, Any] | None = None,
) -> AnswerBuilder:
    """Wire the answer graph; compile it with a checkpointer to keep threads.

    Args:
        retrievers: Further LangChain retrievers by name; `Context.retrievers` can use these names.
        model: Chat model for every run that names no other; used unchanged, with its own timeouts and retries.
        embedder: The embedder that the corpus was made with, if it was given in code.
        reranker: Reranker for every run that names no other.
        queries: Makes the further queries of the first search in the place of the chat model: a function of the
            question and their number, async or not, that returns a list of texts.
        nodes: Replacements for steps, by name: functions (state) or (state, runtime), or Runnables. Each takes and
            returns what the original step does.
        settings: Settings for every run that does not give its own.

    Raises:
        SettingsError: A setting is unknown or out of bounds, an object has the wrong type, a retriever has the name of
            a built-in one, or there is no step of a name in `nodes`.
    """
    bindings = bind(settings, model=model, embedder=embedder, reranker=reranker, retrievers=retrievers, queries=queries)
    steps = Steps(bindings, nodes)
    search = build_retrieval(bindings, nodes=nodes)
    builder: AnswerBuilder = StateGraph(
        State, context_schema=Context, input_schema=InputState, output_schema=OutputState
    )
    builder.add_node("begin", steps(begin), input_schema=BeginTask)
    builder.add_node("retrieval", steps.subgraph("retrieval", search.compile()), input_schema=RetrievalInput)
    builder.add_node("survey", steps(survey))
    builder.add_node("review_sources", steps.pause(review_sources))
    builder.add_node("pack", steps(pack))
    builder.add_node("create", steps(create))
    builder.add_node("refine", steps(refine))
    builder.add_node("map", steps(map_window, "map"), input_schema=MapTask)
    builder.add_node("gather", steps(gather))
    builder.add_node("reduce", steps(reduce), input_schema=ReduceTask)
    builder.add_node("installed", steps(installed))
    builder.add_node("cite", steps(cite))
    builder.add_node("abstain", steps(abstain))
    builder.add_node("finish", steps(finish))
    refuse_unknown_steps(nodes or {}, [*builder.nodes, *search.nodes])

    builder.add_conditional_edges(START, to_begin, ["begin"])
    builder.add_conditional_edges("begin", steps.edge(after_begin))
    builder.add_conditional_edges("retrieval", steps.edge(after_retrieval))
    builder.add_conditional_edges("survey", steps.edge(after_survey))
    builder.add_edge("review_sources", "pack")
    builder.add_conditional_edges("pack", steps.edge(after_pack), ["create", "map", "abstain", "installed"])
    builder.add_conditional_edges("create", steps.edge(after_draft))
    builder.add_conditional_edges("refine", steps.edge(after_draft))
    builder.add_edge("map", "gather")
    builder.add_conditional_edges("gather", steps.edge(after_gather), ["reduce", "cite"])
    builder.add_edge("reduce", "gather")
    builder.add_edge("installed", "cite")
    builder.add_conditional_edges("cite", steps.edge(after_cite))
    builder.add_edge("abstain", "finish")
    builder.add_edge("finish", END)
    return builder


def _compile(builder: AnswerBuilder) -> AnswerGraph:
    compiled = builder.compile(name="answer")
    return compiled.with_config(max_concurrency=MAX_CONCURRENCY, callbacks=[RunSpans("answer")])


graph = _compile(build())
graph.__doc__ = (
    "The answer graph without a checkpointer: takes a `question` or `messages` and a `Context`, returns an answer."
)


def answer(
    question: str,
    *,
    filters: dict[str, Any] | None = None,
    embedder: Embeddings | Embedder | None = None,
    reranker: BaseDocumentCompressor | str | None = None,
    retrievers: Retrievers | Sequence[str] | None = None,
    **settings: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Answer one question.

    Args:
        question: The question, as text.
        filters: A filter expression; only documents that match are searched.
        embedder: The embedder that the corpus was made with, if it was given in code.
        reranker: The reranker, by name or as an object.
        retrievers: Names of retrievers, as in the settings; or further LangChain retrievers by name, which are used
            together with those of the corpus.
        **settings: Settings of `Context`, such as `corpus` (where to search) and `model` (by name or as an object).

    Returns:
        The keys of `OutputState`: the answer, its citations, whether it abstained, what was degraded, the usage.

    Raises:
        UserError: The question, a setting or the corpus cannot be used.
        ModelError: No answer could be made without the model that failed.
    """
    run, context = _run(embedder, reranker, retrievers, settings)
    return run.invoke(InputState(question=question, filters=filters), context=context)


async def aanswer(
    question: str,
    *,
    filters: dict[str, Any] | None = None,
    embedder: Embeddings | Embedder | None = None,
    reranker: BaseDocumentCompressor | str | None = None,
    retrievers: Retrievers | Sequence[str] | None = None,
    **settings: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Answer one question, as `answer` does, without blocking the event loop."""
    run, context = _run(embedder, reranker, retrievers, settings)
    return await run.ainvoke(InputState(question=question, filters=filters), context=context)


def _run(
    embedder: Embeddings | Embedder | None,
    reranker: BaseDocumentCompressor | str | None,
    retrievers: Retrievers | Sequence[str] | None,
    settings: dict[str, Any],
) -> tuple[AnswerGraph, Context]:
    """Return a graph with the given objects, and the settings; refuse `review`, since nobody could resume the run."""
    context, own = bind_run(settings, reranker, retrievers)
    if (review := resolve_settings(context).review) != "none":
        msg = f"review: {review} pauses the run, which needs a graph with a checkpointer."
        raise SettingsError(msg, hint="Use build().compile(checkpointer=...), or leave `review` out.")
    return graph if embedder is None and own is None else _compile(build(own, embedder=embedder)), context
