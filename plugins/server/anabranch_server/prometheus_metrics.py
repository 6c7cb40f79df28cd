"""Has the metrics of the server's process gathered in Prometheus' form, where the extra `telemetry` is installed.

To send metrics and spans elsewhere, FastAPI sets up OpenTelemetry's exporters as its variables (OTEL_...) say.
"""

from __future__ import annotations

import os

from opentelemetry import metrics

from anabranch.errors import MissingExtraError


def gather_metrics() -> None:
    """Gather from now on; what a program around this one has set up stays as it is."""
    named = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    if "service.name=" not in named:
        os.environ.setdefault("OTEL_SERVICE_NAME", "anabranch")
    try:
        from opentelemetry.exporter.prometheus import PrometheusMetricReader
        from opentelemetry.sdk.metrics import MeterProvider
    except ModuleNotFoundError:
        return
    if not isinstance(metrics.get_meter_provider(), MeterProvider):
        # Without the names of the packages that measure, which would be a further label on every line.
        metrics.set_meter_provider(MeterProvider([PrometheusMetricReader(scope_info_enabled=False)]))


def gathered() -> tuple[bytes, str]:
    """Return what was gathered, and its media type.

    Raises:
        MissingExtraError: The extra is not installed.
    """
    try:
        from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
    except ModuleNotFoundError as error:
        raise MissingExtraError("/metrics", "telemetry") from error
    return generate_latest(REGISTRY), CONTENT_TYPE_LATEST
