"""The retrieval graph, from the question to graded passages: a step of the answer graph, and a graph for `search`.

A follow-up question is rewritten so that it stands alone. Several queries go to several retrievers; their results are
fused, reranked, merged into parents and graded. If the plan says that something has to be found first, further searches
are made of it; if too little is found under an inferred filter, it is searched again without; if the evidence is thin,
there is a second search in other words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import Field, ValidationError
from typing_extensions import TypedDict

from anabranch.agent.graph.bindings import NONE_BOUND, GraphBindings, bind, bind_run
from anabranch.agent.graph.dependencies import MAX_CONCURRENCY
from anabranch.agent.graph.routes import after_follow, after_grade, after_rewrite, fan_out, first_step, to_begin
from anabranch.agent.graph.step import OwnStep, Steps
from anabranch.agent.graph.telemetry import RunSpans
from anabranch.agent.nodes.begin import BeginTask, begin_search
from anabranch.agent.nodes.checked_settings import settings_error, suggest
from anabranch.agent.nodes.condense import condense
from anabranch.agent.nodes.follow import follow
from anabranch.agent.nodes.fuse import fuse
from anabranch.agent.nodes.grade import grade
from anabranch.agent.nodes.merge import merge
from anabranch.agent.nodes.rerank import rerank, rerank_search
from anabranch.agent.nodes.retrieve import RetrieveTask, retrieve
from anabranch.agent.nodes.review import review_queries
from anabranch.agent.nodes.rewrite import rewrite
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import (
    InputState,
    RetrievalInput,
    RetrievalState,
    SearchState,
    State,
)
from anabranch.agent.nodes.widen import widen
from anabranch.errors import SettingsError
from anabranch.store.filters import parse_filters
from anabranch.types import Candidate, Degraded, Evidence, Query, Step, TurnRecord

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from anabranch.agent.graph.bindings import Retrievers
    from anabranch.models.embedder import Embedder


class SearchOutput(TypedDict):
    """The result of a search: the ids of the ranked leaves, and how they were found."""

    turn: TurnRecord
    queries: list[Query]
    external_passages: dict[str, dict[str, Any]]
    candidates: list[Candidate]
    evidence: Evidence
    degraded: list[Degraded]
    trace: list[Step]


RetrievalBuilder = StateGraph[RetrievalState, Context, RetrievalInput, SearchState]
SearchBuilder = StateGraph[State, Context, InputState, SearchOutput]
SearchGraph = CompiledStateGraph[State, Context, InputState, SearchOutput]


def build(
    bindings: GraphBindings = NONE_BOUND, *, graded: bool = True, nodes: Mapping[str, OwnStep] | None = None
) -> RetrievalBuilder:
    """Wire the retrieval graph.

    Args:
        bindings: Objects and settings that the steps use beside their state.
        graded: Whether to merge and grade passages. If false, the result is the ranked leaves, without a review.
        nodes: Replacements for steps by name; names of other graphs' steps are ignored.
    """
    steps = Steps(bindings, nodes)
    builder: RetrievalBuilder = StateGraph(
        RetrievalState, context_schema=Context, input_schema=RetrievalInput, output_schema=SearchState
    )
    builder.add_node("condense", steps(condense))
    builder.add_node("rewrite", steps(rewrite))
    builder.add_node("retrieve", steps(retrieve), input_schema=RetrieveTask)
    builder.add_node("fuse", steps(fuse))
    builder.add_node("rerank", steps(rerank if graded else rerank_search, "rerank"))

    builder.add_conditional_edges(START, steps.edge(first_step))
    builder.add_edge("condense", "rewrite")
    builder.add_edge("retrieve", "fuse")
    builder.add_edge("fuse", "rerank")
    if not graded:
        builder.add_conditional_edges("rewrite", steps.edge(fan_out), ["retrieve"])
        builder.add_edge("rerank", END)
        return builder
    builder.add_node("review_queries", steps.pause(review_queries))
    builder.add_node("merge", steps(merge))
    builder.add_node("grade", steps(grade))
    builder.add_conditional_edges("rewrite", steps.edge(after_rewrite), ["retrieve", "review_queries"])
    builder.add_conditional_edges("review_queries", steps.edge(fan_out), ["retrieve"])
    builder.add_edge("rerank", "merge")
    builder.add_edge("merge", "grade")
    builder.add_node("follow", steps(follow))
    builder.add_node("widen", steps(widen))
    builder.add_conditional_edges("grade", steps.edge(after_grade), ["widen", "follow", "rewrite", END])
    builder.add_conditional_edges("widen", steps.edge(fan_out), ["retrieve"])
    builder.add_conditional_edges("follow", steps.edge(after_follow), ["retrieve", "rewrite", END])
    return builder


def build_search(
    retrievers: Retrievers | None = None, *, embedder: Embeddings | Embedder | None = None
) -> SearchBuilder:
    """Wire the search graph: a question in, ranked leaves out, in the channel `candidates`."""
    # One search: without passages that are graded, nothing is followed, and a wrong filter would not be noticed.
    bindings = bind({"hops": 0, "infer_filter": False}, embedder=embedder, retrievers=retrievers)
    builder: SearchBuilder = StateGraph(
        State, context_schema=Context, input_schema=InputState, output_schema=SearchOutput
    )
    builder.add_node("begin", Steps(bindings)(begin_search, "begin"), input_schema=BeginTask)
    builder.add_node("retrieval", build(bindings, graded=False).compile(), input_schema=RetrievalInput)
    builder.add_conditional_edges(START, to_begin, ["begin"])
    builder.add_edge("begin", "retrieval")
    builder.add_edge("retrieval", END)
    return builder


_CALLBACKS = [RunSpans("search")]

graph = build_search().compile(name="search").with_config(max_concurrency=MAX_CONCURRENCY, callbacks=_CALLBACKS)


def make_search(retrievers: Retrievers | None, embedder: Embeddings | Embedder | None) -> SearchGraph:
    """Return the search graph, made anew if it needs objects of the caller's."""
    if not retrievers and embedder is None:
        return graph
    searching = build_search(retrievers, embedder=embedder).compile()
    return searching.with_config(max_concurrency=MAX_CONCURRENCY, callbacks=_CALLBACKS)


class HybridRetriever(BaseRetriever):
    """The search graph as a LangChain retriever: leaves as Documents, best first.

    Attributes:
        settings: Settings of `Context`, such as `corpus` (where to search) and `top_k`.
        k: How many passages, LangChain's word for `top_k`; so is the argument `k` of `invoke`, which comes first.
        filters: A filter expression; only documents that match are searched.
        retrievers: Further LangChain retrievers by name.
        embedder: The embedder that the corpus was made with, if it was given in code.
        reranker: A reranker object; takes precedence over `rerank` in `settings`.
    """

    settings: dict[str, Any] = Field(default_factory=dict)
    k: int | None = Field(default=None, ge=1, le=1000)
    filters: dict[str, Any] | None = None
    retrievers: Mapping[str, BaseRetriever] | None = None
    embedder: Any = None
    reranker: BaseDocumentCompressor | None = None

    # Hidden from type checkers, so that they take the fields from pydantic.
    if not TYPE_CHECKING:

        def __init__(self, /, **given: Any) -> None:  # noqa: ANN401  # pydantic checks them
            """Take the fields by name; a mistake is a SettingsError."""
            fields = type(self).model_fields
            for name in given:
                if name not in fields:
                    raise _no_argument(name, fields)
            parse_filters(given.get("filters"))
            if given.get("k") is not None and "top_k" in (given.get("settings") or {}):
                raise SettingsError("`k` and the setting `top_k` are the same.", hint="Give one of them.")
            try:
                super().__init__(**given)
            except ValidationError as error:
                raise settings_error(error, fields, "argument") from error

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        options = self._options(run_manager, k)
        return _documents(self._graph().invoke(InputState(question=query, filters=self.filters), **options))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        options = self._options(run_manager, k)
        return _documents(await self._graph().ainvoke(InputState(question=query, filters=self.filters), **options))

    def _graph(self) -> SearchGraph:
        return make_search(self.retrievers, self.embedder)

    def _options(
        self, run_manager: CallbackManagerForRetrieverRun | AsyncCallbackManagerForRetrieverRun, k: int | None
    ) -> dict[str, Any]:
        most = self.k if k is None else k
        settings = self.settings if most is None else {**self.settings, "top_k": most}
        return {
            "config": RunnableConfig(callbacks=run_manager.get_child()),
            "context": bind_run(settings, self.reranker, None)[0],
            "output_keys": ["candidates", "texts"],
        }


def _no_argument(name: str, fields: Iterable[str]) -> SettingsError:
    known = {setting: f'settings={{"{setting}": ...}}' for setting in Context.model_fields}
    known |= {field: repr(field) for field in fields}
    hint = suggest(name, known) or f"It takes {', '.join(fields)}; settings such as top_k go into `settings`."
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
    context, own = bind_run(settings, reranker, retrievers)
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
    context, own = bind_run(settings, reranker, retrievers)
    searching = HybridRetriever(settings=context.explicit, filters=filters, retrievers=own, embedder=embedder)
    return await searching.ainvoke(query)
