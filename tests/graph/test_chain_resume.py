"""A process killed between two hops of a chain: the thread goes on there, and no finished model call is made again."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from evals.chains.scripted_model import WorldReader
from evals.chains.worlds import World, make_world
from tests.fork_server import CONTEXT
from tests.graph import turn
from tests.graph.inside import build, graph
from tests.graph.replies import model, without_nonce
from tests.servers.calls import Request
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply, Script

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

CONFIG: Any = {"configurable": {"thread_id": "turn"}}


@pytest.fixture(scope="module")
def towns(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, World]:
    world = make_world("three steps", 20)
    folder = tmp_path_factory.mktemp("towns")
    ingest(documents=world.documents, corpus=folder / "corpus")
    return str(folder / "corpus"), world


def reading(world: World) -> Script:
    reader = WorldReader(world)

    def read(request: Request) -> Reply:
        return Reply(reader(request.system, request.user))

    return model(rewrite=read, follow=read, create=read)


async def test_killed_between_two_hops(towns: tuple[str, World], tmp_path: Path) -> None:
    corpus, world = towns
    question = world.questions[10]
    settings: dict[str, Any] = {"corpus": corpus, "model": "openai:stub", "top_k": 5, "merge_threshold": 1.0}
    with OpenAIStub(reading(world)) as stub:
        whole = await graph.ainvoke({"question": question.text}, context=Context(**settings, base_url=stub.base_url))
        calls = len(stub.calls)
    steps = [step["node"] for step in whole["trace"]]
    assert steps.count("follow") == 2
    assert question.answer in whole["answer"]
    first, second = (at for at, node in enumerate(steps, start=1) if node == "follow")
    # While a value is looked for, while its query is, and before the next value is.
    for kill_at in (first, first + 1, first + 4, second, second + 3):
        database = tmp_path / f"{kill_at}.db"
        with OpenAIStub(reading(world)) as stub:
            given = {**settings, "base_url": stub.base_url}
            child = CONTEXT.Process(
                target=turn.run, args=(str(database), given, question.text), kwargs={"kill_at": kill_at}
            )
            child.start()
            child.join()
            assert child.exitcode == -signal.SIGKILL, f"killed at step {kill_at}"
            async with turn.saver_of(str(database)) as saver:
                state = await build().compile(checkpointer=saver).ainvoke(None, CONFIG)
            assert stub.repeated(without_nonce) == [], f"killed at step {kill_at}"
            assert sum(call.succeeded for call in stub.calls) == calls
        assert state["answer"] == whole["answer"], f"killed at step {kill_at}"
        assert state["citations"] == whole["citations"]
        assert state["chain"] == whole["chain"]
        assert [step["node"] for step in state["trace"]] == steps
