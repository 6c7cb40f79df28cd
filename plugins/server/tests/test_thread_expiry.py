"""Threads that nobody has used: removed after the stated time, with what is stored of them, and no other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import update

from anabranch.safety.operator import environment
from anabranch_server import run_worker, thread_expiry
from anabranch_server.database import now, open_database, threads
from anabranch_server.run_queue import RunQueue
from anabranch_server.thread_expiry import DAY, remove_idle, retention_message
from anabranch_server.thread_records import Threads
from plugins.server.tests.gate import ASKED, Served, gated
from plugins.server.tests.serve_process import serving


@pytest.fixture
async def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    async with gated(tmp_path / "data", monkeypatch) as found:
        yield found


async def expire(of: Served, before: float) -> int:
    return await remove_idle(of.services.threads, of.services.saver, before)


async def test_an_unused_thread_goes_with_its_state_and_a_used_one_stays(served: Served) -> None:
    served.gate.opened.set()
    old, young = [await served.thread() for _ in range(2)]
    for thread in (old, young):
        await served.http.post(f"/threads/{thread}/runs/wait", json=ASKED)
    await served.quiet()
    used = (await served.services.threads.get("local", old)).updated_at  # type: ignore[union-attr]
    assert await expire(served, used) == 0
    # The clock of the second thread's last use is later by the time that one question takes.
    assert await expire(served, used + 1e-6) == 1
    assert (await served.http.get(f"/threads/{old}")).status_code == 404
    assert await served.count_checkpoints(old) == 0
    assert await served.count_checkpoints(young) > 0
    assert (await served.http.get(f"/threads/{young}/state")).json()["values"]


async def test_a_thread_with_a_waiting_or_running_question_stays(served: Served) -> None:
    thread = await served.thread()
    await served.http.post(f"/threads/{thread}/runs", json=ASKED)
    await served.gate.began.wait()
    later = now() + 1000 * DAY
    assert await expire(served, later) == 0
    assert not await served.services.threads.remove_idle(thread, later)
    served.gate.opened.set()
    await served.quiet()
    assert await expire(served, later) == 1


async def test_a_question_that_comes_while_threads_are_removed_keeps_its_thread(tmp_path: Path) -> None:
    async with open_database(str(tmp_path)) as engine:
        of = Threads(engine)
        await of.add("ida", "t")
        (listed,) = await of.list_idle(now() + DAY, 10)
        await RunQueue(engine).add("ida", ASKED, thread_id="t", user=None)
        assert not await of.remove_idle(listed, now() + DAY)
        assert await of.get("ida", "t") is not None


async def test_one_call_removes_no_more_than_its_bound_and_the_oldest_first(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thread_expiry, "AT_ONCE", 2)
    for number in range(3):
        await served.thread(thread_id=f"t{number}")
    assert await expire(served, now() + DAY) == 2
    assert [each.thread_id for each in await served.services.threads.search("local")] == ["t2"]
    assert await expire(served, now() + DAY) == 1


@pytest.mark.parametrize(("days", "left"), [(30.0, ["young"]), (None, ["old", "young"])])
async def test_the_worker_does_so_by_the_days_that_are_set(
    served: Served, days: float | None, left: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    services = served.services
    for name in ("old", "young"):
        await served.thread(thread_id=name)
    async with services.threads._engine.begin() as connection:
        aged = update(threads).where(threads.c.thread_id == "old").values(updated_at=now() - 20 * DAY)
        await connection.execute(aged)
    if days is not None:
        monkeypatch.setenv("ANABRANCH_THREAD_DAYS", str(days))
        environment.cache_clear()
    await services.worker._sweep()
    assert len(await services.threads.search("local")) == 2
    at = now()
    monkeypatch.setattr(run_worker, "now", lambda: at + 15 * DAY)
    await services.worker._sweep()
    assert sorted(each.thread_id for each in await services.threads.search("local")) == left


def test_what_the_server_says_when_it_starts() -> None:
    assert retention_message(30.0) == "Conversations are kept for 30 days after their last use."
    assert "1 day after" in retention_message(1.0)
    assert "until they are deleted" in retention_message(None)


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("options", "variables", "days"),
    [(["--thread-days", "2"], {"ANABRANCH_THREAD_DAYS": "9"}, 2), ([], {"ANABRANCH_THREAD_DAYS": "9"}, 9)],
)
def test_the_option_goes_before_the_variable(
    options: list[str], variables: dict[str, str], days: int, tmp_path: Path
) -> None:
    with serving(tmp_path, *options, **variables) as server:
        assert retention_message(float(days)) in " ".join(server.log.read_text().split())
