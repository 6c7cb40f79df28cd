"""Streams of servers with habits of their own, read through the OpenAI client."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from anabranch.errors import ModelError
from anabranch.models.chat import Chat, ChatSettings, load_chat

pytestmark = pytest.mark.loopback

Send = Callable[[bytes], Awaitable[None]]
Play = Callable[[Send], Awaitable[None]]
WORDS = [f"{n} " for n in range(20)]
GRACE = 600.0


def event(text: str, *, field: bytes = b"data: ", end: bytes = b"\n\n") -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    frame = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return field + json.dumps(frame).encode() + end


async def words(send: Send, **spelt: bytes) -> None:
    for word in WORDS:
        await send(event(word, **spelt))
        await asyncio.sleep(0.01)


@asynccontextmanager
async def served(play: Play, connections: list[int]) -> AsyncIterator[Chat]:
    """Serve a model that streams as it is told; `connections` grows with each."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(1)

        async def send(data: bytes) -> None:
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
            await writer.drain()

        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
                await reader.readexactly(int(size.split(b":")[1]))
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                )
                await play(send)
                await send(b"")
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = ChatSettings("m", base_url=f"http://127.0.0.1:{port}/v1", timeout=GRACE, retries=0)
    chat = await load_chat(settings)
    try:
        yield chat
    finally:
        assert chat.pool is not None
        await chat.pool.aclose()  # a connection that is kept open would outlive its loop
        server.close()


@pytest.fixture
async def unheard() -> AsyncIterator[list[dict[str, Any]]]:
    """Return what nobody caught on the loop; there must be nothing."""
    found: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: found.append(context))
    yield found
    gc.collect()
    await asyncio.sleep(0.05)
    assert found == []


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("field", [b"data: ", b"data:"], ids=["blank", "no blank"])
async def test_an_answer_is_whole_where_the_connection_stays_open_after_it(
    end: bytes, field: bytes, unheard: list[Any]
) -> None:
    begun = asyncio.Event()

    async def hold(send: Send) -> None:
        await send(event(WORDS[0], field=field, end=end))
        await begun.wait()  # the first word is read before the others are there
        for word in WORDS[1:]:
            await send(event(word, field=field, end=end))
        await send(field + b"[DONE]" + end)
        await asyncio.sleep(GRACE)

    read = []
    async with served(hold, []) as chat, asyncio.timeout(GRACE):
        async for text in chat.stream("s", "u", max_tokens=1_000):
            read.append(text)
            if text:
                begun.set()
    assert "".join(read) == "".join(WORDS)
    assert unheard == []


async def test_who_stops_reading_leaves_nothing_behind(unheard: list[Any]) -> None:
    async def endless(send: Send) -> None:
        while True:
            await words(send)

    async with served(endless, []) as chat, asyncio.timeout(GRACE):
        stream = chat.stream("s", "u", max_tokens=1_000)
        async for text in stream:
            if "12" in text:
                break
        await stream.aclose()  # type: ignore[attr-defined]  # an async generator
    gc.collect()
    await asyncio.sleep(0.1)
    assert unheard == []


async def test_a_server_that_goes_away_is_an_error_after_what_it_said(unheard: list[Any]) -> None:
    async def die(send: Send) -> None:
        await words(send)
        raise ConnectionResetError

    read = []
    async with served(die, []) as chat, asyncio.timeout(GRACE):
        with pytest.raises(ModelError):
            async for text in chat.stream("s", "u", max_tokens=1_000):
                read.append(text)
    assert "".join(read) == "".join(WORDS)
    assert unheard == []


async def test_a_connection_is_used_again() -> None:
    async def play(send: Send) -> None:
        await words(send)
        await send(b"data: [DONE]\n\n")

    connections: list[int] = []
    async with served(play, connections) as chat, asyncio.timeout(GRACE):
        for _ in range(3):
            assert "".join([text async for text in chat.stream("s", "u", max_tokens=1_000)]) == "".join(WORDS)
    assert len(connections) == 1


async def test_an_answer_without_an_end_event_is_whole(unheard: list[Any]) -> None:
    async with served(words, []) as chat, asyncio.timeout(GRACE):
        read = []
        async for text in chat.stream("s", "u", max_tokens=1_000):
            read.append(text)
            await asyncio.sleep(0.05)  # a slow reader: the end has been read ahead by then
    assert "".join(read) == "".join(WORDS)
    assert unheard == []
