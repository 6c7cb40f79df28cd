"""Values of requests that are kept: refused before anything is accepted where they could not be read again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from langchain_core.messages import BaseMessage, RemoveMessage, convert_to_messages
from pydantic import AfterValidator, AliasChoices, AliasPath, Field

from anabranch.errors import SettingsError
from anabranch_server.json_values import as_json

MAX_BODY = 4 * 1024 * 1024
"""Bytes of a request that sends no files."""

MAX_MESSAGES = 1_000
MAX_MESSAGES_CHARS = 400_000
"""Of the messages of one request, as JSON: all of them are read with each question."""


MAX_RUN_CHARS = 500_000
"""Of all that one run is asked, as JSON: it is kept with the run."""


def _writable(value: dict[str, Any]) -> dict[str, Any]:
    try:
        as_json(value)
        json.dumps(value, allow_nan=False)
    except ValueError as error:
        # Python's reader of JSON takes lone surrogates and NaN, which writers and databases do not.
        msg = "it holds half of a character (a lone surrogate) or no number (NaN), or is nested too deeply"
        raise ValueError(msg) from error
    return value


JsonObject = Annotated[dict[str, Any], AfterValidator(_writable)]
"""An object that can be written as JSON: what cannot would keep all that is listed with it from being shown."""


# LangGraph's SDK names a checkpoint by its id or as a whole.
CheckpointId = Annotated[
    str | None,
    Field(max_length=200, validation_alias=AliasChoices("checkpoint_id", AliasPath("checkpoint", "checkpoint_id"))),
]


def refuse_unsupported(given: Any, supported: Mapping[str, Sequence[object]]) -> None:  # noqa: ANN401  # a body as it came
    """Refuse what clients of LangGraph's servers can ask for and this one does not do.

    Args:
        given: The body of a request.
        supported: Values that change nothing, by the names of fields; that a field is empty changes nothing, either.

    Raises:
        ValueError: The body has another value.
    """
    if not isinstance(given, Mapping):
        return
    for name, known in supported.items():
        if given.get(name) not in (None, [], {}, *known):
            other = f" other than {', '.join(map(str, known))}" if known else ""
            msg = f"this server does no `{name}`{other}"
            raise ValueError(msg)


def messages_of(given: Any) -> list[BaseMessage]:  # noqa: ANN401  # a caller may send anything
    """Return messages that a thread can take in; with others it could not be opened any more.

    Raises:
        SettingsError: They are too long, are no messages, or remove some.
    """
    several = given if isinstance(given, list) else [given]
    if len(several) > MAX_MESSAGES or len(as_json(several)) > MAX_MESSAGES_CHARS:
        msg = f"`messages` holds more than {MAX_MESSAGES:,} messages, or {MAX_MESSAGES_CHARS:,} characters."
        raise SettingsError(msg, hint="Send the last ones.")
    try:
        messages = convert_to_messages(several)
    except Exception as error:  # LangChain's readers of messages raise whatever they run into
        msg = "`messages` holds something that is no message."
        raise SettingsError(msg, hint='Give [{"role": "user", "content": "..."}].') from error
    if any(isinstance(each, RemoveMessage) for each in messages):
        raise SettingsError("`messages` removes some.", hint="Go on from an earlier checkpoint instead.")
    return messages
