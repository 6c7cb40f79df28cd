"""The messages of a run as `stream_mode="messages"` brings them: each time the message as far as it is written.

LangGraph's servers send `messages/metadata` before the first piece of a message, `messages/partial` with each piece,
and `messages/complete` for a message that comes whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.messages import BaseMessage, BaseMessageChunk, message_chunk_to_message

GROWTH = 32
"""A message is sent again when it is longer by one part in so many: with each piece it would be its length squared."""


class MessageEvents:
    """Joins the pieces of messages, which come one message after the other."""

    def __init__(self, *, is_whole: bool) -> None:
        """Begin; without `is_whole`, messages go on piece by piece as they come (`messages-tuple`)."""
        self._is_whole = is_whole
        self._known: set[str | None] = set()
        self._message: BaseMessageChunk | None = None
        self._waiting: list[BaseMessageChunk] = []

    def of(self, name: str, payload: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  # whatever a graph says
        """Yield the events, by name, that something becomes that a graph has said."""
        if not self._is_whole or name.partition("|")[0] != "messages":
            yield from self.rest()
            yield name, payload
            return
        message, metadata = payload
        if self._message is not None and message.id != self._message.id:
            yield from self.rest()
            self._message = None
        if message.id not in self._known:
            self._known.add(message.id)
            yield "messages/metadata", {message.id: {"metadata": metadata}}
        yield from self._taken(message)

    def rest(self) -> Iterator[tuple[str, Any]]:
        """Yield the message with the pieces that wait, if any do."""
        if self._message is None or not self._waiting:
            return
        self._message += self._waiting
        self._waiting = []
        yield "messages/partial", [message_chunk_to_message(self._message)]

    def _taken(self, message: BaseMessage) -> Iterator[tuple[str, Any]]:
        if not isinstance(message, BaseMessageChunk):
            yield "messages/complete", [message]
        elif self._message is None:
            self._message = message
            yield "messages/partial", [message_chunk_to_message(message)]
        else:
            self._waiting.append(message)
            if sum(len(each.text) for each in self._waiting) * GROWTH >= len(self._message.text):
                yield from self.rest()
