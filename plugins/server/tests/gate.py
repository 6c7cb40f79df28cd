"""The server's application with an answer graph of one step, which waits until a test lets it go."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import InputState, OutputState, State
from anabranch_server import services as server_services
from anabranch_server.application import create_app
from anabranch_server.services import Services

ASKED: dict[str, Any] = {"assistant_id": "answer", "input": {"question": "Who built the weir?"}}


class Gate:
    """Where the one step waits: it says that it has begun, and how it ended."""

    def __init__(self) -> None:
        self.began, self.opened, self.stopped = asyncio.Event(), asyncio.Event(), 0
        self.pauses = False
        self.given: list[str] = []
        self.fault: Exception | None = None

    def graph(self) -> Any:
        builder = StateGraph(State, context_schema=Context, input_schema=InputState, output_schema=OutputState)
        builder.add_node("wait", self._wait, input_schema=InputState)
        builder.add_edge(START, "wait")
        return builder

    async def _wait(self, state: InputState) -> dict[str, Any]:
        self.began.set()
        self.given += [message.text for message in state.get("messages", [])]
        if self.fault is not None:
            raise self.fault
        if self.pauses:
            interrupt("shall it go on?")
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        return {"answer": state.get("question", ""), "claims": [], "queries": []}


@dataclass
class Served:
    """A server in this process."""

    http: httpx.AsyncClient
    services: Services
    gate: Gate
    app: Any

    async def thread(self, **body: Any) -> str:
        made = await self.http.post("/threads", json=body)
        assert made.status_code == 200, made.text
        return str(made.json()["thread_id"])

    async def leave(self, path: str, body: dict[str, Any]) -> None:
        """Ask, and go away when the step has begun, as a browser or a program does that is closed."""
        sent = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

        async def receive() -> dict[str, Any]:
            if sent:
                return sent.pop()
            await self.gate.began.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            pass

        told = {"host": "localhost", "content-type": "application/json"}
        told["accept"] = "application/json, text/event-stream"
        headers = [(name.encode(), value.encode()) for name, value in told.items()]
        # As uvicorn says it of itself: what is streamed is cancelled when the client is gone.
        of: dict[str, Any] = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1"}
        of |= {"method": "POST", "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": b""}
        of |= {"root_path": "", "headers": headers, "client": ("127.0.0.1", 5), "server": ("localhost", 80)}
        await self.app(of, receive, send)

    async def count_checkpoints(self, thread: str) -> int:
        """Return how many are kept of a thread."""
        return len([each async for each in self.services.saver.alist({"configurable": {"thread_id": thread}})])

    async def quiet(self) -> None:
        """Wait until nothing runs."""
        async with asyncio.timeout(20):
            while self.services.worker.running:
                await asyncio.sleep(0.01)


@asynccontextmanager
async def gated(place: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    """Serve `place`; every question waits at the gate."""
    gate = Gate()
    monkeypatch.setattr(server_services, "build_answer", gate.graph)
    app = create_app(str(place))
    is_up, is_over = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        async with app.router.lifespan_context(app):
            is_up.set()
            await is_over.wait()

    # In a task of its own, which a lifespan has to begin and end in: the two halves of a fixture are two tasks.
    life = asyncio.create_task(live())
    await is_up.wait()
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as http:
        yield Served(http, app.state.services, gate, app)
    gate.opened.set()
    is_over.set()
    await life
