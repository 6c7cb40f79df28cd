"""The retrieval graph, from the question to graded passages: a step of the answer graph, and a graph for `search`.

A follow-up question is made to stand alone, searched for in several ways by several retrievers, and what they find is
fused, reranked, merged into parents and graded. Thin evidence is searched for once more, in other words.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from graph.routes import after_grade, after_rewrite, fan_out, first_step, to_begin
from graph.sync_adapter import both_ways, route
from nodes.begin import begin
from nodes.condense import condense
from nodes.fuse import fuse
from nodes.grade import grade
from nodes.merge import merge
from nodes.rerank import rerank
from nodes.retrieve import checked, retrieve
from nodes.review import review_queries
from nodes.rewrite import rewrite
from nodes.settings import Context
from nodes.state import (
    BeginTask,
    InputState,
    RetrievalInput,
    RetrievalOutput,
    RetrievalState,
    RetrieveTask,
    SearchOutput,
    State,
)
from nodes.support.dependencies import MAX_CONCURRENCY
from nodes.support.run_spans import followed
from nodes.support.settings_precedence import given_settings

RetrievalBuilder = StateGraph[RetrievalState, Context, RetrievalInput, RetrievalOutput]
SearchBuilder = StateGraph[State, Context, InputState, SearchOutput]


def build(
    retrievers: Mapping[str, BaseRetriever] | None = None, *, graded: bool = True, model: BaseChatModel | None = None
) -> RetrievalBuilder:
    """Wire the retrieval graph.

    Args:
        retrievers: LangChain retrievers to join the fan-out, by the names that `Context.retrievers` will use.
        graded: Whether passages are wanted, merged and graded; without, the ranked leaves are the result, and nobody is
            asked to review.
        model: The chat model of every run that names no other.

    Raises:
        SettingsError: One of the retrievers has a name that is built in, or none, or is no retriever.
    """
    external = checked(retrievers)
    step, edges = partial(both_ways, model=model), partial(route, model=model)
    builder: RetrievalBuilder = StateGraph(
        RetrievalState, context_schema=Context, input_schema=RetrievalInput, output_schema=RetrievalOutput
    )
    builder.add_node("condense", step(condense))
    builder.add_node("rewrite", step(rewrite))
    builder.add_node("retrieve", step(retrieve, external=external), input_schema=RetrieveTask)
    builder.add_node("fuse", step(fuse))
    builder.add_node("rerank", step(rerank))

    edges(builder, START, first_step)
    builder.add_edge("condense", "rewrite")
    builder.add_edge("retrieve", "fuse")
    builder.add_edge("fuse", "rerank")
    if not graded:
        edges(builder, "rewrite", fan_out, ["retrieve"])
        builder.add_edge("rerank", END)
        return builder
    builder.add_node("review_queries", review_queries)
    builder.add_node("merge", step(merge))
    builder.add_node("grade", step(grade))
    edges(builder, "rewrite", after_rewrite, ["retrieve", "review_queries"])
    edges(builder, "review_queries", fan_out, ["retrieve"])
    builder.add_edge("rerank", "merge")
    builder.add_edge("merge", "grade")
    edges(builder, "grade", after_grade, ["rewrite", END])
    return builder


def build_search(retrievers: Mapping[str, BaseRetriever] | None = None) -> SearchBuilder:
    """Wire the search graph: a question in, ranked leaves out, in the channel `candidates`."""
    builder: SearchBuilder = StateGraph(
        State, context_schema=Context, input_schema=InputState, output_schema=SearchOutput
    )
    run = both_ways(begin, external=checked(retrievers), event="search")
    builder.add_node("begin", run, input_schema=BeginTask)
    builder.add_node("retrieval", build(retrievers, graded=False).compile(), input_schema=RetrievalInput)
    route(builder, START, to_begin, ["begin"])
    builder.add_edge("begin", "retrieval")
    builder.add_edge("retrieval", END)
    return builder


_FOLLOWED = followed("search")

graph = build_search().compile(name="search").with_config(max_concurrency=MAX_CONCURRENCY, callbacks=_FOLLOWED)


class HybridRetriever(BaseRetriever):
    """The search graph as a LangChain retriever: leaves as Documents, best first.

    Attributes:
        settings: As `Context` takes them; `corpus` says where to search.
        filters: What the documents have to be like.
        retrievers: LangChain retrievers that join the fan-out.
    """

    settings: dict[str, Any]
    filters: dict[str, Any] | None = None
    retrievers: Mapping[str, BaseRetriever] | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return _documents(
            self._graph().invoke(InputState(question=query, filters=self.filters), **self._options(run_manager))
        )

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return _documents(
            await self._graph().ainvoke(InputState(question=query, filters=self.filters), **self._options(run_manager))
        )

    def _graph(self) -> CompiledStateGraph[State, Context, InputState, SearchOutput]:
        if not self.retrievers:
            return graph
        searching = build_search(self.retrievers).compile()
        return searching.with_config(max_concurrency=MAX_CONCURRENCY, callbacks=_FOLLOWED)

    def _options(
        self, run_manager: CallbackManagerForRetrieverRun | AsyncCallbackManagerForRetrieverRun
    ) -> dict[str, Any]:
        return {
            "config": RunnableConfig(callbacks=run_manager.get_child()),
            "context": given_settings(self.settings),
            "output_keys": ["candidates", "texts"],
        }


def _documents(found: Mapping[str, Any]) -> list[Document]:
    texts, candidates = found["texts"], found["candidates"]
    return [
        Document(
            id=chunk.chunk_id,
            page_content=chunk.text,
            metadata={
                "source": chunk.source,
                "title": chunk.title,
                "heading": chunk.heading,
                "page": chunk.page,
                "start": chunk.start,
                "end": chunk.end,
                "score": candidate["score"],
            },
        )
        for candidate in candidates
        if (chunk := texts.get(candidate["id"])) is not None
    ]


def search(query: str, *, filters: dict[str, Any] | None = None, **settings: Any) -> list[Document]:  # noqa: ANN401
    """Return the passages that a query finds, best first, as LangChain Documents.

    Args:
        query: In words.
        filters: What the documents have to be like.
        **settings: As `Context` takes them: `corpus` says where to search, `top_k` how many are wanted.

    Raises:
        UserError: The query, a setting or the corpus cannot be used.
    """
    return HybridRetriever(settings=settings, filters=filters).invoke(query)


async def asearch(query: str, *, filters: dict[str, Any] | None = None, **settings: Any) -> list[Document]:  # noqa: ANN401
    """Return the passages that a query finds, as `search` does, without blocking the event loop."""
    return await HybridRetriever(settings=settings, filters=filters).ainvoke(query)
