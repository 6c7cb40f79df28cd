"""What callers give to a graph in code: objects instead of names, and settings for every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError
from anabranch.models.rerankers import RERANKERS
from anabranch.retrieval import BUILT_IN_RETRIEVERS, CORPUS_RETRIEVERS, RETRIEVERS
from anabranch.synthesis.routing import SYNTHESIS_MODES

if TYPE_CHECKING:
    # Importing these takes a second, and `anabranch ingest` does not need them.
    from langchain_core.documents import BaseDocumentCompressor
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever

    from anabranch.models.embedder import Embedder
    from anabranch.retrieval.query_generator import QueryGenerator

    Retrievers = Mapping[str, BaseRetriever]


@dataclass(frozen=True, slots=True)
class GraphBindings:
    """Objects and settings that a graph was built with.

    Attributes:
        settings: These take precedence over the environment; a model and a reranker may be objects.
        embedder: The corpus's embedder, if it was given in code.
        retrievers: LangChain retrievers, by the names that the setting `retrievers` uses.
        query_generator: Makes further queries in the place of the chat model.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    embedder: Embedder | None = None
    retrievers: Mapping[str, BaseRetriever] = field(default_factory=dict)
    query_generator: QueryGenerator | None = None


NONE_BOUND = GraphBindings()


def bind(
    settings: Context | Mapping[str, Any] | None = None,
    *,
    model: BaseChatModel | str | None = None,
    embedder: Embeddings | Embedder | None = None,
    reranker: BaseDocumentCompressor | str | None = None,
    retrievers: Retrievers | None = None,
    queries: QueryGenerator | None = None,
) -> GraphBindings:
    """Return the objects and settings that the steps of a graph use beside their state.

    Raises:
        SettingsError: A setting is unknown or out of bounds, or an object has the wrong type.
    """
    from anabranch.models.given_embedder import wrap_embedder

    if queries is not None:
        from anabranch.retrieval.query_generator import check_generator

        check_generator(queries)
    # Names of extensions are read from the disk here, and not on the event loop when a setting names one.
    for registry in (RERANKERS, RETRIEVERS, SYNTHESIS_MODES):
        _ = registry.names
    own = dict(settings.explicit if isinstance(settings, Context) else settings or {})
    own |= {name: given for name, given in (("model", model), ("rerank", reranker)) if given is not None}
    if external := _check_retrievers(retrievers):
        # Given retrievers are used without being named in the settings again.
        own.setdefault("retrievers", (*CORPUS_RETRIEVERS, *external))
    return GraphBindings(
        settings=Context(**own).explicit,
        embedder=None if embedder is None else wrap_embedder(embedder)[0],
        retrievers=external,
        query_generator=queries,
    )


def bind_run(
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


def _check_retrievers(retrievers: Retrievers | None) -> Retrievers:
    from langchain_core.retrievers import BaseRetriever

    taken = ", ".join(BUILT_IN_RETRIEVERS)
    for name, retriever in (retrievers or {}).items():
        if not isinstance(name, str) or not name.strip() or name in BUILT_IN_RETRIEVERS:
            msg = f"A retriever cannot have the name {name!r}."
            raise SettingsError(msg, hint=f"Choose another name in build(retrievers=...); {taken} are built in.")
        if not isinstance(retriever, BaseRetriever):
            msg = f"The retriever {name!r} is not a LangChain retriever: {retriever!r}."
            raise SettingsError(msg, hint="Give an object of a subclass of langchain_core's BaseRetriever.")
    return retrievers or {}
