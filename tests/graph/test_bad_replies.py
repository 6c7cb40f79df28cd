"""What models write instead of an answer, on every route: the turn ends, says so, and loses nothing that was good."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from tests.graph.inside import graph
from tests.graph.replies import model, written
from tests.servers.calls import Request
from tests.servers.clock import Clock, hurried
from tests.servers.loopback import Reply, Script
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import DRIP, SILENT, echo

pytestmark = pytest.mark.loopback

QUESTION = "What measures protect the town from floods on the Halden?"
SMALL = {"window_tokens": 64, "strategy": "none", "merge_threshold": 1.0, "top_k": 5}
ROUTES = ("create", "stuff", "refine", "map_reduce", "map_reduce with reduction")
FRENCH = "La ville est protégée par une digue et par un canal de dérivation construit après la crue."


def guard(request: Request) -> Reply:
    """Repeat the system message."""
    return Reply(request.system)


def instructions(request: Request) -> Reply:
    """Repeat what was asked for at the end."""
    return Reply(request.user.rpartition("\n\n")[2])


def question(request: Request) -> Reply:
    """Ask back what was asked."""
    return Reply(QUESTION)


def huge(request: Request) -> Reply:
    """Write a hundred kilobytes."""
    return Reply(f"{written(request).text} " * 2_000)


def half(request: Request) -> Reply:
    """Stop in the middle of a word."""
    text = written(request).text
    return Reply(text[: int(len(text) * 0.8)])


BAD: dict[str, Script | Reply | str] = {
    "empty": "",
    "blank": " \n\n ",
    "thoughts only": "<think>Let me see what the passages say about this.",
    "refusal": "I'm sorry, but I cannot answer that.",
    "French": FRENCH,
    "French refusal": "Je ne sais pas.",
    "no JSON": "Well, there is a lot to say about floods. Towns are protected in many ways.",
    "JSON for the next program": '{"tool": "search", "query": "floods"}',
    "open JSON": '{"action": "revise", "answer": "The town is pro',
    "half": half,
    "100 kB": huge,
    "prompt": echo,
    "system message": guard,
    "instructions": instructions,
    "question": question,
    "cut connection": Reply("The town is protected by a wall. " * 9, cut=True),
    "silent": SILENT,
    "never stops": DRIP,
}
UNUSABLE = {
    "empty",
    "blank",
    "thoughts only",
    "prompt",
    "system message",
    "instructions",
    "question",
    "silent",
    "never stops",
}


async def _ask(
    river: str, stub: OpenAIStub, route: str, *, clock: Clock | None = None, **settings: Any
) -> dict[str, Any]:
    """Ask; with a clock, read along, and let time pass once two sentences have come."""
    name, _, reduction = route.partition(" with ")
    synthesis = {"create": "auto"}.get(name, name)
    small = {"strategy": "none"} if route == "create" else {**SMALL, "answer_form": "cited" if reduction else "plain"}
    server = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
    context = Context(corpus=river, synthesis=synthesis, **{**small, **server, **settings})
    if clock is None:
        return await graph.ainvoke({"question": QUESTION}, context=context)
    modes: Any = ["messages", "values"]
    state: dict[str, Any] = {}
    heard = ""
    async for mode, item in graph.astream({"question": QUESTION}, context=context, stream_mode=modes):
        if mode == "values":
            state = item
        else:
            heard += item[0].text
            if heard.count(". ") > 1:
                clock.skip()
    return state


# Each kind on one route, and each route with kinds that are of use and with some of none: what takes the words from a
# reply is the same on all, and what goes on without any is each route's own.
@pytest.mark.parametrize(
    ("kind", "route"),
    [
        pytest.param(kind, route, marks=[] if (at + number) % len(ROUTES) == 0 else pytest.mark.exhaustive)
        for at, kind in enumerate(BAD)
        for number, route in enumerate(ROUTES)
    ],
)
async def test_a_model_that_is_bad_throughout(kind: str, route: str, river: str) -> None:
    bad = BAD[kind]
    with OpenAIStub(hurried(model(create=bad, refine=bad, map=bad, reduce=bad))) as stub:
        state = await _ask(river, stub, route)
        assert len(stub.calls) <= 2 * len(state["windows"]) + 1
    # Each window's answer is cut at answer_tokens; plain ones stand one after the other.
    parts = len(state["windows"]) if route == "map_reduce" else 1
    assert 10 < len(state["answer"]) < max(20_000, 10_000 * parts)
    # The claims are the citations and the unconfirmed ones, which are counted already.
    counted = {key: value for key, value in state.items() if key not in ("messages", "claims")}
    assert len(json.dumps(counted)) < max(200_000, 50_000 * parts)
    assert "<passages-" not in state["answer"]
    assert (state["status"] == "answered") == bool(state["citations"])
    assert state["abstained"] == (state["status"] == "not_found")
    assert all(citation["grade"] in ("quoted", "found") for citation in state["citations"])
    if kind in UNUSABLE:
        # Nobody has read the passages, so verbatim sentences answer, and it is said why.
        assert state["citations"]
        assert any(item["step"].split(":")[0] in ("create", "map") for item in state["degraded"])


@pytest.fixture(scope="module")
def good(river: str) -> dict[str, dict[str, Any]]:
    """What a good model makes of the question, on the routes that a bad reply is compared with."""

    async def each() -> dict[str, dict[str, Any]]:
        with OpenAIStub(model()) as stub:
            return {route: await _ask(river, stub, route) for route in ("stuff", "map_reduce with reduction")}

    return asyncio.run(each())


def _every_second(first: int, of: list[str]) -> list[Any]:
    """Leave the others to `make exhaustive`: a revision and a joined answer are read by the same code."""
    return [pytest.param(kind, marks=[] if at % 2 == first else pytest.mark.exhaustive) for at, kind in enumerate(of)]


PART = ("half", "100 kB")
"""What has something of a good answer in it."""
WHOLLY_BAD = [kind for kind in BAD if kind not in PART]


@pytest.mark.parametrize("kind", _every_second(0, WHOLLY_BAD))
async def test_no_bad_revision_replaces_a_good_answer(kind: str, river: str, good: dict[str, dict[str, Any]]) -> None:
    with OpenAIStub(hurried(model(refine=BAD[kind]))) as stub:
        state = await _ask(river, stub, "refine")
        assert len(state["windows"]) > 3
    assert state["answer"] == good["stuff"]["answer"]
    assert state["citations"] == good["stuff"]["citations"]


@pytest.mark.parametrize("kind", [*_every_second(1, WHOLLY_BAD), *PART])
async def test_no_bad_joining_loses_a_partial_answer(kind: str, river: str, good: dict[str, dict[str, Any]]) -> None:
    whole = good["map_reduce with reduction"]
    with OpenAIStub(hurried(model(reduce=BAD[kind]))) as stub:
        state = await _ask(river, stub, "map_reduce with reduction")
    if kind in PART:
        assert state["citations"]  # an answer that cites passages, even if it leaves some out
    else:
        assert {citation["quote"] for citation in state["citations"]} == {c["quote"] for c in whole["citations"]}


@pytest.mark.parametrize(
    "bad",
    [Reply("", status=500), "", "The passages do not say.", echo],
    ids=["refused", "empty", "refusal", "echo"],
)
async def test_one_window_that_fails_leaves_the_others(bad: Script | Reply | str, river: str) -> None:
    def some(request: Request) -> Reply:
        from tests.graph.replies import passages_in
        from tests.servers.scripts import as_script

        return as_script(bad)(request) if 2 in passages_in(request) else written(request)

    with OpenAIStub(model(map=some)) as stub:
        state = await _ask(river, stub, "map_reduce")
    assert len(state["citations"]) >= 3
    assert all(citation["chunk_id"] != state["windows"][1][0]["id"] for citation in state["citations"])


@pytest.mark.parametrize(("route", "step"), [("refine", "refine"), ("map_reduce with reduction", "reduce")])
async def test_a_prompt_refused_for_its_length_loses_no_answer(route: str, step: str, river: str) -> None:
    with OpenAIStub(model(**{step: Reply("maximum context length exceeded", status=400)})) as stub:
        state = await _ask(river, stub, route)
    assert state["citations"]
    assert any(step in item["step"] and "context length" in item["reason"] for item in state["degraded"])


async def test_an_answer_that_breaks_off_keeps_the_sentences_that_were_written(river: str) -> None:
    def over_and_over(request: Request) -> Reply:
        return Reply(f"{written(request).text} ", endless=True, chunk_delay=0.02)

    with OpenAIStub(model(create=over_and_over)) as stub:
        state = await _ask(river, stub, "create", clock=Clock())
    assert not state["abstained"]
    assert state["route"]["name"] == "create"
    assert any("had written before that" in item["reason"] for item in state["degraded"])


@pytest.mark.parametrize("step", ["rewrite", "grade", "rerank"])
@pytest.mark.parametrize("kind", ["empty", "open JSON", "never stops"])
async def test_bad_planning_still_gives_the_answer(kind: str, step: str, river: str) -> None:
    settings: dict[str, Any] = {
        "rewrite": {"strategy": "multi"},
        "grade": {"grade": "llm"},
        "rerank": {"rerank": "llm", "rerank_depth": 6},
    }
    with OpenAIStub(hurried(model(**{step: BAD[kind]}))) as stub:
        state = await _ask(river, stub, "create", **settings[step])
        assert len(stub.calls) <= 5
    assert state["citations"], (state["evidence"], state["degraded"])


async def test_a_huge_reply_to_each_step_stays_small_in_the_state(river: str) -> None:
    tale = Reply("The gate of the mill was painted green. " * 2_500)
    with OpenAIStub(model(condense=tale, rewrite=tale, grade=tale, rerank=tale)) as stub:
        state = await _ask(river, stub, "create", strategy="multi", grade="llm", rerank="llm")
    assert state["citations"]
    assert len(json.dumps({key: value for key, value in state.items() if key != "messages"})) < 100_000
