"""Checks values of requests before they are stored: what could not be read again is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from langchain_core.messages import BaseMessage, RemoveMessage, convert_to_messages
from pydantic import AfterValidator, AliasChoices, AliasPath, Field

from anabranch.errors import SettingsError
from anabranch_server.json_values import as_json

MAX_BODY = 4 * 1024 * 1024
"""Most bytes of a request that sends no files."""

MAX_MESSAGES = 1_000
MAX_MESSAGES_CHARS = 400_000
"""Most characters of a request's messages as JSON: every question reads all of them."""


MAX_RUN_CHARS = 500_000
"""Most characters of a run's request as JSON: it is stored with the run."""


def _require_json(value: dict[str, Any]) -> dict[str, Any]:
    try:
        as_json(value)
        json.dumps(value, allow_nan=False)
    except ValueError as error:
        # Python's reader of JSON takes lone surrogates and NaN, which writers and databases do not.
        msg = "it holds half of a character (a lone surrogate) or NaN, or is nested too deeply"
        raise ValueError(msg) from error
    return value


JsonObject = Annotated[dict[str, Any], AfterValidator(_require_json)]
"""An object that can be written as JSON: one that cannot would break every list that holds it."""


# LangGraph's SDK names a checkpoint by its id or as a whole.
CheckpointId = Annotated[
    str | None,
    Field(max_length=200, validation_alias=AliasChoices("checkpoint_id", AliasPath("checkpoint", "checkpoint_id"))),
]


def refuse_unsupported(value: Any, supported: Mapping[str, Sequence[object]]) -> None:  # noqa: ANN401  # a body as it came
    """Refuse features of LangGraph's servers that this server does not support.

    Args:
        value: The body of a request.
        supported: Accepted values by field; an empty field is accepted, too.

    Raises:
        ValueError: A field has another value.
    """
    if not isinstance(value, Mapping):
        return
    for name, known in supported.items():
        if value.get(name) not in (None, [], {}, *known):
            other = f" other than {', '.join(map(str, known))}" if known else ""
            msg = f"this server does not support `{name}`{other}"
            raise ValueError(msg)


def read_messages(value: Any) -> list[BaseMessage]:  # noqa: ANN401  # a caller may send anything
    """Return the messages, once checked: an invalid one would make its thread unreadable.

    Raises:
        SettingsError: They are too long or invalid, or remove others.
    """
    values = value if isinstance(value, list) else [value]
    if len(values) > MAX_MESSAGES or len(as_json(values)) > MAX_MESSAGES_CHARS:
        msg = f"`messages` holds more than {MAX_MESSAGES:,} messages, or {MAX_MESSAGES_CHARS:,} characters."
        raise SettingsError(msg, hint="Send only the last ones.")
    try:
        messages = convert_to_messages(values)
    except Exception as error:  # LangChain's readers of messages raise whatever they run into
        msg = "`messages` holds something that is not a message."
        raise SettingsError(msg, hint='Give [{"role": "user", "content": "..."}].') from error
    if any(isinstance(each, RemoveMessage) for each in messages):
        raise SettingsError("`messages` must not remove messages.", hint="Start from an earlier checkpoint instead.")
    return messages
