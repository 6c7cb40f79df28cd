"""The retriever `llm` in the fan-out: alone, and beside the others."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError
from anabranch.retrieval import llm_retriever
from tests.graph.inside import graph
from tests.graph.replies import model, passages_in
from tests.servers import scripts
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

pytestmark = pytest.mark.loopback

QUESTION = "Who built the Halden weir?"


def marrow(request: Request) -> Reply:
    """Choose what names Ida Marrow."""
    chosen = [number for number, text in passages_in(request).items() if "Ida Marrow" in text]
    return Reply("\n".join(f"Doc: {number}, Relevance: 9" for number in chosen) or "None", delay=0.05)


async def _ask(stub: OpenAIStub, river: str, **settings: Any) -> dict[str, Any]:
    wanted = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0, **settings}
    return await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, **wanted))


def _branch(state: dict[str, Any], retriever: str) -> dict[str, Any]:
    return next(step for step in state["trace"] if step["counts"].get("retriever") == retriever)


async def test_alone_it_finds_what_helps_and_its_calls_are_in_the_trace(
    river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm_retriever, "BATCH", 4)
    with OpenAIStub(model(retrieve=marrow)) as stub:
        state = await _ask(stub, river, retrievers=("llm",), strategy="none")
        asked = [call for call in stub.calls if "numbered texts" in call.request.system]
    assert "Ida Marrow" in state["answer"]
    assert state["candidates"]
    assert all(set(candidate["ranks"]) == {"llm"} for candidate in state["candidates"])
    step = _branch(state, "llm")
    assert step["calls"] == len(asked) > 1
    assert state["usage"]["calls"] >= len(asked)
    assert state["evidence"]["scores"]["llm"] == 9.0
    assert not any("copper time capsule" in str(call.request.body) for call in asked)  # of the family's alone


async def test_beside_the_others_its_list_is_fused_and_one_reading_serves_every_query(river: str) -> None:
    with OpenAIStub(model(retrieve=marrow)) as stub:
        both = await _ask(stub, river, retrievers=("bm25", "dense", "llm"))
        asked = [call for call in stub.calls if "numbered texts" in call.request.system]
    assert len(both["queries"]) == 4
    assert len(asked) == 1
    assert len(_branch(both, "llm")["counts"]["lists"]) == 4
    best = both["candidates"][0]
    assert set(best["ranks"]) == {"bm25", "dense", "llm"}


async def test_a_reader_that_fails_leaves_the_others(river: str) -> None:
    with OpenAIStub(model(retrieve=scripts.BROKEN)) as stub:
        state = await _ask(stub, river, retrievers=("bm25", "llm"), strategy="none")
    assert [item["step"] for item in state["degraded"]] == ["retrieve:llm"]
    assert "Ida Marrow" in state["answer"]


async def test_part_of_the_reading_that_fails_is_said(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm_retriever, "BATCH", 2)

    def half(request: Request) -> Reply:
        return marrow(request) if "Ida Marrow" in request.user else scripts.BROKEN

    with OpenAIStub(model(retrieve=half)) as stub:
        state = await _ask(stub, river, retrievers=("llm",), strategy="none")
    assert [item["step"] for item in state["degraded"]] == ["retrieve:llm"]
    assert "calls failed" in state["degraded"][0]["reason"]
    assert "Ida Marrow" in state["answer"]


async def test_without_a_model_and_over_its_bounds_it_says_so(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm_retriever, "BATCH", 1)
    monkeypatch.setattr(llm_retriever, "MOST_CALLS", 2)
    with pytest.raises(SettingsError, match="chat model"):
        await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, retrievers=("llm",)))
    with OpenAIStub(model()) as stub:
        with pytest.raises(SettingsError, match="at most 2 texts"):
            await _ask(stub, river, retrievers=("llm",), strategy="none")
        assert stub.calls == []


@pytest.mark.parametrize("limit", [{"max_model_calls": 3}, {"max_tokens": 4_000}], ids=str)
async def test_it_leaves_the_answer_what_it_takes(
    limit: dict[str, int], river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm_retriever, "BATCH", 2)
    with OpenAIStub(model(retrieve=marrow)) as stub:
        state = await _ask(stub, river, retrievers=("bm25", "llm"), strategy="none", **limit)
        asked = [call for call in stub.calls if "numbered texts" in call.request.system]
    (lost,) = [item for item in state["degraded"] if item["step"] == "retrieve:llm"]
    assert "the model was not asked" in lost["reason"]
    assert next(iter(limit)) in lost["reason"]
    assert asked == []
    assert "Ida Marrow" in state["answer"]


@pytest.mark.parametrize("most", [1_200, 1_400, 1_800, 2_400, 4_000])
async def test_what_it_reads_never_costs_the_answer_its_call(
    most: int, river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm_retriever, "BATCH", 1)
    monkeypatch.setattr(llm_retriever, "MOST_CALLS", 100)
    small = {"window_tokens": 256, "answer_tokens": 200}
    with OpenAIStub(model(retrieve=marrow)) as stub:
        state = await _ask(stub, river, retrievers=("bm25", "llm"), strategy="none", max_tokens=most, **small)
        written = [call for call in stub.calls if "numbered texts" not in call.request.system]
    assert written, state["route"]
    assert state["usage"]["prompt_tokens"] + state["usage"]["output_tokens"] <= most


async def test_it_reads_where_the_budget_is_enough(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm_retriever, "BATCH", 4)
    with OpenAIStub(model(retrieve=marrow)) as stub:
        limits = {"max_model_calls": 60, "max_tokens": 60_000}
        state = await _ask(stub, river, retrievers=("llm",), strategy="none", **limits)
    assert not state["degraded"]
    assert _branch(state, "llm")["calls"] > 1
