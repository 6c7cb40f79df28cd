"""A span and metrics for each step, by OpenTelemetry's API; they go nowhere until a program sets up its SDK.

Numbers, and words of this program's own: no text of a question, a passage or an answer, and nobody's name.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from langgraph.types import Overwrite
from opentelemetry import metrics, trace

from anabranch.agent.nodes.support.run_spans import run_span
from anabranch.agent.nodes.support.state_records import Step

log = logging.getLogger("anabranch.steps")

_tracer = trace.get_tracer("anabranch")
_meter = metrics.get_meter("anabranch")

SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Bounds of the buckets that durations are counted in: a fusion takes a millisecond, a model half a minute."""

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
    """What became of a step; without a line of the trace it did not come to its end."""

    step: Step | None = None
    degraded: Sequence[Mapping[str, Any]] = field(default=())

    def ended(self, step: Step, update: Mapping[str, Any]) -> None:
        """Note the step's line in the trace, and what it could not do."""
        self.step = step
        found = update.get("degraded", ())
        self.degraded = found.value if isinstance(found, Overwrite) else found


@contextmanager
def observed(name: str) -> Iterator[StepRecord]:
    """Measure a step: within it, its span is the current one."""
    record, outcome, began = StepRecord(), "ok", time.perf_counter()
    run = run_span()
    within = trace.set_span_in_context(run) if run is not None else None
    # Of an error the kind alone: its message can repeat what was asked.
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
            _tell(span, name, record, outcome, time.perf_counter() - began)


def _tell(span: trace.Span, name: str, record: StepRecord, outcome: str, seconds: float) -> None:
    of = {"anabranch.step": name}
    _duration.record(seconds, {**of, "anabranch.outcome": outcome})
    for each in record.degraded:
        _degraded.add(1, {**of, "error.type": str(each.get("code", "none"))})
    if (step := record.step) is not None:
        if step["calls"]:
            _calls.add(step["calls"], of)
            _tokens.add(step["prompt_tokens"], {**of, "gen_ai.token.type": "input"})
            _tokens.add(step["output_tokens"], {**of, "gen_ai.token.type": "output"})
        if span.is_recording():
            span.set_attributes(_attributes(step, record, outcome))
    # A line for each step is for whoever asks for it: a host program may show everything from `info` on.
    if log.isEnabledFor(logging.DEBUG):
        log.debug("step", extra={"step": name, "status": outcome, "seconds": round(seconds, 4), **_spent(record.step)})


def _spent(step: Step | None) -> dict[str, int]:
    return {name: step[name] for name in ("calls", "prompt_tokens", "output_tokens")} if step is not None else {}


def _attributes(step: Step, record: StepRecord, outcome: str) -> dict[str, Any]:
    """Return what a span says of a step; of its counts the numbers, and which retriever it was."""
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


def count_answer(*, status: str, route: str, verification: Mapping[str, Any], degraded: int) -> None:
    """Count the end of a turn, and say on the run's span how it came out.

    Args:
        status: What became of the question; empty for a greeting.
        route: How it was written; empty where nothing was.
        verification: How many of its claims have which grade.
        degraded: Steps that could not do their best.
    """
    of = {"anabranch.outcome": status or "answered", "anabranch.route": route or "none"}
    _answers.add(1, of)
    grades = {grade: verification.get(grade, 0) for grade in ("quoted", "found", "not_confirmed")}
    for grade, number in grades.items():
        if number:
            _claims.add(number, {"anabranch.grade": grade})
    if (run := run_span()) is not None:
        said = {f"anabranch.claims.{grade}": number for grade, number in grades.items()}
        run.set_attributes({**of, **said, "anabranch.degraded": degraded})
