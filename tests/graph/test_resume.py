"""A process killed at any step: the thread goes on there, and no finished model call is made again."""

from __future__ import annotations

import multiprocessing
import signal
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from nodes.settings import Context
from tests.graph import turn
from tests.graph.inside import build, graph
from tests.graph.replies import model, without_nonce
from tests.servers.openai_stub import OpenAIStub

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

QUESTION = "What measures protect the town from floods on the Halden?"
CONFIG: Any = {"configurable": {"thread_id": "turn"}}
SMALL = {
    "window_tokens": 80, "merge_threshold": 1.0, "top_k": 5,
    "rerank": "llm", "rerank_depth": 6, "rerank_batch": 3, "fan_in": 2,
    "answer_form": "cited",
}  # fmt: skip


def _killed(database: Path, settings: dict[str, Any], kill_at: int) -> bool:
    """Run a turn in a child that dies at a step; return False when the turn ended before that step."""
    children = multiprocessing.get_context("forkserver")
    children.set_forkserver_preload(["tests.graph.turn_warmup"])
    child = children.Process(target=turn.run, args=(str(database), settings, QUESTION, kill_at))
    child.start()
    child.join()
    assert child.exitcode in (0, -signal.SIGKILL), child.exitcode
    return child.exitcode != 0


async def _resumed(database: Path) -> dict[str, Any]:
    """Go on without input and without a context: the thread remembers both."""
    async with AsyncSqliteSaver.from_conn_string(str(database)) as saver:
        compiled = build().compile(checkpointer=saver)
        return await compiled.ainvoke(None, CONFIG)


@pytest.mark.parametrize(("synthesis", "first"), [("map_reduce", "rewrite"), ("refine", "create")])
async def test_killed_at_every_step_in_turn(synthesis: str, first: str, river: str, tmp_path: Path) -> None:
    """Up to the first call that writes, both ways of writing are one."""
    settings = {"corpus": river, "model": "openai:stub", "synthesis": synthesis, **SMALL}
    with OpenAIStub(model()) as stub:
        whole = await graph.ainvoke({"question": QUESTION}, context=Context(**settings, base_url=stub.base_url))
        calls = len(stub.calls)
    steps = [step["node"] for step in whole["trace"]]
    assert len(whole["windows"]) >= 3
    assert steps.count("reduce" if synthesis == "map_reduce" else "refine") >= 3
    for kill_at in range(steps.index(first) + 1, len(steps) + 1):
        database = tmp_path / f"{kill_at}.db"
        with OpenAIStub(model()) as stub:
            assert _killed(database, {**settings, "base_url": stub.base_url}, kill_at)
            state = await _resumed(database)
            assert stub.repeated(without_nonce) == [], f"killed at step {kill_at}"
            assert sum(call.succeeded for call in stub.calls) == calls
        assert state["answer"] == whole["answer"], f"killed at step {kill_at}"
        assert state["citations"] == whole["citations"]
        assert [step["node"] for step in state["trace"]] == steps
    with OpenAIStub(model()) as stub:
        settings["base_url"] = stub.base_url
        assert not _killed(tmp_path / "last.db", settings, len(steps) + 1), "there are steps that nobody was killed at"
