"""A server that is stopped: what runs and those who read it have one time to end, not one after the other."""

from __future__ import annotations

import asyncio
import socket
import time
from pathlib import Path

import httpx
import pytest

from anabranch_server import services as server_services
from anabranch_server import uvicorn_server
from anabranch_server.application import create_app
from anabranch_server.database import open_database
from anabranch_server.run_queue import RunQueue
from anabranch_server.uvicorn_server import GracefulServer
from plugins.server.tests.gate import ASKED, Gate

pytestmark = pytest.mark.loopback


async def test_a_stop_takes_no_longer_with_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    monkeypatch.setattr(server_services, "build_answer", gate.graph)
    monkeypatch.setattr(uvicorn_server, "LEAVING", 1)
    server = GracefulServer(create_app(str(tmp_path / "data")), grace=4)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        served = asyncio.create_task(server.serve(sockets=[listener]))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with httpx.AsyncClient(base_url=url, timeout=30) as http:
            body = {**ASKED, "if_not_exists": "create"}
            async with http.stream("POST", "/threads/weir/runs/stream", json=body) as reply:
                run_id = reply.headers["content-location"].rpartition("/")[2]
                await gate.began.wait()
                began, server.should_exit = time.monotonic(), True
                with pytest.raises(httpx.HTTPError):
                    await reply.aread()
            await served
    assert time.monotonic() - began < 8  # one after the other takes 9 on an idle machine, at once 5
    async with open_database(str(tmp_path / "data")) as engine:
        assert [each.run_id for each in await RunQueue(engine).claim("next", 10)] == [run_id]


async def test_what_is_loaded_ahead_keeps_no_request_waiting(tmp_path: Path) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def on_start() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    server = GracefulServer(create_app(str(tmp_path / "data")), grace=1, on_start=on_start)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        served = asyncio.create_task(server.serve(sockets=[listener]))
        async with httpx.AsyncClient(timeout=30) as http:
            assert (await http.get(f"http://127.0.0.1:{listener.getsockname()[1]}/ok")).is_success
        await begun.wait()
        server.should_exit = True
        await served
    await asyncio.wait_for(stopped.wait(), 10)
