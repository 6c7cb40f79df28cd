"""A span and metrics for each run and each step, by OpenTelemetry's API; they go nowhere until its SDK is set up.

Spans hold numbers and this program's own words: no text of a question, a passage or an answer, and no names of people.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackManager
from langgraph.callbacks import GraphCallbackHandler, GraphInterruptEvent
from langgraph.config import get_config
from langgraph.types import Overwrite
from opentelemetry import metrics, trace

from anabranch.models.lru import LRU
from anabranch.types import AnswerCheck, Step

log = logging.getLogger("anabranch.steps")

_tracer = trace.get_tracer("anabranch")
_meter = metrics.get_meter("anabranch")

SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Bounds of the duration buckets: a fusion takes a millisecond, a model half a minute."""

_duration = _meter.create_histogram(
    "anabranch.step.duration",
    unit="s",
    description="Time of a step, by how it ended.",
    explicit_bucket_boundaries_advisory=SECONDS,
)
_calls = _meter.create_counter("anabranch.step.model_calls", unit="{call}", description="Calls to a model by a step.")
_tokens = _meter.create_counter("anabranch.step.tokens", unit="{token}", description="Tokens of a step's calls.")
_degraded = _meter.create_counter(
    "anabranch.degraded", unit="{record}", description="Times that a step could not do its best, by the error's code."
)
_answers = _meter.create_counter("anabranch.answers", unit="{answer}", description="Turns that came to their end.")
_claims = _meter.create_counter("anabranch.claims", unit="{claim}", description="Statements of answers, by grade.")


@dataclass(slots=True)
class StepRecord:
    """The outcome of a step; without a trace line, the step did not finish."""

    step: Step | None = None
    degraded: Sequence[Mapping[str, Any]] = field(default=())

    def finish(self, step: Step, update: Mapping[str, Any]) -> None:
        """Store the step's trace line, and its degraded records."""
        self.step = step
        found = update.get("degraded", ())
        self.degraded = found.value if isinstance(found, Overwrite) else found


@contextmanager
def trace_step(name: str) -> Iterator[StepRecord]:
    """Measure a step, with its span as the current one."""
    record, outcome, began = StepRecord(), "ok", time.perf_counter()
    run = run_span()
    within = trace.set_span_in_context(run) if run is not None else None
    # Only the type of an error: its message may repeat the question.
    with _tracer.start_as_current_span(
        name, within, attributes={"anabranch.step": name}, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield record
            outcome = "degraded" if record.degraded else "ok"
        except asyncio.CancelledError:
            outcome = "cancelled"
            raise
        except Exception as error:
            outcome = "failed"
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise
        finally:
            _record_step(span, name, record, outcome, time.perf_counter() - began)


def _record_step(span: trace.Span, name: str, record: StepRecord, outcome: str, seconds: float) -> None:
    labels = {"anabranch.step": name}
    _duration.record(seconds, {**labels, "anabranch.outcome": outcome})
    for each in record.degraded:
        _degraded.add(1, {**labels, "error.type": str(each.get("code", "none"))})
    if (step := record.step) is not None:
        if step["calls"]:
            _calls.add(step["calls"], labels)
            _tokens.add(step["prompt_tokens"], {**labels, "gen_ai.token.type": "input"})
            _tokens.add(step["output_tokens"], {**labels, "gen_ai.token.type": "output"})
        if span.is_recording():
            span.set_attributes(_attributes(step, record, outcome))
    # At DEBUG, because a host program may show everything from INFO on.
    if log.isEnabledFor(logging.DEBUG):
        log.debug("step", extra={"step": name, "status": outcome, "seconds": round(seconds, 4), **_usage(record.step)})


def _usage(step: Step | None) -> dict[str, int]:
    return {name: step[name] for name in ("calls", "prompt_tokens", "output_tokens")} if step is not None else {}


def _attributes(step: Step, record: StepRecord, outcome: str) -> dict[str, Any]:
    """Return the attributes of a step's span: the numbers among its counts, and the retriever."""
    counts = step["counts"]
    numbers = {f"anabranch.count.{key}": value for key, value in counts.items() if isinstance(value, int | float)}
    which = {"anabranch.retriever": counts["retriever"]} if "retriever" in counts else {}
    return {
        "anabranch.outcome": outcome,
        "anabranch.degraded": len(record.degraded),
        "anabranch.model_calls": step["calls"],
        "gen_ai.usage.input_tokens": step["prompt_tokens"],
        "gen_ai.usage.output_tokens": step["output_tokens"],
        **numbers,
        **which,
    }


def count_answer(check: AnswerCheck, *, route: str, degraded: int) -> None:
    """Count a finished turn, and record its outcome on the run's span; `degraded` is the number of such records."""
    labels = {"anabranch.outcome": check["status"] or "answered", "anabranch.route": route or "none"}
    _answers.add(1, labels)
    grades = {"quoted": check["quoted"], "found": check["found"], "not_confirmed": check["not_confirmed"]}
    for grade, number in grades.items():
        if number:
            _claims.add(number, {"anabranch.grade": grade})
    if (run := run_span()) is not None:
        counts = {f"anabranch.claims.{grade}": number for grade, number in grades.items()}
        run.set_attributes({**labels, **counts, "anabranch.degraded": degraded})


_run_duration = _meter.create_histogram(
    "anabranch.run.duration",
    unit="s",
    description="Time of a run of a graph, by how it ended.",
    explicit_bucket_boundaries_advisory=[0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0],
)

MOST_OPEN = 20_000
"""Most runs and steps that are followed at once; the oldest are dropped, in case LangGraph never reports their end."""


@dataclass(slots=True)
class _Run:
    """A run that has not ended."""

    run_id: UUID
    span: trace.Span
    began: float
    status: str = "success"


class RunSpans(GraphCallbackHandler):
    """Follows the runs of one graph: `build().compile(...).with_config(callbacks=[RunSpans("answer")])`.

    Without it, a step's span is a child of the current span.
    """

    # On the event loop: in a thread, it would run after the first step begins.
    run_inline = True

    def __init__(self, graph: str) -> None:
        """Take the name of the graph."""
        self._graph = graph
        # By the ids of the run and of its steps, because a step knows only its own id.
        self._runs: LRU[UUID, _Run] = LRU(MOST_OPEN)

    @property
    def ignore_llm(self) -> bool:
        """Model calls have their own spans, and a callback for each token would be slow."""
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
        self._runs.set(run_id, run or self._begin_run(run_id, metadata or {}))

    def on_chain_end(self, outputs: dict[str, Any], *, run_id: UUID, **_: Any) -> None:  # noqa: ANN401, ARG002, D102
        self._end_run(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: ANN401, D102
        run = self._runs.get(run_id)
        if run is not None and run.run_id == run_id:
            run.status = "failed"
            if isinstance(error, asyncio.CancelledError | GeneratorExit | KeyboardInterrupt):
                run.status = "cancelled"
            else:
                run.span.set_attribute("error.type", type(error).__name__)
                run.span.set_status(trace.StatusCode.ERROR)
        self._end_run(run_id)

    def on_interrupt(self, event: GraphInterruptEvent) -> None:
        """Mark a run as paused for a person."""
        if event.run_id is not None and (run := self._runs.get(event.run_id)) is not None:
            run.status = "paused"

    def find_span(self, run_id: UUID) -> trace.Span | None:
        """Return the span of the run that a step belongs to."""
        run = self._runs.get(run_id)
        return run.span if run is not None else None

    def _begin_run(self, run_id: UUID, metadata: Mapping[str, Any]) -> _Run:
        ids = {"gen_ai.conversation.id": metadata.get("thread_id"), "anabranch.run_id": metadata.get("run_id")}
        workflow = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": self._graph}
        given = {name: str(value) for name, value in ids.items() if value is not None}
        span = _tracer.start_span(f"invoke_workflow {self._graph}", attributes={**workflow, **given})
        return _Run(run_id, span, time.perf_counter())

    def _end_run(self, run_id: UUID) -> None:
        run = self._runs.pop(run_id)
        if run is None or run.run_id != run_id:
            return
        run.span.set_attribute("anabranch.run.status", run.status)
        run.span.end()
        labels = {"gen_ai.workflow.name": self._graph, "anabranch.run.status": run.status}
        _run_duration.record(time.perf_counter() - run.began, labels)


def run_span() -> trace.Span | None:
    """Return the span of the current step's run; None if no callback follows it."""
    try:
        manager = get_config().get("callbacks")
    except RuntimeError:  # a step called on its own, outside a graph
        return None
    if not isinstance(manager, BaseCallbackManager) or manager.parent_run_id is None:
        return None
    followers = [each for each in manager.handlers if isinstance(each, RunSpans)]
    return followers[-1].find_span(manager.parent_run_id) if followers else None
