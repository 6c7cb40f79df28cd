"""A person between the steps: pause, edit, go on, and fork from any step."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from anabranch.agent.graph.state_validation import check_resumption
from anabranch.agent.nodes.settings import Context
from anabranch.errors import ThreadStateError
from anabranch.safety.operator import environment
from tests.graph.inside import build

QUESTION = "Who built the Halden weir?"


def _thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


async def test_queries_are_shown_and_can_be_replaced(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config = _thread("queries")
    paused = await compiled.ainvoke({"question": QUESTION}, config, context=Context(corpus=river, review="queries"))
    asked = paused["__interrupt__"][0].value
    assert asked["queries"][0] == QUESTION
    # Resumed without a context, as Studio does: the corpus must be the one the turn began with.
    state = await compiled.ainvoke(Command(resume=["diameter of the water wheel"]), config)
    assert [query["text"] for query in state["queries"]] == ["diameter of the water wheel"]
    assert state["passages"][0]["source"].endswith("mill.md")


async def test_queries_can_be_accepted(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config = _thread("accept")
    await compiled.ainvoke({"question": QUESTION}, config, context=Context(corpus=river, review="queries"))
    state = await compiled.ainvoke(Command(resume=True), config)
    assert "Ida Marrow" in state["answer"]


async def test_sources_are_shown_and_can_be_chosen(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config = _thread("sources")
    paused = await compiled.ainvoke({"question": QUESTION}, config, context=Context(corpus=river, review="sources"))
    offered = paused["__interrupt__"][0].value["passages"]
    assert len(offered) > 1
    state = await compiled.ainvoke(Command(resume=[offered[1]["id"]]), config)
    assert [passage["id"] for passage in state["passages"]] == [offered[1]["id"]]
    assert {c["chunk_id"] for c in state["citations"]} <= {offered[1]["id"]}


@pytest.mark.parametrize("reply", [{"sources": 3}, 5, [], ["no such id"]])
async def test_a_reply_that_makes_no_sense_is_asked_for_again(reply: Any, river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config = _thread("wrong")
    await compiled.ainvoke({"question": QUESTION}, config, context=Context(corpus=river, review="sources"))
    again = await compiled.ainvoke(Command(resume=reply), config)
    assert "Resume with" in again["__interrupt__"][0].value["problem"]
    state = await compiled.ainvoke(Command(resume=True), config)
    assert "Ida Marrow" in state["answer"]


async def test_the_schema_of_a_reply_is_there_for_a_form(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    for review in ("queries", "sources"):
        context = Context(corpus=river, review=review)
        paused = await compiled.ainvoke({"question": QUESTION}, _thread(review), context=context)
        (waiting,) = paused["__interrupt__"]
        accept, change = waiting.response_schema["anyOf"]
        assert (accept["const"], change["type"], change["minItems"]) == (True, "array", 1)
        offered = [passage["id"] for passage in waiting.value.get("passages", [])]
        assert change["items"] == ({"enum": offered} if review == "sources" else {"type": "string"})
        assert (await compiled.aget_state(_thread(review))).interrupts == (waiting,)


async def test_a_late_reply_to_an_earlier_pause_is_none_to_this_one(river: str) -> None:
    """Its passages are another question's; LangGraph leaves the run paused, and the caller can ask first."""
    compiled = build().compile(checkpointer=InMemorySaver())
    config, context = _thread("late"), Context(corpus=river, review="sources")
    first = (await compiled.ainvoke({"question": QUESTION}, config, context=context))["__interrupt__"][0]
    late = {first.id: True}
    check_resumption(await compiled.aget_state(config), late)
    second = (await compiled.ainvoke({"question": "How wide is the mill?"}, config, context=context))["__interrupt__"][
        0
    ]
    assert second.id != first.id
    with pytest.raises(ThreadStateError, match=f"No interrupt {first.id} waits for a reply.*Reply to {second.id}"):
        check_resumption(await compiled.aget_state(config), late)
    again = await compiled.ainvoke(Command(resume=late), config)
    assert again["__interrupt__"] == [second]
    assert (await compiled.aget_state(config)).next == ("review_sources",)
    state = await compiled.ainvoke(Command(resume={second.id: True}), config)
    assert state["answer"]
    with pytest.raises(ThreadStateError, match="This conversation waits for no reply"):
        check_resumption(await compiled.aget_state(config), {second.id: True})


async def test_each_try_has_an_id_of_its_own(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config, context = _thread("tries"), Context(corpus=river, review="sources")
    first = (await compiled.ainvoke({"question": QUESTION}, config, context=context))["__interrupt__"][0]
    second = (await compiled.ainvoke(Command(resume={first.id: 5}), config))["__interrupt__"][0]
    assert "Resume with" in second.value["problem"]
    assert second.response_schema == first.response_schema
    with pytest.raises(ThreadStateError, match="No interrupt"):
        check_resumption(await compiled.aget_state(config), {first.id: True})
    assert (await compiled.ainvoke(Command(resume={second.id: True}), config))["answer"]


async def test_a_turn_can_be_forked_from_any_step_with_other_settings(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config = _thread("fork")
    await compiled.ainvoke({"question": QUESTION}, config, context=Context(corpus=river))
    (search,) = [snapshot async for snapshot in compiled.aget_state_history(config) if snapshot.next == ("retrieval",)]
    inner: Any = search.tasks[0].state
    before = [snapshot async for snapshot in compiled.aget_state_history(inner) if snapshot.next == ("rerank",)]
    assert before
    state = await compiled.ainvoke(None, before[0].config, context=Context(corpus=river, top_k=1))
    assert len(state["candidates"]) == 1
    assert [step["node"] for step in state["trace"]].count("retrieve") == 2


async def test_every_arrow_is_a_checkpoint(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config = _thread("history")
    state = await compiled.ainvoke({"question": QUESTION}, config, context=Context(corpus=river))
    steps: list[str] = []
    async for snapshot in compiled.aget_state_history(config):
        steps += snapshot.next[:1]
        inner: Any = snapshot.tasks[0].state if snapshot.next == ("retrieval",) else None
        if inner is not None:
            steps.pop()
            steps += [each.next[0] async for each in compiled.aget_state_history(inner) if each.next]
    ran = [step["node"] for step in state["trace"]]
    assert [step for step in reversed(steps) if step != "__start__"] == list(dict.fromkeys(ran))


async def test_the_environment_does_not_outrank_what_the_thread_began_with(
    river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config = _thread("environment")
    await compiled.ainvoke({"question": QUESTION}, config, context=Context(corpus=river, review="queries", top_k=1))
    monkeypatch.setenv("ANABRANCH_TOP_K", "3")
    environment.cache_clear()  # the run goes on in another process
    state = await compiled.ainvoke(Command(resume=True), config, context=Context())
    assert len(state["candidates"]) == 1


async def test_state_can_be_edited_as_any_node(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config = _thread("edit")
    done = await compiled.ainvoke({"question": QUESTION}, config, context=Context(corpus=river))
    queries = [{"text": "diameter of the water wheel", "weight": 1.0, "kind": "edited"}]
    turn = {**compiled.get_state(config).values["turn"], "question": queries[0]["text"]}
    edited = await compiled.aupdate_state(config, {"queries": queries, "turn": turn}, as_node="begin")
    state = await compiled.ainvoke(None, edited)
    assert "5.5" in state["answer"]
    assert done["answer"] != state["answer"]
