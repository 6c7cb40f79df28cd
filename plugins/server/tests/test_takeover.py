"""What a server leaves behind when it is killed in its last moments: nothing of it is lost to a reader."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, update

from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from anabranch_server import event_log
from anabranch_server.database import events, open_database, runs
from anabranch_server.event_log import EventLog, RunEvent
from anabranch_server.requester import Requester
from anabranch_server.run_queue import RunQueue
from anabranch_server.run_request import RunRequest
from anabranch_server.run_resumption import ATTEMPTS, last_checkpoint
from anabranch_server.services import Services, open_services
from anabranch_server.write_probe import WriteProbe
from tests.shared_fixtures import REPOSITORY

QUESTION = {"question": "Who built the Halden weir?"}
MODES = ("messages-tuple", "values")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(REPOSITORY / "tests" / "samples", tmp_path / "samples")
    ingest([tmp_path / "samples"], tmp_path / "corpus")
    monkeypatch.setenv("ANABRANCH_CORPUS", str(tmp_path / "corpus"))
    return tmp_path


async def read(services: Services, run_id: str, after: int = 0) -> list[RunEvent]:
    return [each async for each in services.events.read(run_id, after) if each is not None]


def text_of(said: Sequence[RunEvent]) -> str:
    return "".join(json.loads(each.data)[0]["content"] for each in said if each.name == "messages")


@pytest.mark.parametrize("is_step_kept", [True, False])
async def test_an_answer_is_said_whole_where_its_last_words_were_not_written(home: Path, *, is_step_kept: bool) -> None:
    """Killed after the last step and before the end was noted, with some words in memory alone.

    Or even before the checkpoint of the last step, which has written its result and is not made again.
    """
    place = str(home / "data")
    async with open_services(place, grace=1) as services:
        thread = (await services.threads.add("local")).thread_id
        asked = RunRequest(input=QUESTION, stream_mode=MODES)
        run = await services.accept(Requester(None), asked, thread)
        said = await read(services, run.run_id)
        assert "Ida Marrow" in text_of(said)
        assert [each.name for each in said].count("end") == 1
    first = next(each.number for each in said if each.name == "messages")
    async with open_database(place) as engine, engine.begin() as connection:
        await connection.execute(delete(events).where(events.c.number > first))
        await connection.execute(update(runs).values(status="running", result=None))
    if not is_step_kept:
        with sqlite3.connect(home / "data" / "checkpoints.db") as database:
            last = "SELECT max(checkpoint_id) FROM checkpoints WHERE checkpoint_ns = ''"
            assert database.execute(f"DELETE FROM checkpoints WHERE checkpoint_id = ({last})").rowcount == 1
        database.close()
    async with open_services(place, grace=1) as services:
        more = await read(services, run.run_id, after=first)
        record = await services.runs.get(run.run_id)
    assert {"metadata", "messages", "values", "end"} == {each.name for each in more}
    assert (more[0].name, more[-1].name) == ("metadata", "end")
    assert "Ida Marrow" in text_of(more)
    assert "Ida Marrow" in json.loads([each for each in more if each.name == "values"][-1].data)["answer"]
    assert record is not None
    assert record.status == "success"
    assert record.result is not None
    assert "Ida Marrow" in record.result["values"]["answer"]


async def test_a_run_that_got_further_since_it_was_taken_over_is_begun_again(home: Path) -> None:
    place = str(home / "data")
    async with open_services(place, grace=1) as services:
        thread = (await services.threads.add("local")).thread_id
        run = await services.accept(Requester(None), RunRequest(input=QUESTION), thread)
        await services.events.wait_for_end(run.run_id)
        at = last_checkpoint(await services.answer.aget_state({"configurable": {"thread_id": thread}}, subgraphs=True))
    for before, ends in (("", "success"), (at, "error"), ("an earlier one", "success")):
        async with open_database(place) as engine, engine.begin() as connection:
            killed = {"status": "running", "tries": ATTEMPTS, "reached": before, "result": None}
            await connection.execute(update(runs).values(**killed))
        async with open_services(place, grace=1) as services:
            await services.events.wait_for_end(run.run_id)
            record = await services.runs.get(run.run_id)
        assert record is not None
        assert (record.status, record.reached) == (ends, at)


async def test_a_step_that_is_a_graph_gets_on_within_itself(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_services(str(home / "data"), grace=1) as services:
        of: Any = {"configurable": {"thread_id": (await services.threads.add("local")).thread_id}}
        seen = []
        saver: Any = services.answer.checkpointer
        put = saver.aput

        async def put_and_look(config: Any, *args: Any) -> Any:
            written = await put(config, *args)
            # The next step of the inner graph begins after this, however busy the machine is.
            if config["configurable"].get("checkpoint_ns"):
                seen.append(last_checkpoint(await services.answer.aget_state(of, subgraphs=True)))
            return written

        monkeypatch.setattr(saver, "aput", put_and_look)
        await services.answer.ainvoke(QUESTION, of, context=Context(), durability="sync")
    assert len(set(seen)) > 3
    assert [each.partition("+")[0] for each in seen] == sorted(each.partition("+")[0] for each in seen)


async def test_what_a_run_said_last_is_written_with_its_end_or_not_at_all(home: Path) -> None:
    async with open_database(str(home / "data")) as engine:
        queue = RunQueue(engine)
        log = EventLog(engine, queue, WriteProbe(engine, None))
        run = await queue.add("ida", {"input": QUESTION}, thread_id=None, user=None)
        (taken,) = await queue.claim("slow", 1)
        log.begin(run.run_id, taken.attempt)
        log.put(run.run_id, "values", "{}")
        await log.end(run.run_id, lambda rows: queue.finish(taken, "another", "success", {}, rows))
        # Another worker has it: what this one still had to say is not its last word.
        assert [each async for each in _kept(engine, run.run_id)] == []
        log.begin(run.run_id, taken.attempt)
        reader = asyncio.create_task(_names(log, run.run_id))
        await asyncio.sleep(0)
        assert not reader.done()
        await log.end(run.run_id, lambda rows: queue.finish(taken, "slow", "success", {}, rows))
        assert [each async for each in _kept(engine, run.run_id)] == ["end"]
        assert await reader == ["end"]


async def test_a_reader_is_woken_by_the_run_and_reads_together_what_came_meanwhile(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No reader looks again by itself.
    monkeypatch.setattr(event_log, "POLL", None)
    async with open_database(str(home / "data")) as engine:
        queue = RunQueue(engine)
        log = EventLog(engine, queue, WriteProbe(engine, None))
        run = await queue.add("ida", {"input": QUESTION}, thread_id=None, user=None)
        reader = log.read_together(run.run_id)
        first = asyncio.ensure_future(anext(reader))
        while run.run_id not in log._awaited:
            await asyncio.sleep(0.01)
        (taken,) = await queue.claim("slow", 1)
        log.begin(run.run_id, taken.attempt)
        log.put(run.run_id, "metadata", "{}")
        assert [each.name for each in await first] == ["metadata"]
        second = asyncio.ensure_future(anext(reader))
        await asyncio.sleep(0)
        for name in ("values", "messages"):
            log.put(run.run_id, name, "{}")
        assert [each.name for each in await second] == ["values", "messages"]
        await log.end(run.run_id, lambda rows: queue.finish(taken, "slow", "success", {}, rows))
        assert [[each.name for each in some] async for some in reader] == [["end"]]


async def _names(log: EventLog, run_id: str) -> list[str]:
    return [each.name async for each in log.read(run_id) if each is not None]


async def _kept(engine: Any, run_id: str) -> AsyncIterator[str]:
    async with engine.connect() as connection:
        for row in await connection.execute(events.select().where(events.c.run_id == run_id)):
            yield row.event
