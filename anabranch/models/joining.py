"""Joins the pieces of a streamed reply that arrive close together, before the provider's client looks at each.

A model writes a token at a time, and to read one of them costs the OpenAI client and LangChain a third of a
millisecond, which is most of what a streamed answer costs at all. A reader follows no faster than a screen is drawn,
so tokens are read some thirty times a second, together.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

PAUSE = 0.03
"""Seconds from one burst to the next at most."""

AT_ONCE = 3
"""Bursts that nothing is waited for: a reader waits for the first word."""

_END = b"\n\n"
_FIELD = b"data: "
_LAST = b"data: [DONE]"
_TAIL = 64


async def in_bursts(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield server-sent events of chat completions, neighbours joined where they only add text.

    Args:
        pieces: Bytes as they arrive, cut anywhere.

    Yields:
        Whole events; what else there is as it is.
    """
    held = b""
    async with aclosing(_bursts(pieces)) as bursts:
        async for burst in bursts:
            whole, end, held = (held + burst).rpartition(_END)
            if end:
                yield joined(whole.split(_END))
    if held:
        yield held


async def _bursts(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    loop = asyncio.get_running_loop()
    number, due, tail = 0, 0.0, b""
    following: asyncio.Future[bytes | None] | None = None
    try:
        while (piece := await (following or _next(pieces))) is not None:
            burst = b""
            while True:
                burst += piece
                tail = (tail + piece)[-_TAIL:]
                # After the last event the client reads to the end itself, and two must not read at once.
                following = None if _LAST in tail else asyncio.ensure_future(_next(pieces))
                if following is None:
                    break
                if not following.done():
                    await asyncio.wait({following}, timeout=max(0.0, due - loop.time()))
                if not following.done() or following.exception() or (piece := following.result()) is None:
                    break
            yield burst
            number += 1
            due = loop.time() + PAUSE if number >= AT_ONCE else 0.0
    finally:
        if following is not None:
            # Whoever gives up reading closes the connection next, which nobody may be reading then.
            following.cancel()
            await asyncio.wait({following})
            if not following.cancelled():
                following.exception()  # it has been raised, or nobody waits for it any longer


async def _next(pieces: AsyncIterator[bytes]) -> bytes | None:
    return await anext(pieces, None)


def joined(events: list[bytes]) -> bytes:
    """Return events as they are sent, neighbours that only add text to one and the same choice as one event."""
    sent: list[bytes] = []
    frame, texts = None, list[str]()
    for event in events:
        here, text = _addition(event)
        if frame is not None and here == frame:
            texts.append(text)
            continue
        sent += _spelt(frame, texts)
        frame, texts = here, [text]
        if here is None:
            sent.append(event)
    sent += _spelt(frame, texts)
    return b"".join(event + _END for event in sent)


def _addition(event: bytes) -> tuple[dict[str, Any] | None, str]:
    """Return what an event says beside its text, and the text; None if it says anything else that counts."""
    if not event.startswith(_FIELD) or b"\n" in event:
        return None, ""
    try:
        frame = json.loads(event[len(_FIELD) :])
        (choice,) = frame["choices"]
        text = choice["delta"].pop("content")
        ends = choice.get("finish_reason") or choice.get("logprobs") or frame.get("usage")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None, ""
    return (None, "") if ends or not isinstance(text, str) or any(choice["delta"].values()) else (frame, text)


def _spelt(frame: dict[str, Any] | None, texts: list[str]) -> list[bytes]:
    if frame is None:
        return []
    frame["choices"][0]["delta"]["content"] = "".join(texts)
    return [_FIELD + json.dumps(frame).encode()]
