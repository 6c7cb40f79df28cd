"""Runs as rows: claimed once, one after the other in a thread, taken over, stopped, given up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import inspect, select, text, update
from sqlalchemy.ext.asyncio import AsyncEngine

from anabranch.errors import OperationError, SettingsError
from anabranch_server import database, run_queue
from anabranch_server.database import SCHEMA, database_url, open_database, runs, versions
from anabranch_server.requester import Requester
from anabranch_server.run_queue import RunQueue, RunRecord
from anabranch_server.run_request import RunRequest
from anabranch_server.run_resumption import ATTEMPTS, WORKED
from anabranch_server.services import open_services
from anabranch_server.thread_records import Threads

ASKED = {"assistant_id": "answer", "input": {"question": "Who built the weir?"}}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    async with open_database(str(tmp_path / "data")) as found:
        yield found


async def test_of_many_workers_one_gets_a_run(engine: AsyncEngine) -> None:
    queue = RunQueue(engine)
    added = {(await queue.add("ida", ASKED, thread_id=None, user=None)).run_id for _ in range(20)}
    claimed = await asyncio.gather(*(RunQueue(engine).claim(f"worker {number}", 20) for number in range(5)))
    ids = [record.run_id for records in claimed for record in records]
    assert sorted(ids) == sorted(added)


async def test_the_runs_of_a_thread_go_one_after_the_other_and_others_beside_them(engine: AsyncEngine) -> None:
    queue, thread = RunQueue(engine), (await Threads(engine).add("ida")).thread_id
    first, second = [await queue.add("ida", ASKED, thread_id=thread, user=None) for _ in range(2)]
    alone = await queue.add("bob", ASKED, thread_id=None, user=None)
    (one, other) = await queue.claim("w", 10)
    assert {one.run_id, other.run_id} == {first.run_id, alone.run_id}
    assert await queue.claim("w", 10) == []
    mine = one if one.run_id == first.run_id else other
    assert await queue.finish(mine, "w", "success")
    assert [record.run_id for record in await queue.claim("w", 10)] == [second.run_id]


async def test_a_silent_workers_run_is_taken_over_and_its_late_word_does_not_count(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = RunQueue(engine)
    await queue.add("ida", ASKED, thread_id=None, user=None)
    (first,) = await queue.claim("silent", 10)
    assert await queue.extend("silent", [first.run_id]) == {first.run_id}
    assert await queue.claim("other", 10) == []
    later = database.now() + run_queue.LEASE + 1
    monkeypatch.setattr(run_queue, "now", lambda: later)
    assert await queue.claim("silent", 10, excluded=[first.run_id]) == []
    (second,) = await queue.claim("other", 10)
    assert await queue.extend("silent", [first.run_id]) == set()
    assert (first.attempt, second.attempt) == (1, 2)
    assert not await queue.finish(first, "silent", "success", {"values": {"answer": "old"}})
    assert await queue.finish(second, "other", "success", {"values": {"answer": "new"}})
    record = await queue.get(second.run_id)
    assert record is not None
    assert record.result == {"values": {"answer": "new"}}


async def test_a_run_is_stopped_before_it_begins_and_while_it_runs(engine: AsyncEngine) -> None:
    queue = RunQueue(engine)
    waiting = await queue.add("ida", ASKED, thread_id=None, user=None)
    await queue.cancel(waiting)
    assert await queue.claim("w", 10) == []
    running = await queue.add("ida", ASKED, thread_id=None, user=None)
    await queue.claim("w", 10)
    assert await queue.extend("w", [running.run_id]) == {running.run_id}
    await queue.cancel(running)
    assert await queue.extend("w", [running.run_id]) == set()


async def test_a_run_that_was_told_to_stop_is_not_taken_over(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = RunQueue(engine)
    run = await queue.add("ida", ASKED, thread_id=None, user=None)
    await queue.claim("killed", 10)
    await queue.cancel(run)
    later = database.now() + run_queue.LEASE + 1
    monkeypatch.setattr(run_queue, "now", lambda: later)
    assert await queue.claim("other", 10) == []
    record = await queue.get(run.run_id)
    assert record is not None
    assert (record.status, record.attempt) == ("interrupted", 1)


async def test_nobody_finds_the_runs_and_threads_of_others(engine: AsyncEngine) -> None:
    queue, threads = RunQueue(engine), Threads(engine)
    thread = (await threads.add("ida", metadata={"title": "Weirs"})).thread_id
    run = await queue.add("ida", ASKED, thread_id=thread, user=None)
    assert await queue.get(run.run_id, "bob") is None
    assert await queue.list_of_thread("bob", thread) == []
    assert await threads.get("bob", thread) is None
    assert await threads.search("bob") == []
    assert await threads.change("bob", thread, {"title": "Mine"}) is None
    assert not await threads.remove("bob", thread)
    with pytest.raises(SettingsError, match="taken"):
        await threads.add("bob", thread)
    assert [each.metadata for each in await threads.search("ida", metadata={"title": "Weirs"})] == [{"title": "Weirs"}]


@pytest.mark.parametrize(
    ("left", "told"),
    [
        ({"tries": ATTEMPTS, "attempt": ATTEMPTS}, f"begun {ATTEMPTS} times at the same step"),
        ({"tries": 1, "attempt": 1, "worked": WORKED + 60}, "was worked on for 121 minutes"),
        # Restarts of a sound server, and steps that each of them kept, are no tries.
        ({"tries": 0, "attempt": 40, "worked": WORKED - 60}, "There is no corpus"),
    ],
)
async def test_a_run_that_ends_its_process_each_time_is_given_up(
    tmp_path: Path, left: dict[str, float], told: str
) -> None:
    async with open_services(str(tmp_path / "data"), grace=1) as services:
        await services.worker.stop(0)
        run = await services.runs.add("ida", ASKED, thread_id=None, user=None)
    async with open_database(str(tmp_path / "data")) as engine, engine.begin() as connection:
        await connection.execute(update(runs).values(status="running", **left))
    async with open_services(str(tmp_path / "data"), grace=1) as services:
        await services.events.wait_for_end(run.run_id)
        record = await services.runs.get(run.run_id)
    assert record is not None
    assert record.status == "error"
    assert record.result is not None
    assert told in record.result["error"]["message"]


async def test_begun_again_counts_until_it_gets_on_and_not_where_a_worker_stops_in_good_order(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, began = RunQueue(engine), database.now()
    at = [began]
    monkeypatch.setattr(run_queue, "now", lambda: at[0])
    await queue.add("ida", ASKED, thread_id=None, user=None)

    async def taken(worker: str) -> RunRecord:
        at[0] += run_queue.LEASE + 1
        (found,) = await queue.claim(worker, 1)
        return found

    for number in (1, 2, 3):
        run = await taken(f"killed {number}")
        assert (run.tries, run.attempt) == (number, number)
    on = await queue.record_progress(run, "a checkpoint")
    assert (on.tries, (await taken("killed 4")).tries) == (1, 2)
    run = await taken("stops")
    at[0] += 5
    assert await queue.extend("stops", [run.run_id]) == {run.run_id}
    at[0] += 2
    await queue.hand_over("stops")
    (again,) = await queue.claim("next", 1)
    assert (run.tries, again.tries, again.attempt) == (3, 3, 6)
    assert again.worked == pytest.approx(7)
    assert (await queue.record_progress(again, "a checkpoint")).tries == 3


async def test_tables_of_an_earlier_version_get_what_they_lack(tmp_path: Path) -> None:
    added = {"anabranch_threads": ["kept"], "anabranch_runs": ["kept", "reached", "tries", "worked"]}
    async with open_database(str(tmp_path)) as engine, engine.begin() as connection:
        await Threads(engine).add("ida", "before")
        for table, columns in added.items():
            await connection.execute(text(f"DROP INDEX {table}_kept"))
            for column in columns:
                await connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {column}"))
        await connection.execute(update(versions).values(schema=1))
    async with open_database(str(tmp_path)) as engine:
        await RunQueue(engine).add("ida", ASKED, thread_id="before", user=None)
        assert [each.tries for each in await RunQueue(engine).claim("w", 1)] == [1]
        async with engine.connect() as connection:
            assert (await connection.execute(select(versions.c.schema))).scalar_one() == SCHEMA
            indexes = await connection.run_sync(lambda it: inspect(it).get_indexes("anabranch_threads"))
            assert "anabranch_threads_kept" in {each["name"] for each in indexes}


async def test_a_server_that_stops_waits_for_what_runs_and_no_longer(tmp_path: Path) -> None:
    async with asyncio.timeout(60):
        async with open_services(str(tmp_path / "data"), grace=30) as services:
            run = await services.accept(Requester(None), RunRequest.model_validate(ASKED), None)
            while not services.worker.running:
                await asyncio.sleep(0.001)
    async with open_database(str(tmp_path / "data")) as engine:
        record = await RunQueue(engine).get(run.run_id)
    assert record is not None
    assert record.status == "error"  # there is no corpus; it was not left to the next start


async def test_a_folder_belongs_to_one_server(tmp_path: Path) -> None:
    async with open_services(str(tmp_path / "data"), grace=1):
        with pytest.raises(SettingsError, match="Another server"):
            async with open_services(str(tmp_path / "data"), grace=1):
                pass


async def test_a_database_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    async with open_database(str(tmp_path)) as engine, engine.begin() as connection:
        await connection.execute(update(versions).values(schema=SCHEMA + 1))
    with pytest.raises(OperationError, match="later version"):
        async with open_database(str(tmp_path)):
            pass


def test_an_address_is_never_repeated() -> None:
    for place in ("mysql://u:secret@host/x", "http://u:secret@host", "://secret"):
        with pytest.raises(SettingsError) as caught:
            database_url(place)
        assert "secret" not in str(caught.value)
    assert database_url("postgresql://u:p@h/n") == "postgresql+psycopg://u:p@h/n"


async def test_a_database_that_cannot_be_reached_is_said_without_its_password() -> None:
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    with pytest.raises(OperationError, match="cannot be used") as caught:
        async with open_database("postgresql://u:secret@/x?host=/nowhere/at/all"):
            pass
    assert "secret" not in str(caught.value)
