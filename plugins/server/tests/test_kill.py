"""A server that is killed: what was accepted is finished by the next one, and nothing that was said is lost."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from anabranch.ingestion.pipeline import ingest
from plugins.server.tests.serve_process import serving, started
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub
from tests.shared_fixtures import REPOSITORY

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

QUESTION = {"question": "Who built the Halden weir?"}
AFTER = [pytest.param(after, marks=[] if after in (0, 6) else pytest.mark.exhaustive) for after in (0, 3, 6, 9)]
"""Events that were read when the server is killed: before its first step, and in the middle of others."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    shutil.copytree(REPOSITORY / "tests" / "samples", tmp_path / "samples")
    ingest([tmp_path / "samples"], tmp_path / "corpus")
    return tmp_path


@pytest.mark.parametrize("after", AFTER)
async def test_an_accepted_run_is_finished_by_the_next_server(home: Path, after: int) -> None:
    from langgraph_sdk import get_client

    with OpenAIStub(model()) as stub:
        chosen = {"ANABRANCH_MODEL": "openai:stub", "ANABRANCH_BASE_URL": stub.base_url}
        killed = started(home, **chosen)
        try:
            async with get_client(url=killed.url) as client:
                thread = (await client.threads.create())["thread_id"]
                asked = await client.runs.create(thread, "answer", input=QUESTION, stream_mode=["custom", "values"])
                run = asked["run_id"]
                seen = [part async for part in _some(client.runs.join_stream(thread, run), after)]
        finally:
            killed.process.kill()
            killed.process.wait()
        before = len(stub.calls)
        with serving(home, **chosen) as server:
            async with get_client(url=server.url) as client:
                last = max((int(part.id) for part in seen if part.id), default=0)
                more = [part async for part in client.runs.join_stream(thread, run, last_event_id=str(last))]
                state = await client.threads.get_state(thread)
                assert (await client.runs.get(thread, run))["status"] == "success"
                # A reader who comes back reads on to the end, and is told where the text begins anew.
                assert more[-1].event == "end"
                assert any(part.event == "metadata" and part.data["attempt"] == 2 for part in more) or before > 1
                assert "Ida Marrow" in state["values"]["answer"]
                assert len(state["values"]["messages"]) == 2
                nodes = [step["node"] for step in state["values"]["trace"]]
                assert len(nodes) == len(set(nodes)) or nodes.count("retrieve") == 2 == len(nodes) - len(set(nodes)) + 1
                # One question to the model for the queries and one for the answer; one more where a call was in flight.
                assert len(stub.calls) <= 3


async def _some(parts: Any, most: int) -> Any:
    """Yield the first parts of a stream, and leave it."""
    count = 0
    async for part in parts:
        if count >= most:
            return
        count += 1
        yield part


async def test_conversations_outlive_a_killed_server(home: Path) -> None:
    from langgraph_sdk import get_client

    killed = started(home)
    async with get_client(url=killed.url) as client:
        threads = [(await client.threads.create())["thread_id"] for _ in range(3)]
        await asyncio.gather(*(client.runs.wait(thread, "answer", input=QUESTION) for thread in threads))
    killed.process.kill()
    killed.process.wait()
    with serving(home) as server:
        async with get_client(url=server.url) as client:
            assert {each["thread_id"] for each in await client.threads.search()} == set(threads)
            for thread in threads:
                assert "Ida Marrow" in (await client.threads.get_state(thread))["values"]["answer"]
            more = {"question": "When did she rebuild the abutment?"}
            state = await client.runs.wait(threads[0], "answer", input=more)
            assert "1899" in state["answer"]
