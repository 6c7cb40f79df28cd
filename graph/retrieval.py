"""The retrieval graph, from the question to graded passages: a step of the answer graph, and a graph for `search`.

A follow-up question is rewritten so that it stands alone. Several queries go to several retrievers; their results are
fused, reranked, merged into parents and graded. If the evidence is thin, there is a second search in other words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import ValidationError

from anabranch.agent.graph.dependency_injection import OwnStep, Retrievers, bind, for_one_run, replace_nodes
from anabranch.agent.graph.routes import after_grade, after_rewrite, fan_out, first_step, to_begin
from anabranch.agent.graph.sync_adapter import NONE_BOUND, both_ways, route
from anabranch.agent.nodes.begin import begin
from anabranch.agent.nodes.condense import condense
from anabranch.agent.nodes.fuse import fuse
from anabranch.agent.nodes.grade import grade
from anabranch.agent.nodes.merge import merge
from anabranch.agent.nodes.rerank import rerank
from anabranch.agent.nodes.retrieve import retrieve
from anabranch.agent.nodes.review import review_queries
from anabranch.agent.nodes.rewrite import rewrite
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import (
    BeginTask,
    InputState,
    RetrievalInput,
    RetrievalOutput,
    RetrievalState,
    RetrieveTask,
    SearchOutput,
    State,
)
from anabranch.agent.nodes.support.checked_settings import nearest, settings_error
from anabranch.agent.nodes.support.dependencies import MAX_CONCURRENCY
from anabranch.agent.nodes.support.graph_bindings import GraphBindings
from anabranch.agent.nodes.support.run_spans import followed
from anabranch.errors import SettingsError
from anabranch.models.embedder import Embedder
from anabranch.store.filters import parse_filters

RetrievalBuilder = StateGraph[RetrievalState, Context, RetrievalInput, RetrievalOutput]
SearchBuilder = StateGraph[State, Context, InputState, SearchOutput]


def build(
    bindings: GraphBindings = NONE_BOUND, *, graded: bool = True, nodes: Mapping[str, OwnStep] | None = None
) -> RetrievalBuilder:
    """Wire the retrieval graph.

    Args:
        bindings: Objects and settings that the steps use beside their state.
        graded: Whether to merge and grade passages. If false, the result is the ranked leaves, without a review.
        nodes: Replacements for steps by name; names of other graphs' steps are ignored.
    """
    step, edges = partial(both_ways, bindings=bindings), partial(route, bindings=bindings)
    builder: RetrievalBuilder = StateGraph(
        RetrievalState, context_schema=Context, input_schema=RetrievalInput, output_schema=RetrievalOutput
    )
    builder.add_node("condense", step(condense))
    builder.add_node("rewrite", step(rewrite))
    builder.add_node("retrieve", step(retrieve), input_schema=RetrieveTask)
    builder.add_node("fuse", step(fuse))
    builder.add_node("rerank", step(rerank))

    edges(builder, START, first_step)
    builder.add_edge("condense", "rewrite")
    builder.add_edge("retrieve", "fuse")
    builder.add_edge("fuse", "rerank")
    if not graded:
        edges(builder, "rewrite", fan_out, ["retrieve"])
        builder.add_edge("rerank", END)
        replace_nodes(builder, nodes or {}, bindings)
        return builder
    builder.add_node("review_queries", review_queries)
    builder.add_node("merge", step(merge))
    builder.add_node("grade", step(grade))
    edges(builder, "rewrite", after_rewrite, ["retrieve", "review_queries"])
    edges(builder, "review_queries", fan_out, ["retrieve"])
    builder.add_edge("rerank", "merge")
    builder.add_edge("merge", "grade")
    edges(builder, "grade", after_grade, ["rewrite", END])
    replace_nodes(builder, nodes or {}, bindings)
    return builder


def build_search(
    retrievers: Retrievers | None = None, *, embedder: Embeddings | Embedder | None = None
) -> SearchBuilder:
    """Wire the search graph: a question in, ranked leaves out, in the channel `candidates`."""
    bindings = bind(embedder=embedder, retrievers=retrievers)
    builder: SearchBuilder = StateGraph(
        State, context_schema=Context, input_schema=InputState, output_schema=SearchOutput
    )
    run = both_ways(begin, bindings=bindings, event="search")
    builder.add_node("begin", run, input_schema=BeginTask)
    builder.add_node("retrieval", build(bindings, graded=False).compile(), input_schema=RetrievalInput)
    route(builder, START, to_begin, ["begin"], bindings=bindings)
    builder.add_edge("begin", "retrieval")
    builder.add_edge("retrieval", END)
    return builder


_FOLLOWED = followed("search")

graph = build_search().compile(name="search").with_config(max_concurrency=MAX_CONCURRENCY, callbacks=_FOLLOWED)


class HybridRetriever(BaseRetriever):
    """The search graph as a LangChain retriever: leaves as Documents, best first.

    Attributes:
        settings: Settings of `Context`, such as `corpus` (where to search) and `top_k`.
        filters: A filter expression; only documents that match are searched.
        retrievers: Further LangChain retrievers by name.
        embedder: The embedder that the corpus was made with, if it was given in code.
        reranker: A reranker object; takes precedence over `rerank` in `settings`.
    """

    settings: dict[str, Any]
    filters: dict[str, Any] | None = None
    retrievers: Mapping[str, BaseRetriever] | None = None
    embedder: Any = None
    reranker: BaseDocumentCompressor | None = None

    # Type checkers know the fields from pydantic as long as they do not see this.
    if not TYPE_CHECKING:

        def __init__(self, /, **given: Any) -> None:  # noqa: ANN401  # pydantic checks them
            """Take the fields by name.

            Raises:
                SettingsError: There is no such field, or it takes something else.
            """
            fields = type(self).model_fields
            for name in given:
                if name not in fields:
                    raise _no_argument(name, fields)
            parse_filters(given.get("filters"))
            try:
                super().__init__(**given)
            except ValidationError as error:
                raise settings_error(error, fields, "argument") from error

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
        if not self.retrievers and self.embedder is None:
            return graph
        searching = build_search(self.retrievers, embedder=self.embedder).compile()
        return searching.with_config(max_concurrency=MAX_CONCURRENCY, callbacks=_FOLLOWED)

    def _options(
        self, run_manager: CallbackManagerForRetrieverRun | AsyncCallbackManagerForRetrieverRun
    ) -> dict[str, Any]:
        return {
            "config": RunnableConfig(callbacks=run_manager.get_child()),
            "context": for_one_run(self.settings, self.reranker, None)[0],
            "output_keys": ["candidates", "texts"],
        }


def _no_argument(name: str, fields: Iterable[str]) -> SettingsError:
    known = {setting: f'settings={{"{setting}": ...}}' for setting in Context.model_fields}
    known |= {field: repr(field) for field in fields}
    hint = nearest(name, known) or f"It takes {', '.join(fields)}; settings such as top_k go into `settings`."
    return SettingsError(f"HybridRetriever takes no {name!r}.", hint=hint)


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


def search(
    query: str,
    *,
    filters: dict[str, Any] | None = None,
    embedder: Embeddings | Embedder | None = None,
    reranker: BaseDocumentCompressor | str | None = None,
    retrievers: Retrievers | Sequence[str] | None = None,
    **settings: Any,  # noqa: ANN401
) -> list[Document]:
    """Return the passages that a query finds, best first, as LangChain Documents.

    Args:
        query: The query, as text.
        filters: A filter expression; only documents that match are searched.
        embedder: The embedder that the corpus was made with, if it was given in code.
        reranker: The reranker, by name or as an object.
        retrievers: Names of retrievers, as in the settings; or further LangChain retrievers by name, which are used
            together with those of the corpus.
        **settings: Settings of `Context`, such as `corpus` (where to search) and `top_k` (how many passages).

    Raises:
        UserError: The query, a setting or the corpus cannot be used.
    """
    context, own = for_one_run(settings, reranker, retrievers)
    return HybridRetriever(settings=context.explicit, filters=filters, retrievers=own, embedder=embedder).invoke(query)


async def asearch(
    query: str,
    *,
    filters: dict[str, Any] | None = None,
    embedder: Embeddings | Embedder | None = None,
    reranker: BaseDocumentCompressor | str | None = None,
    retrievers: Retrievers | Sequence[str] | None = None,
    **settings: Any,  # noqa: ANN401
) -> list[Document]:
    """Return the passages that a query finds, as `search` does, without blocking the event loop."""
    context, own = for_one_run(settings, reranker, retrievers)
    searching = HybridRetriever(settings=context.explicit, filters=filters, retrievers=own, embedder=embedder)
    return await searching.ainvoke(query)
