"""Model calls and sequential round trips of every route, counted by the server that answers them."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from tests.graph.inside import graph
from tests.graph.replies import at_once, model, passages_in, rounds_of, step_of, unconfirmed, written
from tests.servers.calls import Request
from tests.servers.loopback import Reply, Script
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import together

pytestmark = pytest.mark.loopback

QUESTION = "What measures protect the town from floods on the Halden?"
SMALL = {"window_tokens": 64, "strategy": "none", "merge_threshold": 1.0, "top_k": 6}
CITED = {**SMALL, "answer_form": "cited"}


async def _ask(stub: OpenAIStub, river: str, question: str = QUESTION, **settings: Any) -> dict[str, Any]:
    context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, model_retries=0, **settings)
    return await graph.ainvoke({"question": question}, context=context)


def _by_step(stub: OpenAIStub) -> Counter[str]:
    return Counter(step_of(call.request) for call in stub.calls)


async def test_one_window_is_one_call(river: str) -> None:
    with OpenAIStub(model()) as stub:
        state = await _ask(stub, river, strategy="none")
        assert _by_step(stub) == {"create": 1}
        assert state["usage"]["calls"] == 1
        assert state["usage"]["rounds"] == stub.rounds() == 1
        assert state["usage"]["prompt_tokens"] > 50
        assert state["route"]["name"] == "create"
        assert state["citations"][0]["grade"] == "quoted"


async def test_queries_cost_one_call_more(river: str) -> None:
    with OpenAIStub(model()) as stub:
        state = await _ask(stub, river)
        assert _by_step(stub) == {"rewrite": 1, "create": 1}
        assert state["usage"]["rounds"] == stub.rounds() == 2
        assert [query["kind"] for query in state["queries"]] == ["asked", "multi", "multi", "multi"]
        assert sum(query["weight"] for query in state["queries"][1:]) <= state["queries"][0]["weight"]


async def test_refine_is_one_call_and_one_round_a_window(river: str) -> None:
    with OpenAIStub(model()) as stub:
        state = await _ask(stub, river, synthesis="refine", **SMALL)
        windows = len(state["windows"])
        assert windows >= 3
        assert _by_step(stub) == {"create": 1, "refine": windows - 1}
        assert state["usage"]["calls"] == state["usage"]["rounds"] == stub.rounds() == windows
        assert len({citation["chunk_id"] for citation in state["citations"]}) == windows


@pytest.mark.parametrize("keep", ["**Keep.**", "Davon steht nichts im Text."])
async def test_two_keeps_end_the_chain_and_leave_the_answer_byte_for_byte(keep: str, river: str) -> None:
    with OpenAIStub(model(refine=keep)) as stub:
        state = await _ask(stub, river, synthesis="refine", **SMALL)
        assert len(state["windows"]) > 3
        assert _by_step(stub) == {"create": 1, "refine": 2}
    with OpenAIStub(model()) as stub:
        first = await _ask(stub, river, synthesis="stuff", **SMALL)
    assert state["answer"] == first["answer"]


async def test_an_answer_is_not_added_to_beyond_its_room(river: str) -> None:
    with OpenAIStub(model()) as stub:
        state = await _ask(stub, river, synthesis="refine", answer_tokens=64, **SMALL)
        assert len(state["windows"]) > 3
        actions = [step["counts"]["action"] for step in state["trace"] if step["node"] == "refine"]
    assert actions[0] == "add"
    assert "failed" in actions
    assert all("answer_tokens=64" in item["reason"] for item in state["degraded"])
    assert len(state["answer"].split()) <= 64
    assert len(state["citations"]) == 1 + actions.count("add")


@pytest.mark.parametrize("refusal", ["The passages do not say.", "Davon steht nichts in den Abschnitten."])
async def test_where_every_window_tells_nothing_each_is_asked_plainly_and_the_end_is_an_abstention(
    refusal: str, river: str
) -> None:
    with OpenAIStub(model(create=refusal)) as stub:
        state = await _ask(stub, river, synthesis="refine", **SMALL)
        assert _by_step(stub) == {"create": len(state["windows"])}
    assert state["abstained"]
    assert "I did not find the answer" in state["answer"]


def _not_in_the_first(reply: str) -> Script:
    """Answer well from every window but the first."""
    return lambda request: Reply(reply) if 1 in passages_in(request) else written(request)


@pytest.mark.parametrize("bad", ["The passages do not say.", "Otto Kraus of Utopia built 77 castles in 1650."])
async def test_a_first_answer_that_nothing_supports_gives_way_to_that_of_a_later_window(bad: str, river: str) -> None:
    with OpenAIStub(model(create=_not_in_the_first(bad))) as stub:
        state = await _ask(stub, river, synthesis="refine", **SMALL)
        windows = len(state["windows"])
        assert _by_step(stub) == {"create": 2, "refine": windows - 2}
    actions = [step["counts"]["action"] for step in state["trace"] if step["node"] == "refine"]
    assert actions == ["revise", *["add"] * (windows - 2)]
    assert not state["abstained"]
    assert "Kraus" not in state["answer"]
    assert unconfirmed(state) == []
    assert len({citation["chunk_id"] for citation in state["citations"]}) == windows - 1


async def test_what_nothing_supports_is_not_added(river: str) -> None:
    lie = "Otto Kraus of Utopia gave the town 77 castles in 1650."
    with OpenAIStub(model(refine=lie)) as stub:
        state = await _ask(stub, river, synthesis="refine", **SMALL)
        assert _by_step(stub) == {"create": 1, "refine": 2}
    with OpenAIStub(model()) as stub:
        first = await _ask(stub, river, synthesis="stuff", **SMALL)
    assert state["answer"] == first["answer"]
    assert {step["counts"]["action"] for step in state["trace"] if step["node"] == "refine"} == {"keep"}


async def test_a_model_that_repeats_its_answer_before_what_is_new_says_nothing_twice(river: str) -> None:
    def whole(request: Request) -> Reply:
        before = request.user.split("Answer so far: ")[1].rpartition("\n\n")[0]
        return Reply(f"{before} {written(request).text}")

    with OpenAIStub(model()) as stub:
        brief = await _ask(stub, river, synthesis="refine", **SMALL)
    with OpenAIStub(model(refine=whole)) as stub:
        state = await _ask(stub, river, synthesis="refine", **SMALL)
    assert state["answer"] == brief["answer"]


@pytest.mark.parametrize("reply", ["The original answer remains.", "The context does not contain the answer."])
async def test_a_good_answer_is_never_overwritten(reply: str, river: str) -> None:
    with OpenAIStub(model(refine=Reply(reply))) as stub:
        state = await _ask(stub, river, synthesis="refine", **SMALL)
    with OpenAIStub(model()) as stub:
        first = await _ask(stub, river, synthesis="stuff", **SMALL)
    assert state["answer"] == first["answer"]


@pytest.mark.parametrize("form", ["plain", "cited"])
@pytest.mark.parametrize("fan_in", [2, 20])
async def test_map_reduce_is_a_tree(fan_in: int, form: str, river: str) -> None:
    given = {"synthesis": "map_reduce", "fan_in": fan_in, "answer_form": form, **SMALL}
    with OpenAIStub(model()) as stub:
        first = await _ask(stub, river, **given)
    with OpenAIStub(together(model(), *at_once(first))) as stub:
        state = await _ask(stub, river, **given)
        windows = len(state["windows"])
        assert windows >= 5
        parts = next(step["counts"]["parts"] for step in state["trace"] if step["node"] == "gather")
        assert parts == windows
        calls, levels = 0, 0
        while parts > 1:
            groups = math.ceil(parts / fan_in)
            calls += groups - (1 if parts % fan_in == 1 else 0)  # a group of one is taken as it is
            levels += 1
            parts = groups
        assert _by_step(stub) == {"create": windows, "reduce": calls}
        assert state["usage"]["calls"] == windows + calls
        assert state["usage"]["rounds"] == stub.rounds() == 1 + levels
        assert len({citation["chunk_id"] for citation in state["citations"]}) >= 3


@pytest.mark.parametrize(
    ("bad", "form"),
    [
        ("The passages do not say.", "plain"),
        ("Dazu steht nichts im Text.", "cited"),
        ("Otto Kraus of Utopia built 77 castles in 1650.", "plain"),
        ("Otto Kraus of Utopia built 77 castles in 1650.", "cited"),
    ],
)
async def test_what_the_wrong_window_answers_is_dropped(bad: str, form: str, river: str) -> None:
    with OpenAIStub(model(create=_not_in_the_first(bad))) as stub:
        state = await _ask(stub, river, synthesis="map_reduce", answer_form=form, **SMALL)
        joined = [call.request for call in stub.calls if step_of(call.request) == "reduce"]
    assert joined
    assert not any(bad in request.user for request in joined)
    assert bad not in re.sub(r" \[[\d?]+\]", "", state["answer"])
    assert unconfirmed(state) == []
    assert len(state["citations"]) >= 3


async def test_an_answer_that_is_half_right_is_joined_and_its_wrong_half_is_marked(river: str) -> None:
    lie = "Otto Kraus of Utopia built 77 castles in 1650."

    def half(request: Request) -> Reply:
        return Reply(f"{written(request).text} {lie}" if 2 in passages_in(request) else written(request).text)

    with OpenAIStub(model(create=half)) as stub:
        state = await _ask(stub, river, synthesis="map_reduce", **SMALL)
    scores = [step["counts"]["score"] for step in state["trace"] if step["node"] == "map"]
    assert min(scores) < 0.8 * max(scores)
    assert unconfirmed(state) == [lie]
    second = {excerpt["id"] for excerpt in state["windows"][1]}
    assert second & {citation["chunk_id"] for citation in state["citations"]}


@pytest.mark.parametrize("refusal", ["The passages do not say.", "Davon steht nichts in den Abschnitten."])
async def test_when_no_window_helps_the_answer_is_an_abstention(refusal: str, river: str) -> None:
    with OpenAIStub(model(create=refusal)) as stub:
        state = await _ask(stub, river, synthesis="map_reduce", **CITED)
        assert _by_step(stub) == {"create": len(state["windows"])}
    assert state["abstained"]
    assert "I did not find the answer" in state["answer"]


async def test_the_llm_reranker_is_one_round(river: str) -> None:
    batches = {"strategy": "none", "rerank": "llm", "rerank_depth": 12, "rerank_batch": 4}
    with OpenAIStub(model()) as stub:
        first = await _ask(stub, river, **batches)
    with OpenAIStub(together(model(), *at_once(first))) as stub:
        state = await _ask(stub, river, **batches)
        fused = next(step for step in state["trace"] if step["node"] == "fuse")["counts"]["kept"]
        assert _by_step(stub) == {"rerank": math.ceil(fused / 4), "create": 1}
        assert stub.rounds() == state["usage"]["rounds"] == 2
        assert state["degraded"] == []
        assert state["candidates"][0]["fused"] > 1


async def test_up_to_twenty_candidates_are_reranked_in_one_call(river: str) -> None:
    with OpenAIStub(model()) as stub:
        state = await _ask(stub, river, strategy="none", rerank="llm", rerank_depth=20)
        assert _by_step(stub) == {"rerank": 1, "create": 1}
        assert stub.rounds() == state["usage"]["rounds"] == 2
        assert state["degraded"] == []
        assert state["candidates"][0]["fused"] > 1


async def test_grading_by_the_model_is_one_small_call(river: str) -> None:
    with OpenAIStub(model()) as stub:
        await _ask(stub, river, strategy="none", grade="llm")
        assert _by_step(stub) == {"grade": 1, "create": 1}


async def test_insufficient_evidence_leads_to_one_more_round_and_then_to_the_answer(river: str) -> None:
    verdict = Reply('{"sufficient": false, "missing": "the measures of the mayor"}')
    with OpenAIStub(model(grade=verdict)) as stub:
        state = await _ask(stub, river, grade="llm")
        assert _by_step(stub)["create"] == 1
        assert state["citations"]
        assert rounds_of(state) == 2
        again = [call.request.user for call in stub.calls if step_of(call.request) == "rewrite"]
        assert len(again) == 2
        assert again[1].endswith("\nWhat was not found: measures")


async def test_a_first_turn_is_not_condensed_and_a_second_is(river: str) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    from tests.graph.inside import build

    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    with OpenAIStub(model()) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, strategy="none")
        await compiled.ainvoke({"question": QUESTION}, config, context=context)
        assert _by_step(stub) == {"create": 1}
        state = await compiled.ainvoke({"question": "And when was it rebuilt?"}, config, context=context)
        assert _by_step(stub) == {"create": 2, "condense": 1}
        assert state["turn"]["standalone_question"] == "When was the Halden weir rebuilt?"
        assert [query["kind"] for query in state["queries"]] == ["condensed", "asked"]


async def test_planning_calls_never_see_a_passage(river: str) -> None:
    with OpenAIStub(model()) as stub:
        await _ask(stub, river)
        for call in stub.calls:
            if step_of(call.request) in ("rewrite", "condense"):
                assert "passage" not in call.request.user
                assert "relief channel" not in call.request.user
            assert "relief channel" not in call.request.system


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("SECRETFACT-77 is the combination of the safe", None),
        ("relief channel, measure against flood, SECRETFACT-77", "measures; floods"),
        ("nothing of the Hochwasser at HALDEN", "Halden"),
    ],
)
async def test_what_a_passage_made_a_judge_say_does_not_reach_the_queries(
    missing: str, told: str | None, river: str
) -> None:
    def grade(request: Request) -> Reply:
        assert "passage" in request.user
        return Reply(json.dumps({"sufficient": False, "missing": missing}))

    def rewrite(request: Request) -> Reply:
        return Reply("\n".join(f"{line} again" for line in request.user.splitlines()))

    with OpenAIStub(model(grade=grade, rewrite=rewrite)) as stub:
        state = await _ask(stub, river, grade="llm", top_k=1)
        asked = [call.request.user for call in stub.calls if step_of(call.request) == "rewrite"]
    assert len(asked) > 1
    assert f"Question: {QUESTION}" in asked[-1]
    assert "Already searched: " in asked[-1]
    assert ("What was not found: " in asked[-1]) == (told is not None)
    assert told is None or f"What was not found: {told}\n" in f"{asked[-1]}\n"
    assert not any("SECRETFACT" in text or "safe" in text for text in [*asked, *(q["text"] for q in state["queries"])])
