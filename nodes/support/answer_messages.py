"""The final answer as the model writes it, in the `messages` stream; where nobody reads there it is asked for whole."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.tracers import LangChainTracer
from langgraph.config import get_config

from anabranch.errors import ModelError
from anabranch.models.chat import Chat
from anabranch.models.usage import note_failure
from anabranch.parsing import AnswerStream, split_answer
from anabranch.text.sentences import spans
from nodes.support.drafts import MARKER, show

PAUSE = 0.025
"""Seconds from one piece to the next: a model may write faster than a screen draws, and each piece costs."""

_DEAF = (BaseCallbackHandler.on_llm_new_token, AsyncCallbackHandler.on_llm_new_token)


class LiveMessage:
    """Puts a message's text into the stream: the first piece at once, later ones joined where they come fast."""

    def __init__(self, message_id: str) -> None:
        """Begin with nothing shown."""
        self._id = message_id
        self._held: list[str] = []
        self._next = 0.0
        self._later: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Show what is held back still, also where the model broke off; but not where nobody waits any longer."""
        if error is None or isinstance(error, Exception):
            self._show()
        elif self._later:
            self._later.cancel()

    def add(self, text: str) -> None:
        """Take the next piece; it is shown now or within `PAUSE`, whether or not another one follows."""
        if not text:
            return
        self._held.append(text)
        loop = asyncio.get_running_loop()
        if loop.time() >= self._next:
            self._show()
        elif self._later is None:
            self._later = loop.call_at(self._next, self._show)

    def _show(self) -> None:
        if self._later:
            self._later.cancel()
            self._later = None
        text = "".join(self._held)
        self._held.clear()
        show(self._id, text)
        self._next = asyncio.get_running_loop().time() + PAUSE


def is_read() -> bool:
    """Tell whether somebody may be reading the model's words as they come; to write live costs more than to write.

    LangGraph says nowhere which streams are asked for. Whoever reads words has a callback for them in the run: its
    `messages` stream, `astream_events`, a handler of the caller's own. A tracer has one too, but only keeps records.
    """
    callbacks = get_config().get("callbacks") or []
    handlers = callbacks if isinstance(callbacks, list) else callbacks.handlers
    return any(
        getattr(type(handler), "on_llm_new_token", None) not in _DEAF and not isinstance(handler, LangChainTracer)
        for handler in handlers
    )


async def write_live(
    chat: Chat, system: str, user: str, *, max_tokens: int, message_id: str, stream: AnswerStream
) -> str:
    """Let the model write while the reader reads what the stream gives out.

    What may not be seen (quotes, links, the instructions) is held back. Where the model breaks off, the cited sentences
    that the reader has seen by then stay. Whatever nobody has seen comes from the provider in one piece or not at all.

    Raises:
        ModelError: It broke off before it had written one.
    """
    if not is_read():
        return await chat.ask(system, user, max_tokens=max_tokens)
    reply: list[str] = []
    with LiveMessage(message_id) as message:
        try:
            async for piece in chat.stream(system, user, max_tokens=max_tokens):
                reply.append(piece)
                message.add(stream.feed(piece))
        except ModelError as error:
            kept = _whole_sentences("".join(reply))
            if not MARKER.search(split_answer(kept).answer):
                raise
            note_failure(f"{error.message} What it had written by then is the answer.")
            return kept
        message.add(stream.finish())
    return "".join(reply)


def _whole_sentences(text: str) -> str:
    """Return a text without its last sentence, which may have no end."""
    found = spans(text)
    return text[: found[-1][0]] if found else ""
