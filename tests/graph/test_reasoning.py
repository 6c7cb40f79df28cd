"""A model that reasons before it writes, through the graph: it is given more room, within what a question may cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from anabranch.agent.graph.step import UNWRITTEN
from anabranch.agent.nodes.settings import Context
from anabranch.models import reply_budget
from anabranch.models.reply_budget import learned_of
from tests.graph.inside import graph
from tests.graph.replies import model
from tests.models.test_reasoning import ceiling_of, completion
from tests.servers.calls import Request
from tests.servers.loopback import Reply, Script
from tests.servers.openai_stub import OpenAIStub

QUESTION = "Who built the Halden weir?"
NEEDS = 1_000

pytestmark = pytest.mark.loopback


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    reply_budget._learned.clear()
    yield
    reply_budget._learned.clear()


def thinking(needs: int = NEEDS) -> Script:
    """Play a good model that needs tokens to think before it says a word."""
    good = model()

    def play(request: Request) -> Reply:
        if ceiling_of(request) < needs:
            return completion(request, "", "length", ceiling_of(request))
        return good(request)

    return play


async def _ask(stub: OpenAIStub, river: str, **settings: Any) -> dict[str, Any]:
    base = {"model": "openai:thinker", "base_url": stub.base_url, "model_retries": 0}
    return await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, **base, **settings))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"strategy": "none"},
        {"grade": "llm", "rerank": "llm"},
        {"synthesis": "refine", "window_tokens": 200},
        {"synthesis": "map_reduce", "window_tokens": 200, "strategy": "none"},
    ],
)
async def test_the_answer_is_the_models(settings: dict[str, Any], river: str) -> None:
    with OpenAIStub(thinking()) as stub:
        state = await _ask(stub, river, **settings)
        assert state["usage"]["calls"] == len(stub.calls)
    assert state["degraded"] == []
    assert state["route"]["name"] != "compose"
    assert state["citations"]


async def test_the_answer_is_the_models_also_where_it_is_read_as_it_comes(river: str) -> None:
    said = ""
    with OpenAIStub(thinking()) as stub:
        context = Context(corpus=river, model="openai:thinker", base_url=stub.base_url, strategy="none")
        async for piece, _ in graph.astream({"question": QUESTION}, context=context, stream_mode="messages"):
            said += piece.text if piece.type == "AIMessageChunk" else ""
        assert [call.request.stream for call in stub.calls] == [True, True]
    assert "Ida Marrow" in said


async def test_one_call_is_one_call(river: str) -> None:
    with OpenAIStub(thinking()) as stub:
        state = await _ask(stub, river, strategy="none", max_model_calls=1)
        assert len(stub.calls) == 1
    assert state["route"]["name"] == "compose"
    assert "answer_tokens" in state["degraded"][0]["reason"]


@pytest.mark.parametrize("synthesis", ["refine", "map_reduce"])
@pytest.mark.parametrize("limit", [{"max_model_calls": 6}, {"max_tokens": 9_000}])
async def test_no_route_exceeds_its_budget(synthesis: str, limit: dict[str, int], river: str) -> None:
    with OpenAIStub(thinking(10**6)) as stub:
        state = await _ask(
            stub, river, strategy="none", synthesis=synthesis, window_tokens=200, answer_tokens=200, **limit
        )
        assert 1 <= len(stub.calls) <= limit.get("max_model_calls", 100)
    spent = state["usage"]["prompt_tokens"] + state["usage"]["output_tokens"]
    assert spent <= limit.get("max_tokens", 10**9)


async def test_thoughts_count_in_the_price_of_a_route(river: str) -> None:
    with OpenAIStub(thinking(10**6)) as stub:
        learned_of("openai:thinker", stub.base_url).level = 2
        state = await _ask(stub, river, strategy="none", max_tokens=9_000)
        assert stub.calls == []
    assert state["route"]["name"] == "compose"
    assert "max_tokens" in state["degraded"][0]["reason"]


async def test_where_no_room_is_enough_it_is_said_what_to_do(river: str) -> None:
    with OpenAIStub(thinking(10**6)) as stub:
        state = await _ask(stub, river)
    assert "Ida Marrow" in state["answer"]
    *failed, unwritten = state["degraded"]
    assert all("answer_tokens" in item["reason"] for item in failed)
    assert unwritten["code"] == UNWRITTEN
    assert {item["step"] for item in state["degraded"]} == {"rewrite", "create"}
