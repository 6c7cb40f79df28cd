"""Two workers of Aegra, one of them killed: what was accepted is answered, by the other."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from anabranch.ingestion.pipeline import ingest
from plugins.server.tests.aegra_server import aegra_servers
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub
from tests.shared_fixtures import REPOSITORY

pytestmark = [pytest.mark.loopback, pytest.mark.slow, pytest.mark.timeout(600)]

RUNS = 6
QUESTION = "Who built the Halden weir? My number is {}."


async def test_what_a_killed_worker_had_is_answered_by_the_other(tmp_path: Path) -> None:
    with OpenAIStub(model()) as stub:
        chosen = {"ANABRANCH_MODEL": "openai:stub", "ANABRANCH_BASE_URL": stub.base_url}
        with aegra_servers(tmp_path / "home", 2, **chosen) as (stays, dies):
            ingest([REPOSITORY / "tests" / "samples"], tmp_path / "home" / "corpus")
            async with get_client(url=stays.url) as one, get_client(url=dies.url) as other:
                threads = [(await other.threads.create())["thread_id"] for _ in range(RUNS)]
                given = [{"question": QUESTION.format(number)} for number in range(RUNS)]
                asked = [
                    await other.runs.create(thread, "answer", input=question)
                    for thread, question in zip(threads, given, strict=True)
                ]
                await asyncio.sleep(0.5)
                dies.process.kill()
                for thread, run in zip(threads, asked, strict=True):
                    assert await _ended(one, thread, run["run_id"]) == "success"
                    state: Any = await one.threads.get_state(thread)
                    assert "Ida Marrow" in state["values"]["answer"]
                    assert [message["type"] for message in state["values"]["messages"]] == ["human", "ai"]


async def _ended(client: LangGraphClient, thread: str, run: str) -> str:
    """Return how a run ended; a killed worker's are given to others after half a minute."""
    while True:
        # A connection that was idle may have been closed.
        with suppress(httpx.TransportError):
            status = str((await client.runs.get(thread, run))["status"])
            if status not in ("pending", "running"):
                return status
        await asyncio.sleep(1)
