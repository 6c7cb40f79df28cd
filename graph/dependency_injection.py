"""What callers give to a graph in code: objects instead of names, settings for every run, replacements for steps."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from langchain_core.documents import BaseDocumentCompressor
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langgraph.graph import StateGraph
from langgraph.runtime import get_runtime

from anabranch.agent.graph.sync_adapter import both_ways
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.support.fusion_weights import BUILT_IN_RETRIEVERS, CORPUS_RETRIEVERS
from anabranch.agent.nodes.support.graph_bindings import GraphBindings
from anabranch.agent.nodes.support.tracing import Update, traced
from anabranch.errors import SettingsError
from anabranch.models.embedder import Embedder
from anabranch.models.given_embedder import given_embedder

OwnStep = Callable[..., Any] | Runnable[Any, Any]
"""A replacement for a step: takes the state, or the state and the runtime, and returns an update."""

Retrievers = Mapping[str, BaseRetriever]


def bind(
    settings: Context | Mapping[str, Any] | None = None,
    *,
    model: BaseChatModel | str | None = None,
    embedder: Embeddings | Embedder | None = None,
    reranker: BaseDocumentCompressor | str | None = None,
    retrievers: Retrievers | None = None,
) -> GraphBindings:
    """Return the objects and settings that the steps of a graph use beside their state.

    Raises:
        SettingsError: A setting is unknown or out of bounds, or something is not what it is given for.
    """
    own = dict(settings.explicit if isinstance(settings, Context) else settings or {})
    own |= {name: given for name, given in (("model", model), ("rerank", reranker)) if given is not None}
    if external := _checked(retrievers):
        # What is given is used: to name it a second time, in the settings, is for those who want less or more.
        own.setdefault("retrievers", (*CORPUS_RETRIEVERS, *external))
    return GraphBindings(
        settings=Context(**own).explicit,
        embedder=None if embedder is None else given_embedder(embedder)[0],
        retrievers=external,
    )


def for_one_run(
    settings: Mapping[str, Any],
    reranker: BaseDocumentCompressor | str | None,
    retrievers: Retrievers | Sequence[str] | None,
) -> tuple[Context, Retrievers | None]:
    """Return the settings of one run, and the retrievers that only a graph of its own can have.

    Raises:
        SettingsError: A setting is unknown or out of bounds.
    """
    given = dict(settings)
    if reranker is not None:
        given["rerank"] = reranker
    if retrievers is not None and not isinstance(retrievers, Mapping):
        given["retrievers"] = retrievers
    return Context(**given), retrievers if isinstance(retrievers, Mapping) else None


def replace_nodes(
    builder: StateGraph[Any, Any, Any, Any], nodes: Mapping[str, OwnStep], bindings: GraphBindings
) -> None:
    """Replace the steps that have the name of one of the caller's; names of steps of other graphs are ignored."""
    for name, node in nodes.items():
        if name in builder.nodes:
            step = node if isinstance(node, Runnable) else both_ways(_own_step(name, node), bindings=bindings)
            builder.add_node(name, step, input_schema=builder.nodes.pop(name).input_schema)


def refuse_unknown_nodes(nodes: Mapping[str, OwnStep], names: Sequence[str]) -> None:
    """Refuse a replacement for a step that does not exist.

    Raises:
        SettingsError: There is no step of that name.
    """
    for name in nodes:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"The steps are {', '.join(names)}."
            raise SettingsError(f"There is no step {name!r} to replace.", hint=hint)


def _own_step(name: str, node: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a caller's function as a step, with a line in the trace and the settings in force."""
    takes = _parameters(name, node)

    @traced(name, first=name == "begin")
    async def step(state: Mapping[str, Any], context: Context) -> Update:
        given = (state, get_runtime(Context).override(context=context))[:takes]
        # A function that blocks must not hold up the other branches.
        found = node(*given) if inspect.iscoroutinefunction(node) else await asyncio.to_thread(node, *given)
        update = await found if inspect.isawaitable(found) else found
        if not isinstance(update, Mapping):
            msg = f"The step {name!r} returned {type(update).__name__}, not an update of the state."
            raise SettingsError(msg, hint="Return a dictionary of the channels that it changes.")
        return dict(update)

    return step


def _parameters(name: str, node: Callable[..., Any]) -> int:
    for count in (2, 1):
        try:
            inspect.signature(node).bind(*range(count))
        except (TypeError, ValueError):
            continue
        return count
    msg = f"The step {name!r} is not to be called with a state: {node!r}."
    raise SettingsError(msg, hint="Give a function (state) or (state, runtime), or a Runnable.")


def _checked(retrievers: Retrievers | None) -> Retrievers:
    taken = ", ".join(BUILT_IN_RETRIEVERS)
    for name, retriever in (retrievers or {}).items():
        if not isinstance(name, str) or not name.strip() or name in BUILT_IN_RETRIEVERS:
            msg = f"A retriever cannot have the name {name!r}."
            raise SettingsError(msg, hint=f"Choose another name in build(retrievers=...); {taken} are built in.")
        if not isinstance(retriever, BaseRetriever):
            msg = f"The retriever {name!r} is no retriever of LangChain but {retriever!r}."
            raise SettingsError(msg, hint="Give an object of a subclass of langchain_core's BaseRetriever.")
    return retrievers or {}
