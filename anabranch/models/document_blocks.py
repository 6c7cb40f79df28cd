"""Passages as document blocks, for providers that cite them by themselves: their citations come back as markers.

Anthropic's messages have blocks of type `document`; with citations enabled, each block of the reply lists the documents
that it is from, by their place in the request. Its claims are checked like those of any other reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from anabranch.safety.prompt_envelope import unwrap


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Messages to a model.

    Attributes:
        messages: Instructions and what is asked.
        numbers: Those of the passages that are sent as documents, in order.
    """

    messages: list[BaseMessage]
    numbers: tuple[int, ...] = ()


def as_request(system: str, user: str, *, documents: bool = False) -> ChatRequest:
    """Return a request, with the passages of its envelope as documents where that is wanted and it has one."""
    rows, rest = unwrap(user) if documents else ([], user)
    if not rows:
        return ChatRequest([SystemMessage(system), HumanMessage(user)])
    blocks: list[str | dict[Any, Any]] = [_document(label, text) for _, label, text in rows]
    asked = HumanMessage([*blocks, {"type": "text", "text": rest}])
    return ChatRequest([SystemMessage(system), asked], tuple(number for number, *_ in rows))


def _document(label: str, text: str) -> dict[str, Any]:
    block = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": text},
        "citations": {"enabled": True},
    }
    return block | ({"title": label} if label else {})


class CitedText:
    """Reads a reply, whole or in pieces: behind each block of text stand the numbers of the passages that it cites."""

    def __init__(self, numbers: Sequence[int]) -> None:
        """Begin; `numbers` are those of the documents, in the order of the request."""
        self._numbers = numbers
        self._block = -1
        self._cited: dict[int, None] = {}
        self._blanks = ""  # at the end of what was read: markers stand before them

    def read(self, message: BaseMessage) -> BaseMessage:
        """Return a message, or a chunk of one, with the markers of the blocks that have ended."""
        if not self._numbers or isinstance(message.content, str):
            return message
        others: list[str | dict[Any, Any]] = []
        said = ""
        for at, block in enumerate(message.content):
            if not isinstance(block, dict) or block.get("type") != "text":
                others.append(block)
                continue
            if (index := block.get("index", at)) != self._block:
                said += self.finish()
                self._block = index
            said += self._text(block.get("text") or "")
            places = [each.get("document_index") for each in block.get("citations") or ()]
            self._cited |= {self._numbers[at]: None for at in places if at in range(len(self._numbers))}
        return message.model_copy(update={"content": [*others, {"type": "text", "text": said}]})

    def _text(self, text: str) -> str:
        text = self._blanks + text
        self._blanks = text[len(text.rstrip()) :]
        return text.rstrip()

    def finish(self) -> str:
        """Return what is left of the block that was read last: its markers, and the blanks behind it."""
        markers = "".join(f"[{number}]" for number in self._cited)
        left = (f" {markers}" if markers else "") + self._blanks
        self._cited, self._blanks = {}, ""
        return left
