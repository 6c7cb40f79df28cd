"""The tree of map and reduce: what runs side by side, what a run that was cut off repeats, and where it ends."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from anabranch.agent.nodes.settings import Context
from anabranch.retrieval import llm_retriever
from tests.graph.inside import build, graph
from tests.graph.levels import most_at_once, twenty_notes
from tests.graph.replies import at_once, model, passages_in, step_of, without_nonce, written
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import SILENT, together

pytestmark = pytest.mark.loopback

QUESTION = "What measures protect the town from floods on the Halden?"
SMALL = {
    "window_tokens": 64, "strategy": "none", "merge_threshold": 1.0, "top_k": 6, "synthesis": "map_reduce",
    "answer_form": "cited",
}  # fmt: skip


def _context(river: str, stub: OpenAIStub, **settings: Any) -> Context:
    server = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
    return Context(corpus=river, **{**SMALL, **server, **settings})


@pytest.mark.parametrize("most", [2, 8])
async def test_calls_of_a_level_run_at_the_same_time_up_to_the_bound(most: int, river: str) -> None:
    with OpenAIStub(model()) as stub:
        first = await graph.ainvoke({"question": QUESTION}, context=_context(river, stub, fan_in=2))
    waves = [min(most, level - done) for level in at_once(first) for done in range(0, level, most)]
    with OpenAIStub(together(model(), *waves)) as stub:
        config: Any = {"max_concurrency": most}
        state = await graph.ainvoke({"question": QUESTION}, config, context=_context(river, stub, fan_in=2))
        assert len(state["windows"]) >= 4
        assert most_at_once(stub, "create") == min(most, len(state["windows"]))
        parts = next(step["counts"]["parts"] for step in state["trace"] if step["node"] == "gather")
        assert most_at_once(stub, "reduce") == min(most, parts // 2)


@pytest.fixture(scope="module")
def parish(tmp_path_factory: pytest.TempPathFactory) -> str:
    return twenty_notes(tmp_path_factory.mktemp("parish"))


@pytest.mark.parametrize(
    ("synchronous", "config", "most"),
    [
        pytest.param(False, {}, 8, marks=pytest.mark.exhaustive),
        (False, {"max_concurrency": 2}, 2),
        (True, {}, 8),
        pytest.param(True, {"max_concurrency": 2}, 2, marks=pytest.mark.exhaustive),
    ],
)
async def test_no_more_windows_are_read_at_once_than_the_run_may(
    synchronous: bool, config: Any, most: int, parish: str
) -> None:
    given: Any = {"question": QUESTION}
    waves = [min(most, 20 - done) for done in range(0, 20, most)]
    with OpenAIStub(together(model(), *waves)) as stub:
        context = _context(parish, stub, top_k=20, depth=40, fan_in=20)
        state = (
            await asyncio.to_thread(graph.invoke, given, config, context=context)
            if synchronous
            else await graph.ainvoke(given, config, context=context)
        )
        assert len(state["windows"]) == 20
        assert most_at_once(stub, "create") == most


@pytest.mark.parametrize(("config", "most"), [({}, 8), ({"max_concurrency": 2}, 2)])
async def test_the_batches_of_one_step_keep_to_the_same_bound(
    config: Any, most: int, parish: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm_retriever, "BATCH", 2)
    plain = model()
    held = {step: together(plain, most) for step in ("retrieve", "rerank")}
    with OpenAIStub(lambda request: held.get(step_of(request), plain)(request)) as stub:
        judge = {"rerank": "llm", "rerank_batch": 2}
        reader = {"retrievers": ("bm25", "llm")}
        context = _context(parish, stub, top_k=6, synthesis="stuff", max_model_calls=64, **reader, **judge)
        await graph.ainvoke({"question": QUESTION}, config, context=context)
        assert most_at_once(stub, "retrieve") == most
        assert most_at_once(stub, "rerank") == most


# LangGraph itself forgets the coroutines of the branches that still wait for their turn when a run is cancelled.
@pytest.mark.filterwarnings("ignore:coroutine 'arun_with_retry' was never awaited:RuntimeWarning")
@pytest.mark.parametrize("step", ["create", "reduce"])
async def test_a_run_cut_off_within_a_level_repeats_no_finished_call(step: str, river: str) -> None:
    def one_hangs(request: Request) -> Reply:
        done = any(step_of(call.request) == step for call in stub.calls if call.finished)
        return SILENT if step_of(request) == step and done else good(request)

    good = model()
    compiled = build().compile(checkpointer=InMemorySaver())
    # One call at a time, so that it is certain which is finished when the run ends.
    config: Any = {"configurable": {"thread_id": step}, "max_concurrency": 1}
    with OpenAIStub(one_hangs) as stub:
        context = _context(river, stub, fan_in=2)
        run = asyncio.create_task(compiled.ainvoke({"question": QUESTION}, config, context=context))
        while not _hanging(stub, step):
            await asyncio.sleep(0.02)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        finished = Counter(step_of(call.request) for call in stub.calls if call.succeeded)
        assert finished[step] >= 1
        stub.script = good
        state = await compiled.ainvoke(None, config)
        assert stub.repeated(without_nonce) == []
        done = Counter(step_of(call.request) for call in stub.calls if call.succeeded)
    with OpenAIStub(good) as stub:
        whole = await graph.ainvoke({"question": QUESTION}, context=_context(river, stub, fan_in=2))
        assert done == Counter(step_of(call.request) for call in stub.calls)
    assert state["answer"] == whole["answer"]
    assert state["citations"] == whole["citations"]


def _hanging(stub: OpenAIStub, step: str) -> bool:
    """Tell whether one call of a step is done and the next one hangs."""
    calls = [call for call in stub.calls if step_of(call.request) == step]
    return len(calls) == 2 and calls[0].finished is not None


async def test_answers_that_do_not_shrink_end_the_tree_and_all_of_them_stay(river: str) -> None:
    def long(request: Request) -> Reply:
        return Reply(" ".join([written(request).text] * 40))

    with OpenAIStub(model(map=long)) as stub:
        context = _context(river, stub, fan_in=4, answer_tokens=300, context_tokens=1100)
        state = await graph.ainvoke({"question": QUESTION}, context=context)
        windows = len(state["windows"])
        assert windows >= 4
        assert len(stub.calls) <= 2 * windows
    assert any("too long to be joined" in item["reason"] for item in state["degraded"])
    assert len({citation["chunk_id"] for citation in state["citations"]}) >= windows - 1


async def test_an_answer_that_is_alone_goes_up_as_it_is(river: str) -> None:
    def some(request: Request) -> Reply:
        return written(request) if min(passages_in(request)) <= 4 else Reply("The passages do not say.")

    with OpenAIStub(model(map=some)) as stub:
        state = await graph.ainvoke({"question": QUESTION}, context=_context(river, stub, fan_in=2))
        steps = Counter(step_of(call.request) for call in stub.calls)
    # Three windows say what stands there: two are joined, the third waits a level, and then the two are.
    assert steps == {"create": len(state["windows"]), "reduce": 2}
    gathered = [step["counts"] for step in state["trace"] if step["node"] == "gather"]
    assert [(counts["parts"], counts["groups"]) for counts in gathered] == [(3, 2), (2, 1), (1, 0)]
    assert [item["step"] for item in state["degraded"]] == ["gather"]


def _count_joins(parts: int, fan_in: int) -> list[int]:
    """Return the joins of each level until one answer is left; a group of one is taken as it is."""
    levels = []
    while parts > 1:
        levels.append(math.ceil(parts / fan_in) - (parts % fan_in == 1))
        parts = math.ceil(parts / fan_in)
    return levels


@pytest.mark.parametrize("fan_in", [2, 3, 10])
@pytest.mark.parametrize("form", ["plain", "cited", "object", "chosen by the evidence"])
async def test_a_tree_joins_until_one_answer_is_left_whatever_the_model(form: str, fan_in: int, parish: str) -> None:
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    with OpenAIStub(model()) as stub:
        given: dict[str, Any] = {"top_k": 11, "fan_in": fan_in, "answer_form": "cited" if form == "cited" else "auto"}
        if form == "object":
            stub_model = ChatOpenAI(model="stub", base_url=stub.base_url, api_key=SecretStr("unused"), max_retries=0)
            given |= {"model": stub_model, "base_url": None}
        if form == "chosen by the evidence":
            given["synthesis"] = "auto"
        state = await graph.ainvoke({"question": QUESTION}, context=_context(parish, stub, **given))
        steps = Counter(step_of(call.request) for call in stub.calls)
    assert state["route"]["name"] == "map_reduce"
    windows = len(state["windows"])
    levels = _count_joins(windows, fan_in)
    assert windows == 11
    assert steps == {"create": windows, "reduce": sum(levels)}
    assert at_once(state) == [windows, *levels]
    assert state["degraded"] == []
    # The last answer has what stands in each window.
    assert {f"Measure {number}" in state["answer"] for number in _numbers(state)} == {True}


def _numbers(state: dict[str, Any]) -> set[str]:
    return {passage["source"].removesuffix(".md") for passage in state["passages"]}


@pytest.mark.parametrize("form", ["plain", "cited"])
async def test_what_a_tree_leaves_out_is_said(form: str, parish: str) -> None:
    def some(request: Request) -> Reply:
        number = min(passages_in(request))
        if number == 2:
            return Reply("no", status=500)
        return Reply("The passages do not say.") if number in (4, 5) else written(request)

    with OpenAIStub(model(map=some)) as stub:
        state = await graph.ainvoke({"question": QUESTION}, context=_context(parish, stub, answer_form=form))
        steps = Counter(step_of(call.request) for call in stub.calls)
    assert len(state["windows"]) == 6
    assert steps == {"create": 6, "reduce": 1}
    assert [item["step"] for item in state["degraded"]] == ["map:2", "gather"]
    left_out = state["degraded"][1]["reason"]
    assert left_out.startswith("2 of 5 partial answers are left out: ")
    assert state["route"]["reasons"][-2:] == ["1 of 6 windows have no partial answer", left_out]


@pytest.mark.parametrize("limit", [{"max_model_calls": 6}, {"max_tokens": 6_000}])
async def test_a_budget_that_forbids_a_join_is_said(limit: dict[str, int], parish: str) -> None:
    with OpenAIStub(model()) as stub:
        state = await graph.ainvoke(
            {"question": QUESTION}, context=_context(parish, stub, answer_form="plain", **limit)
        )
        assert "reduce" not in {step_of(call.request) for call in stub.calls}
    (name,) = limit
    assert any(reason.startswith("map_reduce takes ") and name in reason for reason in state["route"]["reasons"])
