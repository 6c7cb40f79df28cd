"""Whoever keeps the server waiting is let go, and keeps nobody out; whoever is served, or listens, stays."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from anabranch_server import connection_watch
from anabranch_server import services as server_services
from anabranch_server.application import create_app
from anabranch_server.connection_watch import ConnectionWatch, most_connections
from anabranch_server.uvicorn_server import GracefulServer
from plugins.server.tests.gate import ASKED, Gate

pytestmark = pytest.mark.loopback

LONG = 30
"""Seconds that a test waits for what takes a moment."""

SHORT = 0.3
"""Seconds of patience, in place of twenty."""

HEAD = b"POST /threads HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
UNFINISHED = {
    "nothing": b"",
    "half a line": b"GET /ok HT",
    "half a head": b"GET /ok HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: 1\r\n",
    "half a head, after a request": b"GET /ok HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /ok HTTP/1.1\r\n",
    "no body": HEAD + b"Content-Length: 100\r\n\r\n",
    "half a body": HEAD + b"Content-Length: 100\r\n\r\n{",
    "half a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
    "a body for a route that reads none": b"GET /ok HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n1",
}


@asynccontextmanager
async def serving(tmp_path: Path, **bounds: Any) -> AsyncIterator[int]:
    """Run a server with bounds of its own; yield its port."""
    server = GracefulServer(create_app(str(tmp_path / "data")), grace=1, watch=ConnectionWatch(**bounds))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        served = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield int(listener.getsockname()[1])
        finally:
            server.should_exit = True
            await served


Opened = Callable[..., Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


@pytest.fixture
async def opened() -> AsyncIterator[Opened]:
    """Open connections, which are closed at the end."""
    writers = []

    async def one(port: int, sent: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writers.append(writer)
        writer.write(sent)
        return reader, writer

    yield one
    for writer in writers:
        writer.transport.abort()


async def all_of(reader: asyncio.StreamReader) -> bytes:
    """Return what comes until the server ends the connection."""
    read = b""
    try:
        async with asyncio.timeout(LONG):
            while part := await reader.read(65536):
                read += part
    except ConnectionError:
        pass
    return read


async def is_up(port: int) -> bool:
    async with httpx.AsyncClient(timeout=LONG) as http:
        return (await http.get(f"http://127.0.0.1:{port}/ok")).is_success


async def test_what_is_not_finished_is_ended(opened: Opened, tmp_path: Path) -> None:
    async with serving(tmp_path, patience=SHORT) as port:
        readers = {name: (await opened(port, sent))[0] for name, sent in UNFINISHED.items()}
        said = dict(zip(readers, await asyncio.gather(*map(all_of, readers.values())), strict=True))
        told = {name for name, reply in said.items() if b" 408 " in reply}
        assert told == {name for name, sent in UNFINISHED.items() if b"POST" in sent}
        assert await is_up(port)


async def test_a_head_that_comes_byte_by_byte_is_ended(opened: Opened, tmp_path: Path) -> None:
    async with serving(tmp_path, patience=SHORT) as port:
        reader, writer = await opened(port, b"GET /ok HTTP/1.1\r\nX-A: ")
        ended = asyncio.create_task(all_of(reader))
        while not ended.done():
            writer.write(b"a")
            await asyncio.sleep(SHORT / 10)
        assert await ended == b""


async def test_a_body_that_comes_byte_by_byte_is_answered_and_ended(opened: Opened, tmp_path: Path) -> None:
    async with serving(tmp_path, patience=SHORT) as port:
        reader, writer = await opened(port, HEAD + b"Content-Length: 100000\r\n\r\n{")
        ended = asyncio.create_task(all_of(reader))
        while not ended.done():
            writer.write(b" ")
            await asyncio.sleep(SHORT / 10)
        assert b" 408 " in await ended


async def test_a_body_that_comes_fast_enough_may_take_longer_than_that(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_watch, "RATE", 1)  # a byte is worth a second
    body = json.dumps({"metadata": {"note": "x" * 40}}).encode()
    async with serving(tmp_path, patience=2) as port:
        reader, writer = await opened(port, HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body))
        for byte in body:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.05)  # more than 2 seconds in all
        assert b" 200 " in await all_of(reader)


async def test_an_answer_that_nobody_reads_is_ended(opened: Opened, tmp_path: Path) -> None:
    async with serving(tmp_path, patience=SHORT) as port:
        # Nothing is read while more answers come than the system's buffers hold.
        _, writer = await opened(port)
        asked = b"GET /page/app.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 1000
        writer.write(asked)
        transport: Any = writer.transport
        transport.pause_reading()
        async with asyncio.timeout(LONG):
            while not transport.is_closing():
                writer.write(b"G")
                await asyncio.sleep(0.05)
        assert await is_up(port)


async def test_who_waits_for_an_answer_or_listens_to_one_is_not_cut_off(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    monkeypatch.setattr(server_services, "build_answer", gate.graph)
    async with serving(tmp_path, patience=SHORT) as port:
        body = {**ASKED, "if_not_exists": "create"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=LONG) as http:
            waiting = asyncio.create_task(http.post("/runs/wait", json=ASKED))
            async with http.stream("POST", "/threads/weir/runs/stream", json=body) as listening:
                await gate.began.wait()
                for _ in range(3):  # each is ended in a sweep of its own, and these two in none
                    reader, _ = await opened(port)
                    await all_of(reader)
                assert not waiting.done()
                gate.opened.set()
                said = await listening.aread()
            assert b"event: " in said
            assert b"error" not in said
            assert (await waiting).status_code == 200


async def test_where_too_many_are_open_the_one_that_is_waited_for_the_longest_makes_room(
    opened: Opened, tmp_path: Path
) -> None:
    async with serving(tmp_path, most=5, patience=LONG) as port:
        slow = [await opened(port, HEAD + b"Expect: 100-continue\r\nContent-Length: 100\r\n\r\n")]
        assert b" 100 " in await slow[0][0].readline()  # its body is waited for by now
        slow += [await opened(port, UNFINISHED["half a head"]) for _ in range(30)]
        async with httpx.AsyncClient(timeout=LONG) as http:
            told = [(await http.get(f"http://127.0.0.1:{port}/ok")).status_code for _ in range(5)]
        assert told == [200] * 5
        # A body that is on its way is of more use than a head that does not come.
        ended = [asyncio.create_task(all_of(reader)) for reader, _ in slow]
        done, left = await asyncio.wait(ended[1:26], timeout=LONG)
        assert (len(done), len(left)) == (25, 0)
        assert not ended[0].done()
        for task, (_, writer) in zip(ended, slow, strict=True):
            task.cancel()
            writer.transport.abort()


async def test_where_all_are_being_answered_one_more_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    monkeypatch.setattr(server_services, "build_answer", gate.graph)
    async with (
        serving(tmp_path, most=3, patience=LONG) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=LONG) as http,
        AsyncExitStack() as streams,
    ):
        # Each has begun to be answered when its head is here.
        listening = [await streams.enter_async_context(http.stream("POST", "/runs/stream", json=ASKED)) for _ in "123"]
        refused = await http.get("/")
        assert (refused.status_code, refused.headers["connection"]) == (503, "close")
        assert "frame-ancestors 'none'" in refused.headers["content-security-policy"]
        gate.opened.set()
        for reply in listening:
            assert b"event: " in await reply.aread()
        assert await is_up(port)


def test_connections_leave_room_for_files(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    for files, most in ((1024, 512), (1 << 20, connection_watch.MOST), (resource.RLIM_INFINITY, connection_watch.MOST)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert most_connections() == most
