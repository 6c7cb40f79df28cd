"""Metrics and log lines of runs, and the ids that a run carries from its request to its worker."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

from opentelemetry import context, metrics, propagate

from anabranch_server.database import now
from anabranch_server.log_lines import log_ids, set_log_ids
from anabranch_server.run_queue import RunRecord

log = logging.getLogger("anabranch.server.runs")

_meter = metrics.get_meter("anabranch.server")
_WAITED = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)

_accepted = _meter.create_counter("anabranch.server.runs.accepted", unit="{run}", description="Runs accepted here.")
_ended = _meter.create_counter("anabranch.server.runs.ended", unit="{run}", description="Runs that ended here.")
_running = _meter.create_up_down_counter("anabranch.server.runs.running", unit="{run}", description="Runs worked on.")
_waiting = _meter.create_gauge(
    "anabranch.server.runs.waiting", unit="{run}", description="Runs in the database that nobody works on yet."
)
_wait = _meter.create_histogram(
    "anabranch.server.run.wait",
    unit="s",
    description="Time from accepting a run to its first step.",
    explicit_bucket_boundaries_advisory=_WAITED,
)
_first_word = _meter.create_histogram(
    "anabranch.server.run.first_word",
    unit="s",
    description="Time from accepting a run to the first word of its answer, where words were asked for.",
    explicit_bucket_boundaries_advisory=_WAITED,
)


def count_accepted(graph: str) -> dict[str, str]:
    """Count an accepted run; return the ids of its request, which its worker logs."""
    _accepted.add(1, {"gen_ai.workflow.name": graph})
    origin = {name: value for name, value in log_ids().items() if name == "request_id"}
    propagate.inject(origin)
    return origin


def set_waiting(number: int) -> None:
    """Set the number of waiting runs."""
    _waiting.set(number)


class RunTelemetry:
    """Measures one run of this process, in the task of the run."""

    def __init__(self, record: RunRecord) -> None:
        """Begin: add the run's ids to this task's log lines, and make its spans children of the request's."""
        origin = record.request.get("origin") or {}
        set_log_ids(request_id=origin.get("request_id"), run_id=record.run_id, thread_id=record.thread_id)
        context.attach(propagate.extract(origin))
        self._record = record
        self._attributes = {"gen_ai.workflow.name": str(record.request.get("assistant_id"))}
        self._began = time.perf_counter()
        self._has_output = False
        _running.add(1, self._attributes)
        # A run that begins again after a kill has waited for a lease, which says nothing about the load.
        if record.attempt == 1:
            _wait.record(now() - record.created_at, self._attributes)

    def note_output(self, mode: str) -> None:
        """Note an output of the graph."""
        if mode == "messages" and not self._has_output:
            self._has_output = True
            _first_word.record(now() - self._record.created_at, self._attributes)

    def note_end(self, status: str, result: Mapping[str, Any] | None) -> None:
        """Note the end of the run."""
        error = ((result or {}).get("error") or {}).get("error")
        _ended.add(1, {**self._attributes, "anabranch.run.status": status, **({"error.type": error} if error else {})})
        seconds = round(time.perf_counter() - self._began, 4)
        extra = {
            "graph": self._attributes["gen_ai.workflow.name"],
            "status": status,
            "seconds": seconds,
            "error": error,
        }
        log.info("run", extra={**extra, "attempt": self._record.attempt})

    def close(self) -> None:
        """Stop measuring, also where the run is left to another worker."""
        _running.add(-1, self._attributes)
