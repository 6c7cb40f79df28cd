"""Threads over HTTP: what a removed one leaves, and what cannot be used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import START, StateGraph

from anabranch.agent.nodes.state import State
from anabranch_server.thread_records import MAX_METADATA_CHARS
from plugins.server.tests.gate import ASKED, Served, gated


@pytest.fixture
async def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    async with gated(tmp_path / "data", monkeypatch) as found:
        yield found


async def test_nothing_is_left_of_a_thread_that_is_asked_in_while_it_is_removed(served: Served) -> None:
    thread = await served.thread()
    await served.http.post(f"/threads/{thread}/runs", json=ASKED)
    await served.gate.began.wait()
    assert await served.count_checkpoints(thread)
    removed = asyncio.create_task(served.http.delete(f"/threads/{thread}"))
    asked = [await served.http.post(f"/threads/{thread}/runs", json=ASKED) for _ in range(6)]
    served.gate.opened.set()
    assert (await removed).status_code == 204
    assert asked[-1].status_code == 404
    await served.quiet()
    assert await served.count_checkpoints(thread) == 0


async def test_a_run_whose_thread_another_process_removed_leaves_no_checkpoint(served: Served) -> None:
    thread = await served.thread()
    await served.http.post(f"/threads/{thread}/runs", json=ASKED)
    await served.gate.began.wait()
    await served.services.threads.remove("local", thread)
    await served.services.saver.adelete_thread(thread)
    served.gate.opened.set()
    await served.quiet()
    assert await served.count_checkpoints(thread) == 0


async def test_a_thread_that_is_gone_when_its_run_is_accepted_is_not_found(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = await served.thread()
    begin = served.services.limits.begin

    async def removed_meanwhile(*given: object, **more: bool) -> None:
        await served.services.threads.remove("local", thread)
        await begin(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(served.services.limits, "begin", removed_meanwhile)
    assert (await served.http.post(f"/threads/{thread}/runs", json=ASKED)).status_code == 404


@pytest.mark.parametrize("body", [{}, {"if_exists": "do_nothing"}])
async def test_whoever_takes_an_id_finds_nothing_that_was_kept_under_it(served: Served, body: dict[str, str]) -> None:
    left: Any = {"configurable": {"thread_id": "weir", "checkpoint_ns": ""}}
    await served.services.answer.aupdate_state(left, {"answer": "a secret"}, as_node="wait")
    assert await served.thread(thread_id="weir", **body) == "weir"
    assert (await served.http.get("/threads/weir/state")).json()["values"] == {}


async def test_the_id_of_a_run_is_no_threads(served: Served) -> None:
    run = asyncio.create_task(served.http.post("/runs/wait", json=ASKED))
    await served.gate.began.wait()
    (run_id,) = served.services.worker._tasks
    assert "taken" in (await served.http.post("/threads", json={"thread_id": run_id})).text
    served.gate.opened.set()
    assert (await run).json()["answer"] == "Who built the weir?"


@pytest.mark.parametrize(
    "wanted", [{"status": "busy"}, {"values": {"answer": "x"}}, {"sort_by": "created_at"}, {"offset": 10**22}]
)
async def test_a_search_that_is_not_done_so_is_refused(wanted: dict[str, Any], served: Served) -> None:
    assert (await served.http.post("/threads/search", json=wanted)).status_code == 422


async def test_threads_are_found_by_their_ids(served: Served) -> None:
    made = [await served.thread() for _ in range(3)]
    found = await served.http.post("/threads/search", json={"ids": [made[1], "none"], "sort_by": "updated_at"})
    assert [each["thread_id"] for each in found.json()] == [made[1]]


async def test_a_thread_that_waits_for_a_person_says_so_and_what_for(served: Served) -> None:
    served.gate.pauses, thread = True, await served.thread()
    paused = (await served.http.post(f"/threads/{thread}/runs/wait", json=ASKED)).json()
    shown = (await served.http.get(f"/threads/{thread}")).json()
    (waiting,) = shown["interrupts"].values()
    assert (shown["status"], waiting[0]["id"]) == ("interrupted", paused["__interrupt__"][0]["id"])
    served.gate.opened.set()
    await served.http.post(f"/threads/{thread}/runs/wait", json={"command": {"resume": "go on"}})
    shown = (await served.http.get(f"/threads/{thread}")).json()
    assert (shown["status"], shown["interrupts"], shown["values"]["answer"]) == ("idle", {}, ASKED["input"]["question"])


async def test_a_late_reply_is_refused_and_the_thread_waits_as_before(served: Served) -> None:
    served.gate.pauses, thread = True, await served.thread()
    runs = f"/threads/{thread}/runs/wait"
    first = (await served.http.post(runs, json=ASKED)).json()["__interrupt__"][0]["id"]
    second = (await served.http.post(runs, json=ASKED)).json()["__interrupt__"][0]["id"]
    late = (await served.http.post(runs, json={"command": {"resume": {first: "go on"}}})).json()
    assert late["__error__"]["error"] == "ThreadStateError"
    assert f"No interrupt {first} waits for a reply" in late["__error__"]["message"]
    shown = (await served.http.get(f"/threads/{thread}/state")).json()
    assert ([each["id"] for each in shown["interrupts"]], shown["next"]) == ([second], ["wait"])
    served.gate.opened.set()
    done = (await served.http.post(runs, json={"command": {"resume": {second: "go on"}}})).json()
    assert done["answer"] == ASKED["input"]["question"]


async def test_a_run_of_another_version_is_refused_also_where_its_next_step_is_gone(served: Served) -> None:
    """Nothing runs there, and LangGraph would call that a success."""
    served.gate.opened.set()
    thread = await served.thread()
    config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    values = {"turn": {"question": "x"}, "messages": [{"type": "human", "content": "Who built the weir?"}]}
    builder = StateGraph(State)
    builder.add_node("before", lambda _: values)
    builder.add_node("gone", lambda _: {})
    builder.add_edge(START, "before")
    builder.add_edge("before", "gone")
    await builder.compile(checkpointer=served.services.saver, interrupt_before=["gone"]).ainvoke({}, config)
    runs = f"/threads/{thread}/runs/wait"
    reply = (await served.http.post(runs, json={"command": {"resume": True}})).json()
    assert "Another version of Anabranch began this run" in reply["__error__"]["message"]
    assert "Ask the question again in this conversation" in reply["__error__"]["message"]
    again = (await served.http.post(runs, json=ASKED)).json()
    assert again["answer"] == ASKED["input"]["question"]
    assert again["messages"][0]["content"] == "Who built the weir?"


async def test_metadata_have_a_bound_as_a_whole(served: Served) -> None:
    thread = await served.thread(metadata={"title": "Weirs"})
    fields = {f"field {number}": number for number in range(49)}
    assert (await served.http.patch(f"/threads/{thread}", json={"metadata": fields})).status_code == 200
    assert (await served.http.patch(f"/threads/{thread}", json={"metadata": {"title": "Mills"}})).status_code == 200
    more = await served.http.patch(f"/threads/{thread}", json={"metadata": {"one": "more"}})
    assert (more.status_code, "50 fields" in more.text) == (422, True)


async def test_metadata_have_a_bound_in_characters(served: Served) -> None:
    long = {"note": "x" * MAX_METADATA_CHARS}
    assert (await served.http.post("/threads", json={"metadata": long})).status_code == 422
    thread = await served.thread(metadata={"note": "x" * (MAX_METADATA_CHARS // 2)})
    more = {"metadata": {"more": "x" * (MAX_METADATA_CHARS // 2)}}
    assert (await served.http.patch(f"/threads/{thread}", json=more)).status_code == 422
    # What a question notes of itself is no reason to refuse it.
    await served.http.patch(f"/threads/{thread}", json={"metadata": {"more": "x" * (MAX_METADATA_CHARS // 2 - 40)}})
    assert (await served.http.post(f"/threads/{thread}/runs", json=ASKED)).status_code == 200


async def test_a_number_that_no_database_compares_is_refused(served: Served) -> None:
    found = await served.http.post(f"/threads/{await served.thread()}/history", json={"metadata": {"step": 10**22}})
    assert found.status_code == 422
