"""States that somebody edits: looked at wherever they are written, with a bound, and read a page at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.graph.state_validation import MAX_VALUE
from anabranch_server import state_history, state_size
from plugins.server.tests.gate import ASKED, Served, gated
from tests.turn_records import turn_record

LONG = "x" * (MAX_VALUE + 1)


REFUSED: list[dict[str, Any]] = [
    {"question": "x" * 50_001}, {"question": 7}, {"turn": turn_record(settings=[])},
    {"turn": turn_record(settings={str(n): n for n in range(300)})},
    {"turn": turn_record(settings={"create_prompt": LONG})},
    {"turn": {}}, {"filters": "x"}, {"filters": {"source": LONG}}, {"answer": "x" * 400_001},
    {"answer": {"__overwrite__": "x"}}, {"claims": "x"}, {"claims": [LONG]}, {"check": LONG},
    {"check": {"a": LONG}}, {"trace": [{"node": "x"}]}, {"evidence": {"scores": "x"}},
    {"citations": "x"}, {"status": 7}, {"usage": [1]}, {"unconfirmed": [{"text": LONG}]},
]  # fmt: skip


@pytest.fixture
async def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    async with gated(tmp_path / "data", monkeypatch) as found:
        found.gate.opened.set()
        yield found


@pytest.mark.parametrize("step", [None, "wait", "finish", "abstain", "__start__", "__end__", "__copy__"])
async def test_an_edit_is_looked_at_whatever_step_it_is_written_as(step: str | None, served: Served) -> None:
    thread = await served.thread()
    before = (await served.http.post(f"/threads/{thread}/runs/wait", json=ASKED)).json()
    for values in REFUSED:
        reply = await served.http.post(f"/threads/{thread}/state", json={"values": values, "as_node": step})
        (name,) = values
        assert (reply.status_code, name in reply.text) == (422, True), (reply.status_code, name, reply.text[:300])
        assert len(reply.text) < 2_000
    assert (await served.http.get(f"/threads/{thread}/state")).json()["values"]["answer"] == before["answer"]


async def test_edits_do_not_pile_up_in_a_thread(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_size, "MAX_STATE", 40_000)
    thread = await served.thread()
    edit = {"values": {"degraded": [{"step": "wait", "reason": "x" * 9_000}]}, "as_node": "wait"}
    replies = [await served.http.post(f"/threads/{thread}/state", json=edit) for _ in range(6)]
    assert [each.status_code for each in replies] == [200, 200, 200, 200, 422, 422]
    assert "Start a new thread" in replies[-1].text
    assert len((await served.http.get(f"/threads/{thread}/state")).content) < 41_000
    assert (await served.http.post(f"/threads/{thread}/runs/wait", json=ASKED)).json()["answer"]


async def test_nothing_is_asked_in_a_thread_that_holds_too_much(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = await served.thread()
    await served.http.post(f"/threads/{thread}/runs/wait", json=ASKED)
    monkeypatch.setattr(state_size, "MAX_STATE", 10)
    left = (await served.http.post(f"/threads/{thread}/runs/wait", json=ASKED)).json()
    assert left["__error__"]["error"] == "ThreadStateError"
    assert (await served.http.post("/runs/wait", json=ASKED)).json()["answer"]


async def test_a_history_is_read_in_pages_and_a_few_states_at_a_time(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread, of = await served.thread(), served.services.saver
    for number in range(14):
        edit = {"values": {"answer": f"{number} " + "x" * 2_000}, "as_node": "wait"}
        assert (await served.http.post(f"/threads/{thread}/state", json=edit)).status_code == 200

    async def page(**more: Any) -> list[str]:
        found = await served.http.post(f"/threads/{thread}/history", json={"limit": 1_000, **more})
        return [each["checkpoint"]["checkpoint_id"] for each in found.json()]

    whole, listed, most = await page(), of.alist, []

    def spied(*given: Any, **more: Any) -> Any:
        most.append(more["limit"])
        return listed(*given, **more)

    monkeypatch.setattr(of, "alist", spied)
    monkeypatch.setattr(state_history, "MAX_REPLY", 12_000)
    assert len(whole) >= 14
    seen = await page()
    while more := await page(before=seen[-1]):
        assert len(more) < 6
        seen += more
    assert seen == whole
    assert max(most) == state_history.AT_ONCE
    monkeypatch.setattr(state_history, "MAX_REPLY", 1)
    assert await page() == whole[:1]
    assert await page(limit=1, before=whole[0]) == whole[1:2]
    assert len((await served.http.get(f"/threads/{thread}/history", params={"limit": 1_000})).json()) == 1
