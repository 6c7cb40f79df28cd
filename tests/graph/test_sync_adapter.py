"""Async nodes in a graph that is called synchronously."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any

import pytest
from langgraph.graph import StateGraph
from typing_extensions import TypedDict

from anabranch.agent.graph.step import NodeStep


class Word(TypedDict):
    word: str


def graph_of(node: Any) -> Any:
    builder: Any = StateGraph(Word)
    builder.add_node("node", NodeStep("node", node, has_trace=False))
    builder.set_entry_point("node")
    return builder.compile()


def test_what_is_interrupted_while_it_waits_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def node(_state: Word, _runtime: Any) -> Word:
        begun.set()
        try:
            await asyncio.Event().wait()  # a model that never answers
        finally:
            ended.set()
        return {"word": "never"}

    def interrupted(_: object, timeout: float | None = None) -> None:
        """Stand in for Ctrl-C, which a thread gets while it waits for a result."""
        assert begun.wait(timeout or 60)
        raise KeyboardInterrupt

    monkeypatch.setattr(Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        graph_of(node).invoke({"word": ""})
    assert ended.wait(60)


said = ContextVar("said", default="nothing")


def test_a_node_sees_the_context_variables_of_its_caller_and_raises_in_its_thread() -> None:
    async def node(_state: Word, _runtime: Any) -> Word:
        if said.get() == "raise":
            raise LookupError("raised on the loop")
        return {"word": said.get()}

    said.set("hello")
    assert graph_of(node).invoke({"word": ""}) == {"word": "hello"}
    said.set("raise")
    with pytest.raises(LookupError, match="raised on the loop"):
        graph_of(node).invoke({"word": ""})


def test_a_node_that_exits_leaves_the_loop_to_the_next() -> None:
    async def node(_state: Word, _runtime: Any) -> Word:
        if said.get() == "exit":
            raise SystemExit(3)
        return {"word": said.get()}

    said.set("exit")
    with pytest.raises(SystemExit):
        graph_of(node).invoke({"word": ""})
    said.set("again")
    assert graph_of(node).invoke({"word": ""}) == {"word": "again"}
