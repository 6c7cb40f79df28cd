"""A model that says that good evidence does not tell is asked once more, plainly; nobody is asked a third time."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from anabranch.agent.prompts import GUARD, GUARD_AGAIN
from tests.graph.inside import graph
from tests.graph.replies import model, step_of, written
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import BROKEN, in_turn

pytestmark = pytest.mark.loopback

QUESTION = "Who built the Halden weir?"
REFUSALS = ["The passages do not say who built it.", "Das steht nicht in den Abschnitten."]


async def _ask(river: str, reply: Any, **settings: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the state and what the writer was asked for, call by call."""
    with OpenAIStub(model(create=reply)) as stub:
        server = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0, "strategy": "none"}
        state = await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, **{**server, **settings}))
        asked = [call.request.system for call in stub.calls if step_of(call.request) == "create"]
    return state, asked


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_refusal_on_good_evidence_is_asked_once_more_without_the_way_out(refusal: str, river: str) -> None:
    state, asked = await _ask(river, in_turn(refusal, "Ida Marrow built the Halden weir."))
    assert asked == [GUARD, GUARD_AGAIN]
    assert not state["abstained"]
    assert state["answer"] == "Ida Marrow built the Halden weir. [1]"
    assert [step["node"] for step in state["trace"][-5:]] == ["create", "cite", "create", "cite", "finish"]
    assert state["usage"]["calls"] == state["usage"]["rounds"] == 2


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_nobody_is_asked_a_third_time(refusal: str, river: str) -> None:
    state, asked = await _ask(river, refusal)
    assert asked == [GUARD, GUARD_AGAIN]
    assert state["abstained"]
    assert "I did not find the answer" in state["answer"]


@pytest.mark.parametrize("limits", [{"max_model_calls": 1}, {"max_tokens": 900, "answer_tokens": 100}])
async def test_a_question_that_may_cost_no_more_is_not_asked_again(limits: dict[str, int], river: str) -> None:
    state, asked = await _ask(river, REFUSALS[0], **limits, top_k=2, window_tokens=600)
    assert asked == [GUARD]
    assert state["abstained"]
    used = state["usage"]["prompt_tokens"] + state["usage"]["output_tokens"]
    assert used <= limits.get("max_tokens", used)


async def test_on_thin_evidence_a_refusal_is_believed(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anabranch.retrieval.answerability.SURE", 2.0)
    state, asked = await _ask(river, REFUSALS[0])
    assert state["evidence"]["verdict"] == "thin"
    assert asked == [GUARD]
    assert state["abstained"]


async def test_an_answer_that_nothing_supports_is_no_reason_to_ask_again(river: str) -> None:
    state, asked = await _ask(river, "Otto Kraus of Utopia built 77 castles in 1650.")
    assert len(asked) == 1
    assert state["status"] == "not_confirmed"


@pytest.mark.parametrize("second", [BROKEN, "", "Otto Kraus of Utopia built 77 castles in 1650."])
async def test_a_second_reply_that_is_no_answer_ends_the_turn_and_says_why(second: Any, river: str) -> None:
    state, asked = await _ask(river, in_turn(REFUSALS[0], second, written))
    assert len(asked) == 2
    assert (state["status"] == "answered") == bool(state["citations"])
    assert state["status"] != "answered" or state["route"]["name"] == "compose"
    assert ("create" in {item["step"] for item in state["degraded"]}) == (state["route"]["name"] == "compose")
