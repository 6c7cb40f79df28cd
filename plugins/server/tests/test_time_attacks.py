"""Whatever somebody writes, a server goes on answering others meanwhile, and the run ends.

How long the event loop is kept is measured in processor time of this process, so that a busy machine changes nothing:
between two of its looks at the clock the loop lets others work for some milliseconds only. `--attacks 10000` tries
every piece of text at the most that may be sent.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from anabranch.agent.graph.state_validation import MAX_VALUE
from anabranch.ingestion.pipeline import ingest
from anabranch.safety.operator import environment
from anabranch_server.application import create_app
from tests.graph.replies import model
from tests.hostile_texts import ATOMS, repeated
from tests.servers.openai_stub import OpenAIStub

QUESTION = "Who built the weir at Halden?"
NOTE = "# The weir\n\nThe weir at Halden was built in 1848 by the engineer Ole Moen. Ida Berg paid for it.\n"
WORST = ("1", "Ida ", "&lt;", "\n", "你")
"""Those that did harm once; a short run tries no others."""

LONG = 10_000
"""Attacks from which on every piece is tried, and as long as it may be."""

LONGEST_QUESTION, LONGEST_DRAFT, LONGEST_REPLY = 10_000, 400_000, 200_000
HELD = 2.0
"""Seconds of processor time that the loop may be kept: loading a model for the first time takes one."""

SOON = 60.0
"""Seconds of processor time in which others are answered: long before eight such drafts are checked."""

PATIENCE = 300.0
"""Seconds for a run to end, on a machine that does much beside."""


class LoopWatch:
    """Notes for how much processor time of this process its event loop did nothing else."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def look(self) -> None:
        while True:
            began = time.process_time()
            await asyncio.sleep(0.01)
            self.longest = max(self.longest, time.process_time() - began)


@asynccontextmanager
async def watched() -> AsyncIterator[LoopWatch]:
    watch = LoopWatch()
    looking = asyncio.create_task(watch.look())
    try:
        yield watch
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("time")
    (folder / "weir.md").write_text(NOTE)
    ingest([folder / "weir.md"], folder / "corpus")
    return folder


Serve = Callable[[], AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def serve(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Return what serves whoever uses this machine, and has answered once: what it loads it has loaded."""
    monkeypatch.setenv("ANABRANCH_CORPUS", str(home / "corpus"))
    environment.cache_clear()

    @asynccontextmanager
    async def serving() -> AsyncIterator[httpx.AsyncClient]:
        app = create_app(str(tmp_path / "data"))
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=PATIENCE) as http,
        ):
            await http.post("/runs/wait", json={"assistant_id": "answer", "input": {"question": QUESTION}})
            yield http

    return serving


@pytest.fixture
def is_long(request: pytest.FixtureRequest) -> bool:
    return int(request.config.getoption("--attacks")) >= LONG


async def answered(http: httpx.AsyncClient, path: str, body: dict[str, Any]) -> httpx.Response:
    """Send a run; see that it ends, and that meanwhile the loop was never kept and the server said that it is well."""
    async with watched() as watch, asyncio.timeout(PATIENCE):
        running = asyncio.create_task(http.post(path, json={"assistant_id": "answer", **body}))
        while not running.done():
            assert (await http.get("/ok")).status_code == 200
            await asyncio.wait([running], timeout=0.2)
        reply = await running
    assert watch.longest < HELD, f"the loop was kept for {watch.longest:.1f} s by {str(body)[:200]}"
    return reply


def texts(length: int, *, is_long: bool) -> Iterator[str]:
    """Yield the pieces behind one another: in a short run the worst, and a sixth as long."""
    for atom in ATOMS if is_long else WORST:
        yield repeated(atom, length if is_long else length // 6)


async def edited(http: httpx.AsyncClient, text: str) -> tuple[str, dict[str, Any]]:
    """Write a draft into a thread that is at its end; return the thread, and what goes on from there."""
    thread = str((await http.post("/threads", json={})).json()["thread_id"])
    done = await answered(http, f"/threads/{thread}/runs/wait", {"input": {"question": QUESTION}})
    assert "Ole Moen" in done.json()["answer"]
    # As if a model had written it, of which there is none: verbatim sentences are looked for in another way.
    values = {"draft": {"answer": text, "window": 1, "keeps": 0}, "route": {"name": "create", "reasons": []}}
    written = await http.post(f"/threads/{thread}/state", json={"values": values, "as_node": "create"})
    # Six signs of JSON stand for one that cannot be seen.
    if len(json.dumps(values["draft"])) > MAX_VALUE:
        assert written.status_code == 422, written.text
        return await edited(http, text[: len(text) // 6])
    assert written.status_code == 200, written.text
    return thread, {"checkpoint_id": written.json()["checkpoint"]["checkpoint_id"]}


async def test_a_hostile_draft_holds_nobody_up(serve: Serve, *, is_long: bool) -> None:
    """The bound of a draft is that of the longest answer, and no model is needed to write one."""
    async with serve() as http:
        for text in texts(LONGEST_DRAFT, is_long=is_long):
            thread, onward = await edited(http, text)
            left = (await answered(http, f"/threads/{thread}/runs/wait", onward)).json()
            # A checked answer is longer than its draft, by its marks, and may be too long by that.
            assert "answer" in left or left["__error__"]["error"] == "ThreadStateError", left
            assert (await http.get(f"/threads/{thread}")).json()["status"] == "idle"


async def test_several_hostile_drafts_leave_room_for_the_questions_of_others(serve: Serve) -> None:
    """More than the pool of threads has places for, that every question needs; here it is that of a small machine."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(6))
    async with serve() as http:
        for thread, onward in [await edited(http, repeated("Ida ", LONGEST_DRAFT // 6)) for _ in range(8)]:
            begun = await http.post(f"/threads/{thread}/runs", json={"assistant_id": "answer", **onward})
            assert begun.status_code == 200, begun.text
        began = time.process_time()
        other = await answered(http, "/runs/wait", {"input": {"question": QUESTION}})
        assert "Ole Moen" in other.json()["answer"]
        assert time.process_time() - began < SOON


async def test_hostile_questions_hold_nobody_up(serve: Serve, *, is_long: bool) -> None:
    async with serve() as http:
        for atom in ATOMS if is_long else WORST:
            asked = {"question": f"{QUESTION} {repeated(atom, LONGEST_QUESTION)}"[:LONGEST_QUESTION]}
            reply = await answered(http, "/runs/wait", {"input": asked})
            assert "answer" in reply.json(), reply.text


@pytest.mark.loopback
async def test_hostile_replies_of_a_model_hold_nobody_up(serve: Serve, *, is_long: bool) -> None:
    """Of the calls that plan as of the one that answers."""
    async with serve() as http:
        for text in texts(LONGEST_REPLY, is_long=is_long):
            with OpenAIStub(model(create=text, rewrite=text)) as stub:
                context = {"model": "openai:stub", "base_url": stub.base_url}
                left = await answered(http, "/runs/wait", {"input": {"question": QUESTION}, "context": context})
            assert "answer" in left.json(), left.text
