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
from functools import cache
from types import AsyncGeneratorType
from typing import Any, cast
from weakref import WeakSet

PAUSE = 0.03
"""Seconds from one burst to the next at most."""

AT_ONCE = 3
"""Bursts that nothing is waited for: a reader waits for the first word."""

LARGEST = 1 << 16
"""Bytes of a burst: what always has more to say must be looked at all the same."""

_END = b"\n\n"
_FIELD = b"data:"
_LAST = b"[DONE]"
_TAIL = 64

_ahead: WeakSet[asyncio.Task[bytes | None]] = WeakSet()
"""Tasks that read ahead of whoever wants to know what a reply says."""


@cache
def in_bursts_by(client: type[Any]) -> type[Any]:
    """Return a kind of HTTP client that reads streamed replies in bursts."""

    class Bursting(client):  # type: ignore[misc]  # httpx or its successor: whatever the provider's client is made of
        async def send(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401
            response = await super().send(*args, **options)
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                _read_in_bursts(response)
            return response

    return Bursting


def _read_in_bursts(response: Any) -> None:  # noqa: ANN401  # as above
    """Have a response give out its bytes in bursts, and close what reads ahead before it is closed itself."""
    read, close = response.aiter_bytes, response.aclose
    reading: list[AsyncGeneratorType[bytes, None]] = []

    def aiter_bytes(*size: int) -> AsyncGenerator[bytes, None]:
        reading.append(cast("AsyncGeneratorType[bytes, None]", in_bursts(read(*size))))
        return reading[-1]

    async def aclose() -> None:
        # At its end, a response is closed by whoever reads it, who must not wait for itself.
        while reading and asyncio.current_task() not in _ahead and not reading[-1].ag_running:
            await reading.pop().aclose()
        await close()

    response.aiter_bytes, response.aclose = aiter_bytes, aclose


async def in_bursts(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Yield server-sent events of chat completions, neighbours joined where they only add text.

    Args:
        pieces: Bytes as they arrive, cut anywhere.

    Yields:
        Whole events; what else there is as it is.
    """
    held = b""
    async with aclosing(_bursts(pieces)) as bursts:
        async for burst in bursts:
            held += burst
            # The standard lets lines end in three ways; after a CR, the LF may be in the next piece.
            open_end = held.endswith(b"\r")
            ready = held[: len(held) - open_end].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            whole, end, held = ready.rpartition(_END)
            held += b"\r" * open_end
            if end:
                yield joined(whole.split(_END))
    if held:
        yield held


async def _bursts(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    loop = asyncio.get_running_loop()
    number, due, tail = 0, 0.0, b""
    following: asyncio.Task[bytes | None] | None = None
    try:
        while (piece := await (following or _next(pieces))) is not None:
            burst: list[bytes] = []
            while True:
                burst.append(piece)
                tail = (tail + piece)[-_TAIL:]
                # After the last event the client reads to the end itself, and two must not read at once.
                following = None if _LAST in tail else _read_ahead(pieces)
                if following is None or sum(map(len, burst)) >= LARGEST:
                    break
                if not following.done():
                    await asyncio.wait({following}, timeout=max(0.0, due - loop.time()))
                if not following.done() or following.exception() or (piece := following.result()) is None:
                    break
            yield b"".join(burst)
            number += 1
            due = loop.time() + PAUSE if number >= AT_ONCE else 0.0
    finally:
        if following is not None:
            # Whoever gives up reading closes the connection next, which nobody may be reading then.
            following.cancel()
            await asyncio.wait({following})
            if not following.cancelled():
                following.exception()  # it has been raised, or nobody waits for it any longer


def _read_ahead(pieces: AsyncIterator[bytes]) -> asyncio.Task[bytes | None]:
    task = asyncio.create_task(_next(pieces))
    _ahead.add(task)
    return task


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
        frame.pop("obfuscation", None)  # noise of another length in each, so that nobody learns a word from its length
        ends = choice.get("finish_reason") or choice.get("logprobs") or frame.get("usage")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None, ""
    return (None, "") if ends or not isinstance(text, str) or _more(choice["delta"]) else (frame, text)


def _more(delta: dict[str, Any]) -> bool:
    return any(value for name, value in delta.items() if name != "role")


def _spelt(frame: dict[str, Any] | None, texts: list[str]) -> list[bytes]:
    if frame is None:
        return []
    frame["choices"][0]["delta"]["content"] = "".join(texts)
    return [_FIELD + b" " + json.dumps(frame).encode()]
