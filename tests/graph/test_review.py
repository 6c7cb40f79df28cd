"""A person between the steps: pause, edit, go on, and fork from any step."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from anabranch.agent.nodes.settings import Context
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
