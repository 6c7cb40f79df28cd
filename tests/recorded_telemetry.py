"""OpenTelemetry's SDK with everything kept in memory, as a program would set it up: once for the process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class RecordedTelemetry:
    """The spans since `begin`, and what the metrics grew by."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self._reader = InMemoryMetricReader()
        trace.set_tracer_provider(provider)
        metrics.set_meter_provider(MeterProvider([self._reader]))
        self._before: dict[Any, float] = {}

    def begin(self) -> RecordedTelemetry:
        """Forget what was."""
        self._exporter.clear()
        self._before = self._all()
        return self

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self._exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    def grown(self, metric: str, **attributes: str) -> float:
        """How much a counter grew, or how many values a histogram took, over all series that have these attributes."""
        wanted = {name.replace("__", "."): value for name, value in attributes.items()}.items()
        return sum(
            value - self._before.get(key, 0)
            for key, value in self._all().items()
            if key[0] == metric and wanted <= dict(key[1]).items()
        )

    def everything(self) -> str:
        """All of it as text, to look for what must not be there."""
        data = self._reader.get_metrics_data()
        return "".join(span.to_json() for span in self.spans) + (data.to_json() if data is not None else "")

    def _all(self) -> dict[Any, float]:
        data = self._reader.get_metrics_data()
        found = {}
        for resource in data.resource_metrics if data is not None else ():
            for metric in (each for scope in resource.scope_metrics for each in scope.metrics):
                for point in metric.data.data_points:
                    value = point.count if hasattr(point, "count") else point.value
                    found[metric.name, frozenset((point.attributes or {}).items())] = value
        return found


@cache
def _recorded() -> RecordedTelemetry:
    return RecordedTelemetry()


def recorded() -> RecordedTelemetry:
    """Record from now on."""
    return _recorded().begin()


def attributes(span: ReadableSpan) -> Mapping[str, Any]:
    return dict(span.attributes or {})
