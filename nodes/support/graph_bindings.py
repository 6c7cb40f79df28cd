"""What a graph was built with: settings for every run, and objects where names would stand for them."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # It takes a second to import, which `anabranch ingest` has no use for.
    from langchain_core.retrievers import BaseRetriever

    from anabranch.models.embedder import Embedder


@dataclass(frozen=True, slots=True)
class GraphBindings:
    """What the steps of one graph find beside their state.

    Attributes:
        settings: In the place of the environment's; a model and a reranker may be objects.
        embedder: The one that the corpus was made with, where that was given in code.
        retrievers: LangChain retrievers by the names that the setting `retrievers` uses.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    embedder: Embedder | None = None
    retrievers: Mapping[str, BaseRetriever] = field(default_factory=dict)


bindings_in_force: ContextVar[GraphBindings] = ContextVar("anabranch_bindings", default=GraphBindings())  # noqa: B039  # nothing of it changes
"""Those of the graph that is running; a graph within another has its own."""
