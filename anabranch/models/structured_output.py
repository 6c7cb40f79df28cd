"""Asks for a reply of a given shape by the strongest means a model has: JSON schema, tool call, JSON mode, words alone.

What a model can do is taken from its profile, or tried once and remembered. None of it replaces the parsers in
`anabranch.parsing`: a server may accept a schema and ignore it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import Runnable, RunnableSequence

from anabranch.models.lru import LRU
from anabranch.models.provider_errors import status_of

Means = Literal["json_schema", "tool", "json_mode", "text"]
Structured = Literal["auto", "json_schema", "tool", "json_mode", "text"]
Model = Runnable[LanguageModelInput, AIMessage]

STRONGEST_FIRST: tuple[Means, ...] = ("json_schema", "tool", "json_mode", "text")

_METHODS: dict[Means, str] = {"json_schema": "json_schema", "tool": "function_calling", "json_mode": "json_mode"}
_REFUSED = frozenset({400, 422, 501})

Who = tuple[str, str | None]
"""A model and its address: the key under which is kept what it can do."""

KEPT = 256
"""Models of which it is kept what they can do."""

_known: LRU[Who, Means] = LRU(KEPT)

Schema = Mapping[str, Any]
"""A JSON schema with a name and a description, as `title` and `description`."""


def means_of(client: BaseChatModel, who: Who, wanted: Structured = "auto") -> Sequence[Means]:
    """Return the means worth trying, strongest first; what somebody asked for by name is tried alone.

    Args:
        client: The model; its profile, where it has one, says what it can do.
        who: Under which `remember` keeps what worked.
        wanted: The means, or 'auto'.
    """
    if wanted != "auto":
        return (wanted,)
    first = _known.get(who) or _in_profile(client)
    return STRONGEST_FIRST[STRONGEST_FIRST.index(first) :]


def _in_profile(client: BaseChatModel) -> Means:
    profile = client.profile or {}
    if not profile or profile.get("structured_output"):
        return "json_schema"
    return "tool" if profile.get("tool_calling") else "json_mode"


def remember(who: Who, means: Means) -> None:
    """Keep what worked, so that the next question does not try again what was refused."""
    _known.set(who, means)


def forget() -> None:
    """Drop what was learned about models, for tests and for servers that were changed."""
    _known.clear()


def shaped(client: BaseChatModel, schema: Schema, means: Means) -> Model | None:
    """Return the model, told to reply in a shape; None where its client knows no such means."""
    if means == "text":
        return client
    try:
        chain = client.with_structured_output(dict(schema), method=_METHODS[means])
    except (NotImplementedError, ValueError, TypeError):
        return _with_tool(client, schema) if means == "tool" else None
    # The first step is the model with its options; the parser after it would raise on a reply it cannot read.
    return chain.first if isinstance(chain, RunnableSequence) else None


def _with_tool(client: BaseChatModel, schema: Schema) -> Model | None:
    try:
        return client.bind_tools([dict(schema)], tool_choice="any")
    except (NotImplementedError, ValueError, TypeError):
        return None


def refused(error: BaseException | None) -> bool:
    """Tell whether a provider did not accept the request as it was, which another means may cure."""
    return status_of(error) in _REFUSED


def said(message: BaseMessage) -> str:
    """Return what a message says: its text, or the arguments of the tool call that stands for it."""
    if message.text or not isinstance(message, AIMessage):
        return message.text
    for call in message.tool_calls:
        return json.dumps(call["args"], ensure_ascii=False)
    return next((str(call["args"]) for call in message.invalid_tool_calls if call["args"]), "")


def cut_short(error: BaseException) -> AIMessage | None:
    """Return the reply that a client withholds because it reached its length limit; None where there is none."""
    completion = getattr(error, "completion", None)
    choices = getattr(completion, "choices", None) or ()
    if not choices:
        return None
    text = next((str(choice.message.content) for choice in choices if choice.message.content), "")
    return AIMessage(text, response_metadata={"finish_reason": "length"}, usage_metadata=_usage(completion))


def _usage(completion: Any) -> UsageMetadata | None:  # noqa: ANN401  # the OpenAI client's own type
    usage = getattr(completion, "usage", None)
    if usage is None:
        return None
    return UsageMetadata(
        input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens, total_tokens=usage.total_tokens
    )
