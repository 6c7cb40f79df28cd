"""Every run is in the audit log, whatever began it: when it begins, what it shows, how it ends; or it is not done."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from anabranch.agent.graph.answer import build
from anabranch.agent.graph.ingest import graph as ingest_graph
from anabranch.agent.graph.retrieval import search
from anabranch.agent.nodes.settings import Context
from anabranch.errors import OperationError, QuestionError
from anabranch.identity import AUTH_USER, User
from anabranch.safety.operator import environment
from tests.graph.replies import model
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

QUESTION = "Who built the Halden weir?"
IDA = User(identity="ida", tenant=None, roles=frozenset({"ask", "ingest"}), access=("family",))


@pytest.fixture
def log(river: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANABRANCH_AUDIT", str(tmp_path / "audit.jsonl"))
    monkeypatch.setenv("ANABRANCH_CORPUS", river)
    return tmp_path / "audit.jsonl"


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A run's config in which ida asks."""
    monkeypatch.setenv("ANABRANCH_AUTH", "auth.yaml")
    return {"configurable": {"thread_id": "t", AUTH_USER: IDA}, "metadata": {"run_id": "r"}}


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


async def test_a_question_its_passages_and_its_answer(log: Path, known: Any) -> None:
    state = await build().compile().ainvoke({"question": QUESTION}, known)
    asked, found, answered = lines(log)
    assert [each["event"] for each in (asked, found, answered)] == ["question", "found", "answer"]
    for each in (asked, found, answered):
        assert (each["identity"], each["run_id"], each["thread_id"]) == ("ida", "r", "t")
    assert asked["characters"] == len(QUESTION)
    assert {each["source"] for each in found["documents"]} >= {each["source"] for each in state["citations"]}
    assert {each["passage"] for each in answered["cited"]} == {each["chunk_id"] for each in state["citations"]}
    assert (answered["calls"], answered["abstained"], answered["degraded"]) == (0, False, [])
    assert sum(answered["grades"].values()) > 0
    assert "Halden" not in log.read_text()


@pytest.mark.loopback
async def test_what_a_model_reads_is_noted_before_it_does(log: Path) -> None:
    seen: list[list[str]] = []

    def written(request: Any) -> Reply:
        seen.append([each["event"] for each in lines(log)])
        return Reply("Ida Marrow built it.")

    with OpenAIStub(model(create=written)) as stub:
        context = Context(model="openai:stub", base_url=stub.base_url, rerank="llm", strategy="none")
        await build().compile().ainvoke({"question": QUESTION}, context=context)
    assert seen == [["question", "read", "found", "read"]]
    answered = lines(log)[-1]
    assert [each.get("step") for each in lines(log) if each["event"] == "read"] == ["rerank", "write"]
    assert (answered["model"], answered["identity"]) == ("openai:stub", None)
    assert answered["calls"] == 2
    assert answered["prompt_tokens"] > answered["output_tokens"] > 0


async def test_a_run_that_fails_or_is_stopped_says_at_which_step(
    log: Path, known: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = build().compile()
    with pytest.raises(QuestionError):
        await compiled.ainvoke({"question": "?"}, known)

    merging = asyncio.Event()

    async def endless(*_: Any, **__: Any) -> Any:
        merging.set()
        await asyncio.sleep(600)

    monkeypatch.setattr("anabranch.agent.nodes.merge.merge_candidates", endless)
    run = asyncio.create_task(compiled.ainvoke({"question": QUESTION}, known))
    await asyncio.wait_for(merging.wait(), 60)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    failed, _, _, stopped = lines(log)
    assert (failed["event"], failed["step"], failed["error"]) == ("failed", "begin", "QuestionError")
    assert (stopped["event"], stopped["step"], stopped["identity"]) == ("stopped", "merge", "ida")


async def test_a_pause_is_no_failure(log: Path, known: Any) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    await compiled.ainvoke({"question": QUESTION}, known, context=Context(review="sources"))
    assert [each["event"] for each in lines(log)] == ["question", "found"]


def test_a_search_is_told_from_a_question(log: Path, river: str) -> None:
    found = search(QUESTION, corpus=river)
    first, last = lines(log)
    assert (first["event"], last["event"]) == ("search", "found")
    assert {each["source"] for each in last["documents"]} == {each.metadata["source"] for each in found}


async def test_what_is_taken_in_and_who_may_not(
    log: Path, known: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "note.md").write_text("# Note\n\nThe otter sleeps.\n")
    monkeypatch.setenv("ANABRANCH_INGEST_ROOT", str(tmp_path / "root"))
    monkeypatch.setenv("ANABRANCH_CORPUS", str(tmp_path / "corpus"))
    environment.cache_clear()
    await ingest_graph.ainvoke({"paths": ["note.md"]}, known)
    began, ended = lines(log)
    assert (began["event"], began["paths"], ended["event"]) == ("ingest", ["note.md"], "ingested")
    assert ended["totals"]["added"] == 1
    known["configurable"][AUTH_USER] = User(identity="eve", roles=frozenset({"ask"}))
    with pytest.raises(Exception, match="role 'ingest'"):
        await ingest_graph.ainvoke({"paths": ["note.md"]}, known)
    assert (lines(log)[-1]["event"], lines(log)[-1]["identity"]) == ("failed", "eve")


async def test_what_cannot_be_noted_is_not_done(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_AUDIT", str(log.parent / "missing" / "audit.jsonl"))
    environment.cache_clear()
    with pytest.raises(OperationError, match="cannot be written"):
        await build().compile().ainvoke({"question": QUESTION})
