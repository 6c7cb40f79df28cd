"""The turn that a step runs in: its settings, corpus, models and budget, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from copy import copy
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessageChunk
from langgraph.config import get_config
from langgraph.graph.message import push_message
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from anabranch.agent.graph.audit_events import audit_run
from anabranch.agent.graph.bindings import GraphBindings
from anabranch.agent.graph.dependencies import (
    MAX_CONCURRENCY,
    begins_quick,
    describe_model,
    filters_of_turn,
    load_chunks,
    load_corpus,
    load_model,
    load_reranker,
    make_scope,
)
from anabranch.agent.graph.settings_precedence import digest_access, locked_settings
from anabranch.agent.graph.slow_reply import awaiting_model
from anabranch.agent.graph.telemetry import count_answer
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import Update
from anabranch.errors import ModelError
from anabranch.models.usage import note_failure
from anabranch.synthesis.budget import Budget, Spending
from anabranch.types import AnswerCheck, Chunk, Degraded, TurnRecord

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever

    from anabranch.models.chat import Chat
    from anabranch.models.rerankers import Reranker
    from anabranch.store.protocol import CorpusReader

NO_PROCESSOR = (
    "no graphics processor was found on this machine, so the effort is quick: one call over the best passages"
)
"""Why `auto` begins with little effort."""


class RunningTurn:
    """Made anew for each step, from its state and LangGraph's runtime; see `anabranch.agent.nodes.turn.Turn`."""

    def __init__(
        self,
        step: str,
        state: Mapping[str, Any],
        settings: Context,
        bindings: GraphBindings,
        runtime: Runtime[Any],
        *,
        begins: bool = False,
    ) -> None:
        """Take what belongs to one step; if it `begins` the turn, the state belongs to the previous one."""
        self.settings = settings
        self.retrievers: Mapping[str, BaseRetriever] = bindings.retrievers
        self.query_generator = bindings.query_generator
        self._step, self._bindings, self._runtime, self._begins = step, bindings, runtime, begins
        self._counts: dict[str, Any] = {}
        self._degraded: list[Degraded] = []
        self._read(state)
        self.generation: int = self._record["generation"] if self._record else 0

    def _read(self, state: Mapping[str, Any]) -> None:
        self._state = state
        self._chunks: dict[str, Chunk] = {}
        self._record: TurnRecord | None = None if self._begins else state.get("turn")
        self.scope = make_scope(self.settings, filters_of_turn(self._record) if self._record else None)
        self.budget = (
            Budget.from_trace(state["trace"], self.settings)
            if "trace" in state and not self._begins
            else Budget(self.settings, Spending.from_record(state.get("budget")))
        )

    def with_state(self, state: Mapping[str, Any]) -> RunningTurn:
        """Return this turn for a state that a caller's own step has changed; both report to the same step."""
        changed = copy(self)
        changed._read(state)
        return changed

    @property
    def access_digest(self) -> str:
        """The digest of the caller's access tags."""
        return digest_access(self.settings)

    @property
    def concurrency(self) -> int:
        """Concurrent model calls within a step; LangGraph limits only the branches."""
        return get_config().get("max_concurrency") or MAX_CONCURRENCY

    async def corpus(self) -> CorpusReader:
        """Return the corpus; a turn whose generation was removed continues with the current one."""
        corpus = await load_corpus(self.settings, self._bindings, self.generation)
        if corpus.generation == 0:  # the settings name no retriever of a corpus
            return corpus
        if self.generation not in (0, corpus.generation):
            note_failure(
                f"generation {self.generation} of the corpus, with which this turn began, is no longer available: "
                f"the turn continues with generation {corpus.generation}"
            )
        self.generation = corpus.generation
        return corpus

    async def chat(self) -> Chat | None:
        """Return the chat model; `auto` looks for one when the turn begins."""
        return await load_model(self.settings, anew=self._begins)

    def note_model(self, chat: Chat | None) -> None:
        """Report which model `auto` found, and remarks on the model."""
        counts, remarks = describe_model(self.settings, chat)
        self.count(**counts)
        for remark in remarks:
            self.degraded("model", remark)

    async def choose_effort(self, chat: Chat | None) -> dict[str, str]:
        """Return the setting `effort` if it is 'quick' because of this machine; count and report which effort it is."""
        chosen = "effort" not in locked_settings() and await begins_quick(self.settings, chat)
        if chosen:
            self.degraded("model", NO_PROCESSOR)
        if chat is not None and (effort := "quick" if chosen else self.settings.effort):
            self.count(effort=effort)
        return {"effort": "quick"} if chosen else {}

    async def reranker(self) -> Reranker:
        """Return the reranker that the settings name."""
        return await load_reranker(self.settings, concurrency=self.concurrency)

    async def chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return passages: those that this turn has read, those of external retrievers, then the corpus's."""
        if missing := [chunk_id for chunk_id in ids if chunk_id not in self._chunks]:
            self._chunks |= await load_chunks(self._state, missing, self.corpus, self.scope)
        return {chunk_id: self._chunks[chunk_id] for chunk_id in ids if chunk_id in self._chunks}

    async def audit(self, event: str, chunks: Iterable[Chunk] | None = None, **facts: object) -> None:
        """Write a line into the audit log."""
        await audit_run(event, self.settings, chunks, **facts)

    def count(self, **counts: Any) -> None:  # noqa: ANN401  # JSON values
        """Add counts to the step's line of the trace."""
        self._counts |= counts

    def count_answer(self, check: AnswerCheck, *, route: str, degraded: int) -> None:
        """Count the end of a turn in the metrics."""
        count_answer(check, route=route, degraded=degraded)

    def degraded(self, step: str, reason: str | ModelError) -> None:
        """Report that the result is worse than it should be, and why."""
        if isinstance(reason, ModelError):
            self._degraded.append(Degraded(step=step, reason=str(reason), code=reason.code))
        else:
            self._degraded.append(Degraded(step=step, reason=reason))

    def show(self, **event: Any) -> None:  # noqa: ANN401  # JSON values
        """Put an event into the `custom` stream."""
        self._runtime.stream_writer(event)

    def show_answer(self, message_id: str, text: str) -> None:
        """Put a piece of the answer into the `messages` stream."""
        if text:
            push_message(AIMessageChunk(content=text, id=message_id), state_key=None)

    def awaiting_model(self) -> AbstractAsyncContextManager[Callable[[], object]]:
        """Show the best passages if the model is slow to begin."""
        return awaiting_model(self._step, self, self._state)

    def complete(self, update: Update) -> tuple[Update, dict[str, Any]]:
        """Return the update with what the step reported, and its counts for the trace."""
        update = dict(update)
        add_degraded(update, self._degraded)
        record: TurnRecord | None = update.get("turn", self._record)
        if record is not None and record["generation"] != self.generation:
            update["turn"] = {**record, "generation": self.generation}
        return update, self._counts


def add_degraded(update: Update, records: Sequence[Degraded]) -> None:
    """Add records to an update, also to one that overwrites the channel."""
    before = update.get("degraded", [])
    if not records:
        return
    if isinstance(before, Overwrite):
        update["degraded"] = Overwrite([*before.value, *records])
    else:
        update["degraded"] = [*before, *records]
