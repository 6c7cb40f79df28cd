"""Two servers on one PostgreSQL: they share threads and runs, and what one leaves behind the other finishes."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client

from anabranch.ingestion.pipeline import ingest
from anabranch_server.checkpoints import open_checkpoints
from anabranch_server.database import open_database
from anabranch_server.thread_records import Threads
from plugins.server.tests.serve_process import ServeProcess, serving, started
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub
from tests.servers.postgres import postgres
from tests.shared_fixtures import REPOSITORY

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

QUESTION = {"question": "Who built the Halden weir?"}
RUNS = 8


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workers")
    shutil.copytree(REPOSITORY / "tests" / "samples", folder / "samples")
    ingest([folder / "samples"], folder / "corpus")
    return folder


@pytest.fixture(scope="module")
def database(home: Path) -> Iterator[str]:
    with postgres(home / "postgres") as address:
        yield address


@pytest.fixture
def pair(home: Path, database: str) -> Iterator[list[ServeProcess]]:
    with OpenAIStub(model()) as stub:
        chosen = {"ANABRANCH_MODEL": "openai:stub", "ANABRANCH_BASE_URL": stub.base_url}
        with serving(home, "--data", database, **chosen) as one:
            other = started(home, "--data", database, **chosen)
            try:
                yield [one, other]
            finally:
                other.process.kill()
                other.process.wait()


async def test_servers_that_start_together_make_the_tables_once(tmp_path: Path) -> None:
    async def start(address: str) -> None:
        async with open_database(address) as engine, open_checkpoints(address) as saver:
            assert await Threads(engine).search("ida") == []
            assert [each async for each in saver.alist(None)] == []

    with postgres(tmp_path / "postgres") as address:
        await asyncio.wait_for(asyncio.gather(*(start(address) for _ in range(4))), 120)


async def test_each_serves_what_the_other_accepted(pair: list[ServeProcess]) -> None:
    async with get_client(url=pair[0].url) as one, get_client(url=pair[1].url) as other:
        thread = (await one.threads.create())["thread_id"]
        modes = ["messages-tuple", "values"]
        run = (await one.runs.create(thread, "answer", input=QUESTION, stream_mode=modes))["run_id"]
        parts = [part async for part in other.runs.join_stream(thread, run)]
        assert parts[-1].event == "end"
        assert "Ida Marrow" in "".join(part.data[0]["content"] for part in parts if part.event == "messages")
        state = await other.runs.wait(thread, "answer", input={"question": "When did she rebuild the abutment?"})
        assert len(state["messages"]) == 4
        await one.threads.delete(thread)
        assert thread not in {each["thread_id"] for each in await other.threads.search()}


async def test_what_a_killed_worker_had_is_finished_by_the_other_and_asked_once(pair: list[ServeProcess]) -> None:
    async with get_client(url=pair[0].url) as stays, get_client(url=pair[1].url) as dies:
        threads = [(await dies.threads.create())["thread_id"] for _ in range(RUNS)]
        asked = [await dies.runs.create(thread, "answer", input=QUESTION) for thread in threads]
        await asyncio.sleep(0.5)
        pair[1].process.kill()
        states = await asyncio.gather(
            *(stays.runs.join(thread, run["run_id"]) for thread, run in zip(threads, asked, strict=True))
        )
        assert all("Ida Marrow" in state["answer"] for state in states)
        kept: list[Any] = [await stays.threads.get_state(thread) for thread in threads]
        # One question and one answer each: nothing was asked twice, and nothing was lost.
        assert [len(state["values"]["messages"]) for state in kept] == [2] * RUNS
        assert {
            (await stays.runs.get(thread, run["run_id"]))["status"] for thread, run in zip(threads, asked, strict=True)
        } == {"success"}
