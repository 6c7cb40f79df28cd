"""Collects the server's metrics for Prometheus, if the extra `telemetry` is installed.

OpenTelemetry's variables (OTEL_...) send metrics and spans elsewhere; FastAPI sets those exporters up.
"""

from __future__ import annotations

import os

from opentelemetry import metrics

from anabranch.errors import MissingExtraError


def gather_metrics() -> None:
    """Start to collect, unless the surrounding program has set up metrics."""
    named = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    if "service.name=" not in named:
        os.environ.setdefault("OTEL_SERVICE_NAME", "anabranch")
    try:
        from opentelemetry.exporter.prometheus import PrometheusMetricReader
        from opentelemetry.sdk.metrics import MeterProvider
    except ModuleNotFoundError:
        return
    if not isinstance(metrics.get_meter_provider(), MeterProvider):
        # Without scope info, which would add a label with the package to every line.
        metrics.set_meter_provider(MeterProvider([PrometheusMetricReader(scope_info_enabled=False)]))


def render_metrics() -> tuple[bytes, str]:
    """Return the metrics as text, and its media type.

    Raises:
        MissingExtraError: The extra is not installed.
    """
    try:
        from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
    except ModuleNotFoundError as error:
        raise MissingExtraError("/metrics", "telemetry") from error
    return generate_latest(REGISTRY), CONTENT_TYPE_LATEST
