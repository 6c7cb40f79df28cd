"""A process killed at any step: the thread goes on there, and no finished model call is made again."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from psycopg import sql

from anabranch.agent.nodes.settings import Context
from tests.fork_server import CONTEXT
from tests.graph import turn
from tests.graph.inside import build, graph
from tests.graph.replies import model, without_nonce
from tests.servers.openai_stub import OpenAIStub
from tests.servers.postgres import postgres

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

QUESTION = "What measures protect the town from floods on the Halden?"
CONFIG: Any = {"configurable": {"thread_id": "turn"}}
SMALL = {
    "window_tokens": 80, "merge_threshold": 1.0, "top_k": 5,
    "rerank": "llm", "rerank_depth": 6, "rerank_batch": 3, "fan_in": 2,
    "answer_form": "cited",
}  # fmt: skip


def _killed(database: Path | str, settings: dict[str, Any], **when: Any) -> bool:
    """Run a turn in a child that dies where `turn.run` is told to; return False when the turn ended before that."""
    child = CONTEXT.Process(target=turn.run, args=(str(database), settings, QUESTION), kwargs=when)
    child.start()
    child.join()
    assert child.exitcode in (0, -signal.SIGKILL), child.exitcode
    return child.exitcode != 0


async def _resumed(database: Path | str) -> dict[str, Any]:
    """Go on without input and without a context: the thread remembers both."""
    async with turn.saver_of(str(database)) as saver:
        compiled = build().compile(checkpointer=saver)
        return await compiled.ainvoke(None, CONFIG)


async def _killed_and_resumed(synthesis: str, corpus: str, folder: Path, *, every: bool = False) -> None:
    """Kill turns at steps, and hold what they come to against one that nobody killed.

    Args:
        synthesis: How the answer is written.
        corpus: What it is written from.
        folder: For the databases.
        every: At every step; else at the last of each kind, when the others of a fan-out have been started or are done.
    """
    settings = {"corpus": corpus, "model": "openai:stub", "synthesis": synthesis, **SMALL}
    # Up to the first call that writes, both ways of writing are one.
    first = "rewrite" if synthesis == "map_reduce" else "create"
    with OpenAIStub(model()) as stub:
        whole = await graph.ainvoke({"question": QUESTION}, context=Context(**settings, base_url=stub.base_url))
        calls = len(stub.calls)
    steps = [step["node"] for step in whole["trace"]]
    assert len(whole["windows"]) >= 3
    assert steps.count("reduce" if synthesis == "map_reduce" else "refine") >= 3
    last = {node: number for number, node in enumerate(steps, 1)}
    for kill_at in range(steps.index(first) + 1, len(steps) + 1):
        if not every and last[steps[kill_at - 1]] != kill_at:
            continue
        database = folder / f"{kill_at}.db"
        with OpenAIStub(model()) as stub:
            assert _killed(database, {**settings, "base_url": stub.base_url}, kill_at=kill_at)
            state = await _resumed(database)
            assert stub.repeated(without_nonce) == [], f"killed at step {kill_at}"
            assert sum(call.succeeded for call in stub.calls) == calls
        assert state["answer"] == whole["answer"], f"killed at step {kill_at}"
        assert state["citations"] == whole["citations"]
        assert [step["node"] for step in state["trace"]] == steps
    with OpenAIStub(model()) as stub:
        settings["base_url"] = stub.base_url
        assert not _killed(folder / "last.db", settings, kill_at=len(steps) + 1), (
            "there are steps that nobody was killed at"
        )


@pytest.mark.parametrize("synthesis", ["map_reduce", "refine"])
async def test_killed_at_each_kind_of_step(synthesis: str, river: str, tmp_path: Path) -> None:
    await _killed_and_resumed(synthesis, river, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("synthesis", ["map_reduce", "refine"])
async def test_killed_at_every_step_in_turn(synthesis: str, river: str, tmp_path: Path) -> None:
    await _killed_and_resumed(synthesis, river, tmp_path, every=True)


QUESTION_KEPT, SETTINGS_KEPT, BEGUN = 1, 2, 4
"""Writes of a saver: the input; what is sent to `begin`, and with it the settings; what `begin` made of them."""


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def databases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """Return what makes the address of a fresh database."""
    folder, number = tmp_path_factory.mktemp("savers"), count()
    if request.param == "sqlite":
        yield lambda: str(folder / f"{next(number)}.db")
        return
    with postgres(folder / "server") as address:

        def fresh() -> str:
            with psycopg.connect(address, autocommit=True) as connection:
                name = f"turn_{next(number)}"
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
            return address.replace("/postgres?", f"/{name}?")

        yield fresh


@pytest.mark.parametrize("durability", [pytest.param("sync", marks=pytest.mark.exhaustive), "async"])
async def test_the_settings_are_kept_before_the_first_step_has_ended(
    durability: str, river: str, databases: Callable[[], str]
) -> None:
    """Opening a corpus and finding a model take seconds, and a process that dies then leaves a thread that goes on."""
    for write in range(SETTINGS_KEPT, BEGUN + 1):
        with OpenAIStub(model()) as stub:
            settings = {"corpus": river, "model": "openai:stub", "base_url": stub.base_url, "top_k": 3}
            database = databases()
            assert _killed(database, settings, kill_after_write=write, durability=durability)
            state = await _resumed(database)
            assert state["turn"]["settings"] == settings, f"killed after write {write}"
            assert state["answer"]
            assert len(state["messages"]) == 2
            assert stub.repeated(without_nonce) == []


@pytest.mark.parametrize(
    "write",
    [0, QUESTION_KEPT, SETTINGS_KEPT, *(pytest.param(late, marks=pytest.mark.exhaustive) for late in (BEGUN, 12))],
)
async def test_a_run_with_an_id_is_begun_or_goes_on_by_the_same_call(
    write: int, river: str, databases: Callable[[], str]
) -> None:
    """Nobody has to know how far it was: not before anything was kept, nor when it has ended."""
    with OpenAIStub(model()) as stub:
        settings = {"corpus": river, "model": "openai:stub", "base_url": stub.base_url, "top_k": 3}
        database = databases()
        if write:
            assert _killed(database, settings, kill_after_write=write)
        named: Any = {**CONFIG, "metadata": {"run_id": "the turn"}}
        for _ in range(2):
            async with turn.saver_of(database) as saver:
                compiled = build().compile(checkpointer=saver)
                state = await compiled.ainvoke({"question": QUESTION}, named, context=Context(**settings))
            assert state["answer"]
            assert len(state["messages"]) == 2
        assert stub.repeated(without_nonce) == []


async def test_a_state_without_a_next_step_is_no_ended_run(river: str, tmp_path: Path) -> None:
    """Between a step's result and the checkpoint after it nothing is `next`, and there is no answer yet."""
    with OpenAIStub(model()) as stub:
        settings = {"corpus": river, "model": "openai:stub", "base_url": stub.base_url}
        database = tmp_path / "turn.db"
        assert _killed(database, settings, kill_after_write=SETTINGS_KEPT)
        async with turn.saver_of(str(database)) as saver:
            kept = await build().compile(checkpointer=saver).aget_state(CONFIG)
        assert (kept.next, [task.name for task in kept.tasks]) == ((), ["__start__"])
        assert "answer" not in kept.values
        assert (await _resumed(database))["answer"]


async def test_a_question_can_be_put_into_a_thread_by_an_edit() -> None:
    """There is no context then, and nothing to send on."""
    edited = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "edited"}}
    await edited.aupdate_state(config, {"question": "Who built the Halden weir?"}, as_node="__start__")
    assert (await edited.aget_state(config)).next == ("begin",)
