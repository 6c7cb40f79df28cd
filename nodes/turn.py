"""The interface that a step works with beside its state; `anabranch.agent.graph.running_turn` implements it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    # So that importing a step does not import these.
    from langchain_core.retrievers import BaseRetriever

    from anabranch.agent.nodes.settings import Context
    from anabranch.errors import ModelError
    from anabranch.models.chat import Chat
    from anabranch.models.rerankers import Reranker
    from anabranch.retrieval.query_generator import QueryGenerator
    from anabranch.store.protocol import CorpusReader, Scope
    from anabranch.synthesis.budget import Budget
    from anabranch.types import AnswerCheck, Chunk


class Turn(Protocol):
    """One step's view of the turn that it belongs to; each step has its own.

    Attributes:
        settings: The resolved settings.
        scope: What the caller may see: their access tags, narrowed by the question's filters.
        budget: Model calls and tokens that the turn has left.
        concurrency: Model calls that the step may make at once.
        retrievers: LangChain retrievers that were given to the graph, by name.
        query_generator: Makes further queries in the place of the chat model, if it was given to the graph.
        access_digest: A digest of the caller's access tags.
    """

    @property
    def settings(self) -> Context: ...  # noqa: D102
    @property
    def scope(self) -> Scope: ...  # noqa: D102
    @property
    def budget(self) -> Budget: ...  # noqa: D102
    @property
    def concurrency(self) -> int: ...  # noqa: D102
    @property
    def retrievers(self) -> Mapping[str, BaseRetriever]: ...  # noqa: D102
    @property
    def query_generator(self) -> QueryGenerator | None: ...  # noqa: D102
    @property
    def access_digest(self) -> str: ...  # noqa: D102

    async def corpus(self) -> CorpusReader:
        """Return the corpus in the generation that the turn began with, or the current one if that was removed.

        Raises:
            UserError: It cannot be opened.
        """
        ...

    async def chat(self) -> Chat | None:
        """Return the chat model; None if none is configured, or `auto` found none.

        Raises:
            UserError: It cannot be used as configured.
        """
        ...

    def note_model(self, chat: Chat | None) -> None:
        """Report which model `auto` found, and remarks on the model."""
        ...

    async def choose_effort(self, chat: Chat | None) -> dict[str, str]:
        """Return the setting `effort` if it is 'quick' because of this machine; count and report which effort it is."""
        ...

    async def reranker(self) -> Reranker:
        """Return the reranker that the settings name.

        Raises:
            UserError: It cannot work as configured.
        """
        ...

    async def chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return passages with their text; those that were removed, or that the caller may not read, are absent."""
        ...

    async def audit(self, event: str, chunks: Iterable[Chunk] | None = None, **facts: object) -> None:
        """Write a line into the audit log, if there is one; it names the documents of `chunks`.

        Raises:
            OperationError: It cannot be written, so the run must not continue.
        """
        ...

    def count(self, **counts: Any) -> None:  # noqa: ANN401  # JSON values
        """Add small counts and words to the step's line of the trace."""
        ...

    def count_answer(self, check: AnswerCheck, *, route: str, degraded: int) -> None:
        """Count a finished turn in the metrics, with the number of its degraded records."""
        ...

    def degraded(self, step: str, reason: str | ModelError) -> None:
        """Report that the result is worse than it should be, and why."""
        ...

    def with_state(self, state: Mapping[str, Any]) -> Turn:
        """Return this turn for a state that a caller's own step has changed, such as one with other filters."""
        ...

    def show(self, **event: Any) -> None:  # noqa: ANN401  # JSON values
        """Put an event into the `custom` stream."""
        ...

    def show_answer(self, message_id: str, text: str) -> None:
        """Put a piece of the answer into the `messages` stream."""
        ...

    def awaiting_model(self) -> AbstractAsyncContextManager[Callable[[], object]]:
        """Show the best passages if the model is slow; yield a function to call when its first words arrive."""
        ...
