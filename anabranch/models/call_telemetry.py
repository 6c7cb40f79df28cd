"""A span and metrics for each call to a chat model, under the names of OpenTelemetry's GenAI conventions.

Those names are still in development there, and may change. They go nowhere until a program sets up OpenTelemetry's SDK.
What is sent and what comes back is in none of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from opentelemetry import metrics, trace

from anabranch.models.providers import KEY_NAMES

_tracer = trace.get_tracer("anabranch.models")
_meter = metrics.get_meter("anabranch.models")

_PROVIDERS: Mapping[str, str] = {"google_genai": "gcp.gemini", "mistralai": "mistral_ai"}
"""Providers that the conventions call otherwise than LangChain does."""

# Both lists of bounds are the conventions' own.
_duration = _meter.create_histogram(
    "gen_ai.client.operation.duration",
    unit="s",
    description="Time of a call to a chat model.",
    explicit_bucket_boundaries_advisory=[0.01 * 2**power for power in range(14)],
)
_first_chunk = _meter.create_histogram(
    "gen_ai.client.operation.time_to_first_chunk",
    unit="s",
    description="Time until a call that streams brought its first piece.",
    explicit_bucket_boundaries_advisory=[0.01 * 2**power for power in range(14)],
)
_tokens = _meter.create_histogram(
    "gen_ai.client.token.usage",
    unit="{token}",
    description="Tokens of a call, as the provider reports them, or estimated where it does not.",
    explicit_bucket_boundaries_advisory=[4.0**power for power in range(14)],
)


@dataclass(slots=True)
class CallRecord:
    """What became of a call.

    Attributes:
        prompt_tokens: Of the request.
        output_tokens: Of the reply, with its thoughts.
        first: Seconds until its first piece; None before that.
    """

    began: float
    prompt_tokens: int = 0
    output_tokens: int = 0
    first: float | None = None

    def took_piece(self) -> None:
        """Note that a piece has come."""
        if self.first is None:
            self.first = time.perf_counter() - self.began


@contextmanager
def model_call(model: str, address: str | None, *, max_tokens: int, streamed: bool) -> Iterator[CallRecord]:
    """Measure a call, from its request to the end of its reply.

    Args:
        model: Its name, as it is set.
        address: Of its server; None for the provider's own.
        max_tokens: Tokens that the model may write.
        streamed: Whether the reply comes in pieces.
    """
    named = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _provider(model, address),
        "gen_ai.request.model": model,
    }
    details = {**named, **_server(address), "gen_ai.request.max_tokens": max_tokens, "gen_ai.request.stream": streamed}
    # Not made the current one: a reply is a generator, and whoever reads it goes on outside of it in between.
    span = _tracer.start_span(f"chat {model}", kind=trace.SpanKind.CLIENT, attributes=details)
    record = CallRecord(began=time.perf_counter())
    failure: dict[str, str] = {}
    try:
        yield record
    except Exception as error:
        # The kind alone: what a provider says of a request may repeat it.
        failure = {"error.type": type(error).__name__}
        span.set_status(trace.StatusCode.ERROR)
        raise
    finally:
        _finish(span, record, named, failure, streamed=streamed)


def _finish(
    span: trace.Span, record: CallRecord, named: Mapping[str, str], failure: Mapping[str, str], *, streamed: bool
) -> None:
    span.set_attributes({"gen_ai.usage.input_tokens": record.prompt_tokens, **failure})
    span.set_attribute("gen_ai.usage.output_tokens", record.output_tokens)
    _duration.record(time.perf_counter() - record.began, {**named, **failure})
    if streamed and record.first is not None:
        span.set_attribute("gen_ai.response.time_to_first_chunk", record.first)
        _first_chunk.record(record.first, named)
    for kind, tokens in (("input", record.prompt_tokens), ("output", record.output_tokens)):
        _tokens.record(tokens, {**named, "gen_ai.token.type": kind})
    span.end()


def _provider(model: str, address: str | None) -> str:
    """Return who a model is asked of; a server of one's own speaks OpenAI's protocol."""
    provider, colon, _ = model.partition(":")
    if colon and provider in KEY_NAMES:
        return _PROVIDERS.get(provider, provider)
    return "openai" if address and "://" in address else "_OTHER"


def _server(address: str | None) -> dict[str, Any]:
    """Return the host and the port of a server; of its address no more, since that may hold a key."""
    found = urlsplit(address or "")
    given = {"server.address": found.hostname, "server.port": found.port}
    return {name: value for name, value in given.items() if value is not None}
