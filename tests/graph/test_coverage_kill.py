"""Reading a whole corpus is stopped or killed, and goes on: no finished window is read again."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from anabranch.agent.nodes.settings import Context
from tests.fork_server import CONTEXT
from tests.graph import turn
from tests.graph.inside import build
from tests.graph.replies import without_nonce
from tests.graph.test_coverage import LEAKS, QUESTION, SMALL, logs, reader, rows_of, script  # noqa: F401  # fixture
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import TOGETHER_SECONDS

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

FINISHED = 5
CONFIG: Any = {"configurable": {"thread_id": "turn"}}
SETTINGS = {**SMALL, "coverage": "corpus", "synthesis": "rows", "model": "openai:stub"}


async def test_a_run_that_is_stopped_keeps_its_finished_windows(logs: str) -> None:  # noqa: F811
    """As Ctrl-C does: the stream is closed when some windows are read, while the model is busy with the others."""
    compiled = build().compile(checkpointer=InMemorySaver())
    first: list[str] = []
    stopped, lock = threading.Event(), threading.Lock()

    def held(request: Request) -> Reply:
        with lock:
            is_first = len(first) < FINISHED
            if is_first:
                first.append(without_nonce(request))
        if not is_first:
            stopped.wait(TOGETHER_SECONDS)
        return reader(request)

    with OpenAIStub(script(rows=held)) as stub:
        context = Context(corpus=logs, base_url=stub.base_url, model_retries=0, **SETTINGS)
        finished = 0
        stream = compiled.astream(
            {"question": QUESTION}, CONFIG, context=context, stream_mode="custom", durability="sync"
        )
        async for event in stream:
            finished += event["step"] == "map" and event["status"] == "finished"
            if finished == FINISHED:
                break
        await stream.aclose()
        stopped.set()
        state = await compiled.ainvoke(None, CONFIG)
        asked = Counter(without_nonce(call.request) for call in stub.calls)
    # The result of the last one may not have been written yet.
    assert sum(asked[name] > 1 for name in first) <= 1
    assert len(state["windows"]) > FINISHED + 3
    assert rows_of(state) == {f"leak {number}" for number in LEAKS}


@pytest.mark.parametrize("step", ["survey", "pack", "map", "gather", "cite", "finish"])
async def test_a_process_that_is_killed_at_any_step_goes_on(step: str, logs: str, tmp_path: Path) -> None:  # noqa: F811
    settings = {**SETTINGS, "corpus": logs, "model_retries": 0}
    with OpenAIStub(script()) as stub:
        context = Context(**settings, base_url=stub.base_url)
        whole = await build().compile().ainvoke({"question": QUESTION}, context=context)
    steps = [line["node"] for line in whole["trace"]]
    at = len(steps) - steps[::-1].index(step)
    with OpenAIStub(script()) as stub:
        settings["base_url"] = stub.base_url
        child = CONTEXT.Process(
            target=turn.run, args=(str(tmp_path / "turn.db"), settings, QUESTION), kwargs={"kill_at": at}
        )
        child.start()
        child.join()
        assert child.exitcode == -signal.SIGKILL
        async with turn.saver_of(str(tmp_path / "turn.db")) as saver:
            state = await build().compile(checkpointer=saver).ainvoke(None, CONFIG)
        assert stub.repeated(without_nonce) == []
    assert state["answer"] == whole["answer"]
    assert state["citations"] == whole["citations"]
    assert state["coverage"] == whole["coverage"]
