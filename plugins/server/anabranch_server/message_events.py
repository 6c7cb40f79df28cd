"""The events of `stream_mode="messages"`, each of which holds the message so far.

LangGraph's servers send `messages/metadata` before the first piece of a message, `messages/partial` with each piece,
and `messages/complete` for a message that is not streamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.messages import BaseMessage, BaseMessageChunk, message_chunk_to_message

GROWTH = 32
"""A message is sent again when it has grown by 1/32; sending it with each piece would be quadratic."""


class MessageEvents:
    """Joins the pieces of messages, which arrive one message after the other."""

    def __init__(self, *, is_whole: bool) -> None:
        """Begin; without `is_whole`, pieces are passed on unjoined (`messages-tuple`)."""
        self._is_whole = is_whole
        self._known: set[str | None] = set()
        self._message: BaseMessageChunk | None = None
        self._waiting: list[BaseMessageChunk] = []

    def convert(self, name: str, payload: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  # whatever a graph says
        """Yield the named events for one output of the graph."""
        if not self._is_whole or name.partition("|")[0] != "messages":
            yield from self.flush()
            yield name, payload
            return
        message, metadata = payload
        if self._message is not None and message.id != self._message.id:
            yield from self.flush()
            self._message = None
        if message.id not in self._known:
            self._known.add(message.id)
            yield "messages/metadata", {message.id: {"metadata": metadata}}
        yield from self._take(message)

    def flush(self) -> Iterator[tuple[str, Any]]:
        """Yield the message with its waiting pieces, if there are any."""
        if self._message is None or not self._waiting:
            return
        self._message += self._waiting
        self._waiting = []
        yield "messages/partial", [message_chunk_to_message(self._message)]

    def _take(self, message: BaseMessage) -> Iterator[tuple[str, Any]]:
        if not isinstance(message, BaseMessageChunk):
            yield "messages/complete", [message]
        elif self._message is None:
            self._message = message
            yield "messages/partial", [message_chunk_to_message(message)]
        else:
            self._waiting.append(message)
            if sum(len(each.text) for each in self._waiting) * GROWTH >= len(self._message.text):
                yield from self.flush()
