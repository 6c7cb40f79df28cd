"""A server whose disk is full says so at once, stays readable, and is sound again once there is room."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from anabranch.ingestion.pipeline import ingest
from anabranch.safety.operator import environment
from anabranch_server import write_probe
from anabranch_server.application import create_app
from tests.faults.conftest import Disk
from tests.shared_fixtures import REPOSITORY

QUESTION: dict[str, Any] = {"assistant_id": "answer", "input": {"question": "Who built the Halden weir?"}}
CHAT = {"messages": [{"role": "user", "content": "Who built the Halden weir?"}]}
PATIENCE = 30.0
"""Seconds for a refusal, on a machine that does much beside; what hung was never answered."""


@pytest.fixture
def place(disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a server on the small disk has its data; its corpus is elsewhere."""
    ingest([REPOSITORY / "tests" / "samples"], tmp_path / "corpus")
    monkeypatch.setenv("ANABRANCH_CORPUS", str(tmp_path / "corpus"))
    monkeypatch.setattr(write_probe, "EVERY", 0.05)
    environment.cache_clear()
    return str(disk.path / "data")


@asynccontextmanager
async def served(place: str) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(place)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as http,
    ):
        yield http


async def said(http: httpx.AsyncClient, path: str, body: dict[str, Any]) -> tuple[int, str]:
    async with asyncio.timeout(PATIENCE):
        reply = await http.post(path, json=body)
    return reply.status_code, reply.text


# The least is not enough for a question's own row, the most is for its row and not for its steps.
@pytest.mark.parametrize("free", [0, 64 << 10, 128 << 10, 256 << 10])
async def test_a_full_disk_is_said_and_over_with_room(free: int, place: str, disk: Disk) -> None:
    async with served(place) as http:
        await full_and_over(free, http, disk)


async def full_and_over(free: int, http: httpx.AsyncClient, disk: Disk) -> None:
    thread = (await http.post("/threads", json={})).json()["thread_id"]
    first = (await http.post(f"/threads/{thread}/runs/wait", json=QUESTION)).json()
    assert "Ida Marrow" in first["answer"]
    assert (await http.get("/ready")).json()["ready"] is True
    disk.fill(free)
    await asyncio.sleep(0.1)
    refused = [
        await said(http, path, body)
        for _ in range(3)
        for path, body in (
            (f"/threads/{thread}/runs/wait", QUESTION), ("/runs/wait", QUESTION), ("/threads", {}),
            (f"/threads/{thread}/state", {"values": {"answer": "x" * 100_000}, "as_node": "finish"}),
            (f"/threads/{thread}/runs/stream", QUESTION), ("/v1/chat/completions", CHAT),
        )
    ]  # fmt: skip
    # A stream has begun with 200 where its run was accepted; whatever else is done found room.
    assert {status for status, _ in refused} <= {200, 503}, refused
    assert any(status == 503 for status, _ in refused), refused
    assert all("cannot keep anything now: its disk is full" in text for status, text in refused if status == 503)
    ready = await http.get("/ready")
    assert (ready.status_code, ready.json()["ready"]) == (503, False)
    assert (await http.get("/ok")).status_code == 200
    kept = (await http.get(f"/threads/{thread}/state")).json()["values"]
    assert kept["turn"]["question"] == QUESTION["input"]["question"]
    disk.clear()
    await asyncio.sleep(0.1)
    assert (await http.get("/ready")).json()["ready"] is True
    assert "Ida Marrow" in (await http.post("/runs/wait", json=QUESTION)).json()["answer"]
    again = (await http.post("/threads", json={})).json()["thread_id"]
    async with asyncio.timeout(PATIENCE):
        assert "Ida Marrow" in (await http.post(f"/threads/{again}/runs/wait", json=QUESTION)).json()["answer"]


async def test_many_who_ask_whether_it_is_ready_have_it_written_once(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Path] = []
    room = write_probe._try_room
    monkeypatch.setattr(write_probe, "EVERY", 60.0)
    monkeypatch.setattr(write_probe, "_try_room", lambda folder: (tried.append(folder), room(folder)))
    async with served(place) as http:
        replies = await asyncio.gather(*(http.get("/ready") for _ in range(50)))
    assert {each.status_code for each in replies} == {200}
    assert tried == [Path(place)]
    assert {each.name.partition("-")[0] for each in Path(place).iterdir()} == {
        "checkpoints.db",
        "server.db",
        "server.lock",
    }
