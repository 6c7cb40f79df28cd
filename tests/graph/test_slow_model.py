"""A server that was too slow for one call of a turn is not asked a longer one: what was found is shown at once."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from anabranch.agent.nodes.settings import Context
from tests.graph.inside import build, graph
from tests.graph.replies import model, rounds_of, step_of
from tests.servers.clock import Clock, hurried
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import SILENT, Reply

pytestmark = pytest.mark.loopback

QUESTION = "Who built the Halden weir?"
SMALL = {"window_tokens": 80, "merge_threshold": 1.0, "strategy": "none"}


async def _ask(river: str, silent: str, **settings: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the state and which steps asked the model, where one of them gets no reply."""
    with OpenAIStub(hurried(model(**{silent: SILENT}))) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, model_retries=0, **settings)
        state = await graph.ainvoke({"question": QUESTION}, context=context)
        return state, [step_of(call.request) for call in stub.calls]


@pytest.mark.parametrize(
    ("silent", "settings", "asked"),
    [
        ("rewrite", {}, ["rewrite"]),
        ("rewrite", {"rerank": "llm", "grade": "llm", "verify": "llm"}, ["rewrite"]),
        ("rewrite", {"retrievers": ("bm25", "dense", "llm")}, ["rewrite"]),
        ("rerank", {"rerank": "llm", "grade": "llm", "rerank_batch": 50}, ["rewrite", "rerank"]),
        ("grade", {"grade": "llm"}, ["rewrite", "grade"]),
        ("create", {"verify": "llm"}, ["rewrite", "create"]),
        ("create", {**SMALL, "synthesis": "refine"}, ["create"]),
    ],
)
async def test_nobody_is_asked_after_a_call_that_ran_out_of_time(
    silent: str, settings: dict[str, Any], asked: list[str], river: str
) -> None:
    state, calls = await _ask(river, silent, **settings)
    assert calls == asked
    assert state["route"]["name"] == "compose"
    assert "Ida Marrow" in state["answer"]
    said = [item["reason"] for item in state["degraded"] if item["step"].startswith(silent)]
    assert any("did not answer within" in reason for reason in said)
    assert state["answer"].startswith("The chat model ran out of time: the passages that match best.")
    (unwritten,) = [item for item in state["degraded"] if item.get("code") == "model_did_not_write"]
    assert "ran out of time" in unwritten["reason"]
    if silent == "create":
        assert "the model ran out of time" in state["route"]["reasons"][-1]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        (QUESTION, "The chat model wrote no answer: the passages that match best."),
        ("Wer hat das Wehr in Halden gebaut?", "Das Chatmodell hat keine Antwort geschrieben: die Stellen,"),
    ],
)
async def test_a_model_that_failed_is_not_said_to_be_absent(question: str, first: str, river: str) -> None:
    with OpenAIStub(model(create=Reply("down", status=500))) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, model_retries=0)
        state = await graph.ainvoke({"question": question}, context=context)
    assert state["answer"].startswith(first)
    assert "did not write an answer" in state["degraded"][-1]["reason"]


async def test_of_many_calls_of_one_step_those_that_wait_are_not_made(river: str) -> None:
    clock = Clock()

    def silent(request: Any) -> Any:
        # An hour passes when two calls are under way: on a busy machine the first could end before the second begins.
        if request.number == 2:
            clock.skip()
        return SILENT

    with OpenAIStub(model(rerank=silent)) as stub:
        settings = {"strategy": "none", "rerank": "llm", "rerank_batch": 2, "model_retries": 0}
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, **settings)
        await graph.ainvoke({"question": QUESTION}, context=context, config={"max_concurrency": 2})
        assert [step_of(call.request) for call in stub.calls] == ["rerank"] * 2


async def test_it_is_said_why_the_model_was_not_asked(river: str) -> None:
    state, _ = await _ask(river, "rewrite")
    reasons = [item["reason"] for item in state["degraded"] if item["step"] == "pack"]
    assert any("a call for this question ran out of time" in reason for reason in reasons)
    assert rounds_of(state) == 1


async def test_thin_evidence_is_not_looked_for_again_where_nobody_has_other_words(
    river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anabranch.retrieval.answerability.SURE", 2.0)
    state, calls = await _ask(river, "rewrite")
    assert state["evidence"]["verdict"] == "thin"
    assert (calls, rounds_of(state)) == (["rewrite"], 1)


async def test_a_chain_of_windows_ends_with_what_was_written(river: str) -> None:
    state, calls = await _ask(river, "refine", **SMALL, synthesis="refine")
    assert len(state["windows"]) > 2
    assert calls == ["create", "refine"]
    assert state["route"]["name"] == "refine"
    assert state["citations"]


async def test_partial_answers_stand_side_by_side(river: str) -> None:
    def first_hangs(request: Any) -> Any:
        return SILENT if request.number == 1 else model()(request)

    with OpenAIStub(hurried(first_hangs)) as stub:
        settings = {**SMALL, "synthesis": "map_reduce", "answer_form": "cited", "model_retries": 0}
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, **settings)
        state = await graph.ainvoke({"question": QUESTION}, context=context, config={"max_concurrency": 1})
        asked = {step_of(call.request) for call in stub.calls}
    assert asked == {"create"}
    assert len(stub.calls) == len(state["windows"]) > 2
    assert state["route"]["name"] == "map_reduce"
    assert any("ran out of time" in item["reason"] for item in state["degraded"])


async def test_a_turn_that_is_resumed_remembers_it(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "slow"}}
    with OpenAIStub(hurried(model(rewrite=SILENT))) as stub:
        server = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
        context = Context(corpus=river, review="sources", **server)
        await compiled.ainvoke({"question": QUESTION}, config, context=context)
        state = await compiled.ainvoke(Command(resume=True), config, context=context)
        assert [step_of(call.request) for call in stub.calls] == ["rewrite"]
        assert state["route"]["name"] == "compose"
        # The next question is another turn.
        await compiled.ainvoke({"question": QUESTION}, config, context=context)
        assert step_of(stub.calls[1].request) == "condense"
