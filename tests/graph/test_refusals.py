"""A request that the provider refuses as it is (content filter, too long): the step does without, the turn goes on."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from anabranch.agent.nodes.settings import Context
from tests.graph.inside import build, graph
from tests.graph.replies import model, step_of
from tests.safety.test_key_redaction import KEY, echoing
from tests.servers.calls import Request
from tests.servers.loopback import Reply, Script
from tests.servers.openai_stub import OpenAIStub

QUESTION = "Who built the Halden weir?"
FILTERED = "The prompt was filtered due to the content management policy."
WINDOWS: dict[str, Any] = {"window_tokens": 200, "top_k": 40}

pytestmark = pytest.mark.loopback


def refusing(step: str, status: int, *, once: bool = False) -> Script:
    """Refuse the requests of one step, or only the first of them."""
    seen: Counter[str] = Counter()
    others = model()

    def play(request: Request) -> Reply:
        seen[step_of(request)] += 1
        if step_of(request) == step and (seen[step] == 1 or not once):
            return Reply(FILTERED, status=status)
        return others(request)

    return play


async def _ask(river: str, stub: OpenAIStub, given: Any = None, **settings: Any) -> dict[str, Any]:
    base = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
    return await graph.ainvoke(given or {"question": QUESTION}, context=Context(corpus=river, **base, **settings))


@pytest.mark.parametrize("status", [400, 413, 422])
@pytest.mark.parametrize(
    ("step", "settings"),
    [
        ("rewrite", {}),
        ("rerank", {"rerank": "llm"}),
        ("grade", {"grade": "llm"}),
        ("retrieve", {"retrievers": ("bm25", "llm"), "strategy": "none"}),
        ("refine", {"synthesis": "refine", **WINDOWS}),
        ("reduce", {"synthesis": "map_reduce", "answer_form": "cited", **WINDOWS}),
    ],
)
async def test_a_refused_step_is_done_without(step: str, settings: dict[str, Any], status: int, river: str) -> None:
    with OpenAIStub(refusing(step, status)) as stub:
        state = await _ask(river, stub, **settings)
    assert state["citations"]
    assert state["route"]["name"] != "compose"
    said = [item["reason"] for item in state["degraded"] if item["step"].partition(":")[0] == step]
    assert said
    assert all(FILTERED in reason and str(status) in reason for reason in said)


async def test_a_refused_condensation_leaves_the_question_as_it_was(river: str) -> None:
    messages = [HumanMessage("What is a weir?"), AIMessage("A low dam."), HumanMessage("Who built it?")]
    with OpenAIStub(refusing("condense", 400)) as stub:
        state = await _ask(river, stub, {"messages": messages})
    assert [item["step"] for item in state["degraded"]] == ["condense"]
    assert state["answer"]


async def test_one_refused_window_of_several_loses_that_window_only(river: str) -> None:
    with OpenAIStub(refusing("create", 400, once=True)) as stub:
        state = await _ask(river, stub, synthesis="map_reduce", **WINDOWS)
        read = sum(step_of(call.request) == "create" for call in stub.calls)
    assert read == len(state["windows"]) > 2
    assert [item["step"].partition(":")[0] for item in state["degraded"]] == ["map"]
    assert not state["abstained"]
    assert state["citations"]


async def test_a_refused_answer_becomes_verbatim_sentences_and_says_so(river: str) -> None:
    with OpenAIStub(refusing("create", 400)) as stub:
        state = await _ask(river, stub)
    assert "Ida Marrow" in state["answer"]
    assert state["route"]["name"] == "compose"
    said, unwritten = state["degraded"]
    assert said["step"] == unwritten["step"] == "create"
    assert "did not write" in unwritten["reason"]
    assert FILTERED in said["reason"]
    assert "window_tokens" in said["reason"]


@pytest.mark.parametrize("synthesis", ["auto", "map_reduce"])
async def test_where_every_request_is_refused_it_is_said_once_more(synthesis: str, river: str) -> None:
    with OpenAIStub(Reply("no such model: stub", status=400)) as stub:
        state = await _ask(river, stub, synthesis=synthesis, grade="llm", **WINDOWS)
    assert "Ida Marrow" in state["answer"]
    (said,) = [item["reason"] for item in state["degraded"] if item["step"] == "model"]
    assert "every request" in said
    assert "openai:stub" in said
    assert "no such model" in " ".join(item["reason"] for item in state["degraded"])


async def test_where_one_request_was_answered_not_every_one_was_refused(river: str) -> None:
    with OpenAIStub(refusing("create", 400)) as stub:
        state = await _ask(river, stub)
    assert "model" not in {item["step"] for item in state["degraded"]}


async def test_no_turn_keeps_a_key_that_was_repeated(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langgraph.checkpoint.memory import InMemorySaver

    monkeypatch.setenv("ANABRANCH_BASE_URL_KEY", KEY)

    class Signed(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            raise ConnectionError(f"refused: Authorization: Bearer {KEY}")

    config: Any = {"configurable": {"thread_id": "t"}}
    compiled = build(retrievers={"signed": Signed()}).compile(checkpointer=InMemorySaver())
    with OpenAIStub(echoing(400)) as stub:
        context = Context(
            corpus=river, model="openai:stub", base_url=stub.base_url, retrievers=("bm25", "dense", "signed")
        )
        events = [e async for e in compiled.astream({"question": "Who built the weir?"}, config, context=context)]
    states = [state async for state in compiled.aget_state_history(config)]
    assert len(states) > 5
    assert KEY not in json.dumps([events, states], default=str)
