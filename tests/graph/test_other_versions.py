"""Threads that another version began: their messages go on, and what it left half finished is refused in a sentence."""

from __future__ import annotations

import lzma
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from anabranch.agent.graph.answer import build
from anabranch.agent.graph.state_validation import check_resumption
from anabranch.agent.graph.step import Steps
from anabranch.agent.nodes.finish import finish
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import STATE_VERSION, State
from anabranch.errors import ThreadStateError
from tests.graph.make_threads_of_before import FOLLOW_UP, QUESTION
from tests.graph.replies import model, step_of
from tests.servers.openai_stub import OpenAIStub

BEFORE = lzma.decompress(Path(__file__).with_name("threads_of_before.db.xz").read_bytes())
REFUSED = "Another version of Anabranch began this run.* Ask the question again in this conversation"
NEXT = "What is the diameter of the water wheel?"


def list_threads() -> list[str]:
    """Return the threads in the file: how they were answered, and the step at which they were left, or `done`."""
    with sqlite3.connect(":memory:") as database:
        database.deserialize(BEFORE)
        return [thread for (thread,) in database.execute("SELECT DISTINCT thread_id FROM checkpoints ORDER BY 1")]


THREADS = list_threads()
LEFT = [thread for thread in THREADS if not thread.endswith("done")]


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Open a copy of the file."""
    (folder / "threads.db").write_bytes(BEFORE)
    async with AsyncSqliteSaver.from_conn_string(str(folder / "threads.db")) as saver:
        yield saver


def named(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


def test_threads_were_left_at_every_step() -> None:
    steps = {thread.rpartition(" ")[2] for thread in THREADS}
    names = {*build().nodes, "condense", "rewrite", "retrieve", "fuse", "rerank", "merge", "grade"}
    # Steps that no thread waits at: a subgraph as a whole, and those that other routes share their checks with.
    assert names - steps == {"retrieval", "survey", "review_sources", "installed"}
    assert {"done", "queries", "sources", "again"} <= steps


@pytest.mark.parametrize("thread", THREADS)
async def test_a_new_question_goes_on_with_the_messages(thread: str, river: str, tmp_path: Path) -> None:
    async with opened(tmp_path) as saver:
        graph = build().compile(checkpointer=saver)
        before = (await graph.aget_state(named(thread))).values.get("messages", [])
        # A run that was left before its first step had ended has not yet put its question there.
        assert bool(before) == (not thread.endswith("begin"))
        state = await graph.ainvoke({"question": NEXT}, named(thread), context=Context(corpus=river))
        after = (await graph.aget_state(named(thread))).values
    assert "5.5" in state["answer"]
    assert state["messages"][: len(before)] == before
    assert [message.type for message in state["messages"][len(before) :]] == ["human", "ai"]
    assert (after["turn"]["version"], after["turn"]["question"]) == (STATE_VERSION, NEXT)


@pytest.mark.parametrize("thread", LEFT)
async def test_what_was_left_half_finished_is_refused_and_can_be_asked_again(
    thread: str, river: str, tmp_path: Path
) -> None:
    inputs: list[Any] = [Command(resume=True), None] if thread.startswith("review") else [None]
    async with opened(tmp_path) as saver:
        graph = build().compile(checkpointer=saver)
        for given in inputs:
            with pytest.raises(ThreadStateError, match=REFUSED) as refused:
                await graph.ainvoke(given, named(thread))
            assert (refused.value.code, bool(refused.value.hint)) == ("thread_state", True)
        state = await graph.ainvoke({"question": QUESTION}, named(thread), context=Context(corpus=river))
    assert state["answer"]
    assert isinstance(state["messages"][-1], AIMessage)


@pytest.mark.loopback
async def test_a_follow_up_is_understood_by_what_another_version_answered(river: str, tmp_path: Path) -> None:
    async with opened(tmp_path) as saver:
        graph = build().compile(checkpointer=saver)
        with OpenAIStub(model()) as stub:
            context = Context(corpus=river, model="openai:stub", base_url=stub.base_url)
            await graph.ainvoke({"question": FOLLOW_UP}, named("stuff done"), context=context)
            (condensed,) = [call.request for call in stub.calls if step_of(call.request) == "condense"]
    assert QUESTION in condensed.user


def future(saver: Any) -> Any:
    """Return the graph of a version to come: a channel, a step and a shape more than this one has."""

    class FutureState(State):
        mood: str

    def do_nothing(state: FutureState) -> dict[str, Any]:
        return {}

    builder = build()
    builder.add_node("foresee", do_nothing, input_schema=FutureState)
    builder.add_node("weigh", do_nothing, input_schema=FutureState)
    builder.add_edge("foresee", "weigh")
    return builder.compile(checkpointer=saver)


OF_THE_FUTURE: dict[str, Any] = {"mood": "calm", "draft": "words", "evidence": 7, "degraded": [{"who": "knows"}]}


@pytest.mark.parametrize("as_node", ["foresee", "review_sources"])
async def test_a_thread_of_a_later_version_goes_on_as_well(as_node: str, river: str) -> None:
    """It waits at a step that this version has, or at one that it does not have."""
    saver, config = InMemorySaver(), named("future")
    later = future(saver)
    # Left by a kill in its second turn.
    await later.ainvoke({"question": QUESTION}, config, context=Context(corpus=river))
    started = later.astream(
        {"question": FOLLOW_UP}, config, context=Context(corpus=river), stream_mode="updates", durability="sync"
    )
    async for update in started:
        if "begin" in update:
            await started.aclose()
            break
    record = {**(await later.aget_state(config)).values["turn"], "version": STATE_VERSION + 1, "weather": "fair"}
    await later.aupdate_state(config, {"turn": record, **OF_THE_FUTURE}, as_node=as_node)
    graph = build().compile(checkpointer=saver)
    left = await graph.aget_state(config)
    if as_node == "foresee":
        # LangGraph has nothing to run, and nothing to say of it: the command line and the server ask first.
        assert (await later.aget_state(config)).next == ("weigh",)
        assert left.next == ()
        with pytest.raises(ThreadStateError, match=REFUSED):
            check_resumption(left)
        assert isinstance((await graph.ainvoke(None, config))["messages"][-1], AIMessage) is False
    else:
        with pytest.raises(ThreadStateError, match=REFUSED):
            await graph.ainvoke(None, config)
    state = await graph.ainvoke({"question": NEXT}, config, context=Context(corpus=river))
    assert "5.5" in state["answer"]
    assert [message.text for message in state["messages"] if message.type == "human"] == [QUESTION, FOLLOW_UP, NEXT]


async def test_a_step_that_keeps_an_earlier_name_refuses_for_it(river: str) -> None:
    """What a version does that renames a step or removes one: LangGraph then has a step to run, and that refuses."""
    saver, config = InMemorySaver(), named("renamed")
    later = future(saver)
    await later.ainvoke({"question": QUESTION}, config, context=Context(corpus=river))
    record = {**(await later.aget_state(config)).values["turn"], "version": STATE_VERSION + 1}
    await later.aupdate_state(config, {"turn": record}, as_node="foresee")
    builder = build()
    builder.add_node("weigh", Steps()(finish, "weigh"))
    with pytest.raises(ThreadStateError, match=REFUSED):
        await builder.compile(checkpointer=saver).ainvoke(None, config)


async def test_a_finished_thread_of_another_version_has_nothing_to_refuse(tmp_path: Path) -> None:
    async with opened(tmp_path) as saver:
        graph = build().compile(checkpointer=saver)
        check_resumption(await graph.aget_state(named("passages done")))
        assert (await graph.ainvoke(None, named("passages done")))["answer"]
