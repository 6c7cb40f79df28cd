"""The server's log: lines of JSON or of text, each with the ids of the request and the run that it belongs to.

No line holds the text of a question, a passage or an answer. An error is logged by its type and place, because its
message may repeat the question.
"""

from __future__ import annotations

import json
import logging
import logging.config
import traceback
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from opentelemetry import trace

from anabranch.errors import SettingsError

FIELDS = (
    "method", "route", "graph", "step", "status", "seconds", "attempt", "calls", "prompt_tokens", "output_tokens",
    "error",
)  # fmt: skip
"""Fields of a record that are logged besides its message; all others are left out."""

_ids: ContextVar[Mapping[str, str]] = ContextVar("anabranch_log_ids", default=MappingProxyType({}))


def log_ids() -> Mapping[str, str]:
    """Return the ids that this task's lines carry."""
    return _ids.get()


def set_log_ids(**ids: str | None) -> None:
    """Add ids to the lines of this task, and of those that it starts."""
    _ids.set({**_ids.get(), **{name: value for name, value in ids.items() if value is not None}})


class JsonLines(logging.Formatter):
    """Writes each record as a JSON object."""

    def format(self, record: logging.LogRecord) -> str:  # noqa: D102
        written = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": written, "level": record.levelname.lower(), "logger": record.name, **_fields(record)}
        return json.dumps(line, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """Writes each record as text for a terminal."""

    def format(self, record: logging.LogRecord) -> str:  # noqa: D102
        fields = _fields(record)
        stack = fields.pop("stack", [])
        words = [f"{name}={value}" for name, value in fields.items() if name != "message"]
        return "\n  ".join([" ".join([f"{record.levelname}: {fields['message']}", *words]), *stack])


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = {"message": record.getMessage(), **_ids.get()}
    fields |= {name: vars(record)[name] for name in FIELDS if vars(record).get(name) is not None}
    span = trace.get_current_span().get_span_context()
    if span.is_valid:
        fields |= {"trace_id": f"{span.trace_id:032x}", "span_id": f"{span.span_id:016x}"}
    kind, _, where = record.exc_info or (None, None, None)
    if kind is not None:
        frames = traceback.extract_tb(where)
        fields |= {"error": kind.__name__, "stack": [f"{each.filename}:{each.lineno} {each.name}" for each in frames]}
    return fields


def set_log_format(form: str) -> None:
    """Write the log of the whole process to standard error.

    Args:
        form: `text` for warnings, or `json` for each request, run and step.

    Raises:
        SettingsError: The form is unknown.
    """
    if form not in ("text", "json"):
        raise SettingsError(f"There is no log format {form!r}.", hint="Use --log-format text or json.")
    is_json = form == "json"
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"lines": {"()": JsonLines if is_json else TextLines}},
            "handlers": {"lines": {"class": "logging.StreamHandler", "formatter": "lines"}},
            # Other packages log at WARNING: at INFO, model clients log request bodies.
            "root": {"level": "WARNING", "handlers": ["lines"]},
            "loggers": {"anabranch": {"level": "DEBUG" if is_json else "WARNING"}},
        }
    )
