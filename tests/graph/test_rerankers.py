"""Each reranker in the whole graph, against a real model or a server that speaks its protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from plugins.onnx.tests.pair_models import transformer
from tests.graph.inside import graph
from tests.graph.replies import model, passages_in
from tests.servers import scripts
from tests.servers.calls import Request
from tests.servers.cohere_stub import CohereStub
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

pytestmark = pytest.mark.loopback

QUESTION = "Who built the Halden weir?"


async def _ask(river: str, **settings: Any) -> dict[str, Any]:
    return await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, **settings))


def _ids(state: dict[str, Any]) -> list[str]:
    return [candidate["id"] for candidate in state["candidates"]]


async def test_a_cross_encoder_reorders_and_loses_nothing(river: str, tmp_path: Path) -> None:
    plain = await _ask(river, top_k=8)
    state = await _ask(river, top_k=8, rerank="cross_encoder", rerank_model=str(transformer(tmp_path / "m")))
    assert state["degraded"] == []
    assert len(_ids(state)) == len(_ids(plain)) == 8
    scores = [candidate["score"] for candidate in state["candidates"]]
    assert scores == sorted(scores, reverse=True)
    assert [candidate["fused"] for candidate in state["candidates"]] != list(range(1, 9))


async def test_late_interaction_moves_the_fused_order_and_loses_nothing(river: str) -> None:
    plain, state = await _ask(river, top_k=8), await _ask(river, top_k=8, rerank="late_interaction")
    assert state["degraded"] == []
    assert len(_ids(state)) == len(_ids(plain)) == 8
    scores = [candidate["score"] for candidate in state["candidates"]]
    assert scores == sorted(scores, reverse=True)
    # It counts for a quarter: what the fused order has far in front stays in front.
    assert _ids(state)[0] == _ids(plain)[0]
    assert [candidate["fused"] for candidate in state["candidates"]] != list(range(1, 9))


async def test_cohere_reorders_by_its_scores(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with CohereStub() as stub:
        monkeypatch.setenv("CO_API_KEY", "key")
        monkeypatch.setenv("CO_API_URL", stub.base_url)
        state = await _ask(river, rerank="cohere", rerank_depth=10)
        (call,) = stub.calls
    assert len(call.request.body["documents"]) == 10
    scores = [candidate["score"] for candidate in state["candidates"][:10]]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 0.8  # four of the question's five words
    assert next(step for step in state["trace"] if step["node"] == "rerank")["calls"] == 1


@pytest.mark.parametrize(
    "reply", [scripts.BROKEN, scripts.rate_limited(0.01), Reply(raw=b'{"results": []}'), Reply(hang=True)]
)
async def test_cohere_failing_leaves_the_fused_order_and_says_so(
    river: str, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    plain = await _ask(river)
    with CohereStub(reply) as stub:
        monkeypatch.setenv("CO_API_KEY", "key")
        monkeypatch.setenv("CO_API_URL", stub.base_url)
        state = await _ask(river, rerank="cohere", model_retries=0, model_timeout=1.0)
    assert [item["step"] for item in state["degraded"]] == ["rerank"]
    assert _ids(state) == _ids(plain)
    assert "Ida Marrow" in state["answer"]


async def _reranked(river: str, reply: Any, **settings: Any) -> dict[str, Any]:
    with OpenAIStub(model(rerank=reply)) as stub:
        base = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0, "strategy": "none"}
        return await _ask(river, rerank="llm", **base, **settings)


async def test_the_order_by_relevance_is_the_order_of_the_candidates(river: str) -> None:
    def last_first(request: Request) -> Reply:
        return Reply("\n".join(f"Doc: {n}, Relevance: {n}" for n in passages_in(request)))

    state = await _reranked(river, last_first, rerank_depth=6, top_k=6)
    assert [candidate["fused"] for candidate in state["candidates"]] == [6, 5, 4, 3, 2, 1]
    assert [round(candidate["score"]) for candidate in state["candidates"]] == [6, 5, 4, 3, 2, 1]


async def test_what_a_reply_does_not_name_goes_behind_what_was_not_judged_in_fused_order(river: str) -> None:
    state = await _reranked(river, "Doc: 4, Relevance: 9\nDoc: 2, Relevance: 8", rerank_depth=6, top_k=8)
    assert [candidate["fused"] for candidate in state["candidates"]] == [4, 2, 7, 8, 1, 3, 5, 6]


@pytest.mark.parametrize(
    "reply",
    ["", "I cannot do that.", "Doc: 0, Relevance: 9", "Doc: -7, Relevance: 9", "Relevance: 7", scripts.BROKEN],
)
async def test_llamaindex_r1_r7_a_reply_that_says_nothing_loses_no_candidate(river: str, reply: Any) -> None:
    # the last document, an IndexError, or no document at all
    state = await _reranked(river, reply, top_k=8)
    assert [candidate["fused"] for candidate in state["candidates"]] == list(range(1, 9))
    assert "rerank" in [item["step"] for item in state["degraded"]]


async def test_repairs_are_in_the_trace(river: str) -> None:
    state = await _reranked(river, "Doc: 2, Relevance: 7\nDoc: 77, Relevance: 9\nDoc: 1, Relevance: much")
    step = next(step for step in state["trace"] if step["node"] == "rerank")
    assert step["counts"]["repairs"] == 2
    assert state["candidates"][0]["fused"] == 2


async def test_a_batch_that_fails_is_said_and_the_others_count(river: str) -> None:
    def first_fails(request: Request) -> Reply:
        return scripts.BROKEN if len(passages_in(request)) == 3 else Reply("Doc: 4, Relevance: 9")

    state = await _reranked(river, first_fails, rerank_depth=6, rerank_batch=3, top_k=8)
    assert [item["step"] for item in state["degraded"]] == ["rerank"]
    assert "1 of 2 calls failed" in state["degraded"][0]["reason"]
    assert len(_ids(state)) == 8
    assert state["candidates"][0]["fused"] == 6
