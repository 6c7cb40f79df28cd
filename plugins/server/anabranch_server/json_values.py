"""States, messages and events as JSON, the way LangGraph's servers write them."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

MAX_REPLY = 16 << 20
"""Most characters of JSON in a list; a client asks for the next page."""


def as_json(value: Any) -> str:  # noqa: ANN401  # whatever a graph gives out
    """Write a value as JSON: messages as objects with `type` and `content`, tuples as lists."""
    return to_json(value, fallback=_fallback, inf_nan_mode="null").decode()


def _fallback(value: Any) -> Any:  # noqa: ANN401  # whatever a graph gives out
    fields = getattr(value, "_asdict", None)
    return fields() if fields is not None else str(value)
