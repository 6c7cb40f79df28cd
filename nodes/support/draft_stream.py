"""A draft as it grows, in the `custom` stream: what a reader may see of an answer that is not the final one."""

from __future__ import annotations

import time

from langgraph.types import StreamWriter

from anabranch.models.chat import Chat
from anabranch.parsing import AnswerStream

PAUSE = 0.1
"""Seconds between two looks at the draft: each event has all of it, and a reader follows no faster."""


class GrowingDraft:
    """Takes a draft in pieces and shows it from its beginning, each time a little more of it."""

    def __init__(self, step: str, write: StreamWriter) -> None:
        """Begin with nothing written.

        Args:
            step: The step that writes.
            write: Puts an event into the `custom` stream.
        """
        self._step, self._write = step, write
        self._text = ""
        self._shown = ""
        self._next = 0.0

    def add(self, piece: str) -> None:
        """Take the next piece; show it unless the last look was only just now."""
        self._text += piece
        if piece and time.monotonic() >= self._next:
            self._show()

    def end(self) -> None:
        """Show what was not shown yet."""
        if self._text != self._shown:
            self._show()

    def _show(self) -> None:
        self._write({"step": self._step, "status": "draft", "answer": self._text})
        self._shown = self._text
        self._next = time.monotonic() + PAUSE


def is_heard(write: StreamWriter) -> bool:
    """Tell whether somebody may be listening to the `custom` stream; to write live costs more than to write.

    Where nobody does, LangGraph's writer is a function that knows of no stream.
    """
    return getattr(write, "__closure__", ()) is not None


async def write_growing(
    chat: Chat, system: str, user: str, *, max_tokens: int, draft: GrowingDraft, stream: AnswerStream
) -> str:
    """Let the model write a draft while the reader looks on; same errors as `Chat.ask`, also in the middle."""
    reply: list[str] = []
    async for piece in chat.stream(system, user, max_tokens=max_tokens):
        reply.append(piece)
        draft.add(stream.feed(piece))
    draft.add(stream.finish())
    draft.end()
    return "".join(reply)


def withdraw(step: str, write: StreamWriter) -> None:
    """Say that what was shown is not the answer; the one that comes has a message id of its own."""
    write({"step": step, "status": "withdrawn", "answer": ""})
