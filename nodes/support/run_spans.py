"""A span and a metric for each run of a graph, by the callbacks that LangGraph makes when it begins and ends one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackManager
from langgraph.callbacks import GraphCallbackHandler, GraphInterruptEvent
from langgraph.config import get_config
from opentelemetry import metrics, trace

from anabranch.models.lru import LRU

_tracer = trace.get_tracer("anabranch")
_duration = metrics.get_meter("anabranch").create_histogram(
    "anabranch.run.duration",
    unit="s",
    description="Time of a run of a graph, by how it ended.",
    explicit_bucket_boundaries_advisory=[0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0],
)

MOST_OPEN = 20_000
"""Runs and steps that are known at once; of a run whose end LangGraph never tells, the entries are dropped here."""


@dataclass(slots=True)
class _Run:
    """A run that goes on."""

    run_id: UUID
    span: trace.Span
    began: float
    status: str = "success"


class RunSpans(GraphCallbackHandler):
    """Follows the runs of one graph: `build().compile(...).with_config(callbacks=[RunSpans("answer")])`.

    Without it, a step's span hangs below whatever span is current.
    """

    # On the loop itself, before the first step begins: in a thread it would come too late.
    run_inline = True

    def __init__(self, graph: str) -> None:
        """Take the name of the graph."""
        self._graph = graph
        # By the ids of the run and of everything in it: a step knows its own id alone.
        self._runs: LRU[UUID, _Run] = LRU(MOST_OPEN)

    @property
    def ignore_llm(self) -> bool:
        """Model calls have spans of their own; to be told of each word would cost more than all of this."""
        return True

    @property
    def ignore_chat_model(self) -> bool:
        """As above."""
        return True

    def on_chain_start(  # noqa: D102
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        inputs: dict[str, Any],  # noqa: ARG002
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,  # noqa: ANN401
    ) -> None:
        run = self._runs.get(parent_run_id) if parent_run_id is not None else None
        self._runs.set(run_id, run or self._begun(run_id, metadata or {}))

    def on_chain_end(self, outputs: dict[str, Any], *, run_id: UUID, **_: Any) -> None:  # noqa: ANN401, ARG002, D102
        self._ended(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: ANN401, D102
        run = self._runs.get(run_id)
        if run is not None and run.run_id == run_id:
            run.status = "failed"
            if isinstance(error, asyncio.CancelledError | GeneratorExit | KeyboardInterrupt):
                run.status = "cancelled"
            else:
                run.span.set_attribute("error.type", type(error).__name__)
                run.span.set_status(trace.StatusCode.ERROR)
        self._ended(run_id)

    def on_interrupt(self, event: GraphInterruptEvent) -> None:
        """Note that a run stands still until a person says how to go on."""
        if event.run_id is not None and (run := self._runs.get(event.run_id)) is not None:
            run.status = "paused"

    def span_of(self, run_id: UUID) -> trace.Span | None:
        """Return the span of the run that a step belongs to."""
        run = self._runs.get(run_id)
        return run.span if run is not None else None

    def _begun(self, run_id: UUID, metadata: Mapping[str, Any]) -> _Run:
        ids = {"gen_ai.conversation.id": metadata.get("thread_id"), "anabranch.run_id": metadata.get("run_id")}
        of = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": self._graph}
        given = {name: str(value) for name, value in ids.items() if value is not None}
        span = _tracer.start_span(f"invoke_workflow {self._graph}", attributes={**of, **given})
        return _Run(run_id, span, time.perf_counter())

    def _ended(self, run_id: UUID) -> None:
        run = self._runs.pop(run_id)
        if run is None or run.run_id != run_id:
            return
        run.span.set_attribute("anabranch.run.status", run.status)
        run.span.end()
        of = {"gen_ai.workflow.name": self._graph, "anabranch.run.status": run.status}
        _duration.record(time.perf_counter() - run.began, of)


def followed(graph: str) -> list[RunSpans]:
    """Return what follows the runs of a graph where the SDK is set up by now, and nothing where it is not.

    LangChain takes a millisecond or two of a question to call anything at all, whatever that does.
    """
    providers = (trace.get_tracer_provider(), metrics.get_meter_provider())
    # The API's own are there from the start, and do nothing.
    own = ("opentelemetry.trace", "opentelemetry.metrics")
    is_set_up = any(not type(provider).__module__.startswith(own) for provider in providers)
    return [RunSpans(graph)] if is_set_up else []


def run_span() -> trace.Span | None:
    """Return the span of the run that the current step belongs to; None where nothing follows the run."""
    try:
        manager = get_config().get("callbacks")
    except RuntimeError:  # a step called on its own, outside a graph
        return None
    if not isinstance(manager, BaseCallbackManager) or manager.parent_run_id is None:
        return None
    followers = [each for each in manager.handlers if isinstance(each, RunSpans)]
    return followers[-1].span_of(manager.parent_run_id) if followers else None
