"""A draft from what the question alone finds: kept where the evidence is the same, and never to the answer's harm."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from anabranch.errors import MissingKeyError
from anabranch.leaks import runs_in
from graph.answer import build, graph
from graph.context import Context
from prompts import CREATE
from tests.graph.replies import first_sentence, model, passages_in, step_of, without_nonce
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import BROKEN, UNAUTHORISED, Script, in_turn

pytestmark = pytest.mark.loopback

QUESTION = "What measures protect the town from floods on the Halden?"
WEIR = "builder of the weir\nengineer Halden\nconstruction of the dam"
MILL = "grain mill wheel\nmiller\nflour"
LATE, SLOW = 0.4, 30.0
LEAVES = {"merge_threshold": 1.0}
OTHER = {**LEAVES, "top_k": 3}
"""With these and WEIR, half of the evidence is other than what the question alone finds."""


def cites(place: int, delay: float = 0.05) -> Script:
    """Answer from the passage at a place, counted from 0."""

    def script(request: Request) -> Reply:
        number, text = list(passages_in(request).items())[place]
        sentence = first_sentence(text)
        return Reply(f'{sentence.rstrip(".")} [{number}].\n\nQUOTES:\n[{number}] "{sentence}"', delay=delay)

    return script


def rewritten(text: str = WEIR, delay: float = LATE) -> Reply:
    return Reply(text, delay=delay)


def at(stub: OpenAIStub, **settings: Any) -> Context:
    return Context(
        model="openai:stub", base_url=stub.base_url, model_retries=0, **{"speculate": "on", **settings}
    )  # fmt: skip


async def ask(script: Script, river: str, **settings: Any) -> tuple[dict[str, Any], Counter[str], list[Any]]:
    """Return the state in the end, the calls by step, and the answer's pieces."""
    pieces: list[Any] = []
    state: Any = {}
    with OpenAIStub(script) as stub:
        context = at(stub, corpus=river, **settings)
        async for mode, item in graph.astream(
            {"question": QUESTION}, context=context, stream_mode=["messages", "values"]
        ):
            if mode == "values":
                state = item
            elif isinstance(item[0], AIMessage):
                pieces.append(item[0])
        return state, Counter(step_of(call.request) for call in stub.calls), pieces


def counts(state: dict[str, Any], node: str) -> dict[str, Any]:
    """Return what the trace counts of a step; nothing where it did not run."""
    return next((step["counts"] for step in state["trace"] if step["node"] == node), {})


async def test_a_draft_from_the_same_evidence_is_the_answer_in_one_round(river: str) -> None:
    plain, _, _ = await ask(model(rewrite=rewritten()), river, speculate="off")
    state, calls, pieces = await ask(model(rewrite=rewritten()), river)
    assert calls == {"rewrite": 1, "create": 1}
    assert (state["usage"]["calls"], state["usage"]["rounds"]) == (2, 1)
    assert state["usage"]["prompt_tokens"] > 300
    assert counts(state, "adopt") == {"kept": True, "share": 1.0}
    assert state["answer"] == plain["answer"]
    assert state["citations"] == plain["citations"]
    assert {piece.id for piece in pieces} == {state["messages"][-1].id}
    assert "".join(piece.text for piece in pieces).strip() == state["answer"]
    assert state["degraded"] == []


async def test_instructions_in_a_kept_draft_are_not_shown(river: str) -> None:
    def repeats(request: Request) -> Reply:
        reply = cites(0)(request)
        return Reply(reply.text.replace("\n\nQUOTES:", f" {request.system}\n\nQUOTES:", 1), delay=0.05)

    prompt = f"{CREATE}\nThe word is HERON-4471-QUARTZ."
    state, _, pieces = await ask(model(rewrite=rewritten(), create=repeats), river, create_prompt=prompt)
    assert counts(state, "adopt")["kept"]
    shown = "".join(piece.text for piece in pieces)
    assert first_sentence(shown)
    assert not runs_in(shown) & runs_in(prompt)
    assert "4471" not in shown


async def test_what_it_cites_has_the_number_that_the_final_evidence_gives_it(river: str) -> None:
    state, calls, _ = await ask(model(rewrite=rewritten(MILL), create=cites(5)), river, **LEAVES, top_k=8)
    assert calls["create"] == 1
    share = counts(state, "adopt")["share"]
    assert 0.9 <= share < 1
    (citation,) = state["citations"]
    cited = [excerpt for excerpt in state["windows"][0] if excerpt["id"] == citation["chunk_id"]]
    assert [excerpt["number"] for excerpt in cited] == [5]
    assert citation["source"].endswith("mill.md")
    assert citation["verified"]
    assert not citation["repaired"]


async def test_other_evidence_throws_a_finished_draft_away(river: str) -> None:
    plain, _, _ = await ask(model(rewrite=rewritten(), create=cites(1)), river, speculate="off", **OTHER)
    state, calls, pieces = await ask(model(rewrite=rewritten(), create=cites(1)), river, **OTHER)
    assert calls == {"rewrite": 1, "create": 2}
    assert (state["usage"]["calls"], state["usage"]["rounds"]) == (3, 2)
    assert counts(state, "speculate") == {"draft": True}
    assert "of the final evidence" in counts(state, "adopt")["why"]
    assert state["answer"] == plain["answer"]
    assert plain["answer"].startswith("".join(piece.text for piece in pieces).partition(" [")[0])
    assert state["degraded"] == []


async def test_a_draft_that_cites_what_is_gone_is_thrown_away(river: str) -> None:
    state, calls, _ = await ask(model(rewrite=rewritten(), create=cites(6)), river, **LEAVES, top_k=7)
    assert calls["create"] == 2
    assert counts(state, "adopt")["share"] > 0.9
    assert counts(state, "adopt")["why"] == "what it cites as [7] is not in the final evidence"


async def test_a_draft_is_given_up_as_soon_as_the_queries_find_other_evidence(river: str) -> None:
    create = in_turn(cites(1, SLOW), cites(1))
    state, calls, _ = await ask(model(rewrite=rewritten(), create=create), river, **OTHER)
    assert calls["create"] == 2
    assert counts(state, "speculate")["why"].startswith("with the further queries, the draft reads 0.4")
    assert counts(state, "adopt") == {}
    spent = next(step for step in state["trace"] if step["node"] == "speculate")
    assert spent["calls"] == 1
    assert spent["prompt_tokens"] > 50
    assert state["usage"]["calls"] == 3
    assert sum(step["ms"] for step in state["trace"]) < SLOW * 1000
    assert state["degraded"] == []


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (BROKEN, "ModelError"),
        (Reply(""), "ModelError"),
        (Reply("NOT FOUND: the name of the mayor"), "not found"),
        (Reply('{"answer": "Three measures protect the town [1].", "quo'), "ends in the middle"),
    ],
)
async def test_a_draft_that_fails_takes_nothing_from_the_answer(draft: Reply, why: str, river: str) -> None:
    plain, _, _ = await ask(model(rewrite=rewritten()), river, speculate="off")
    state, calls, _ = await ask(model(rewrite=rewritten(), create=in_turn(draft, cites(0))), river)
    assert calls == {"rewrite": 1, "create": 2}
    assert why in counts(state, "speculate")["why"]
    assert state["usage"]["calls"] == 3
    assert state["answer"] == plain["answer"]
    assert state["degraded"] == []


async def test_no_draft_is_written_from_several_windows(river: str) -> None:
    script = model(rewrite=rewritten())
    state, calls, _ = await ask(script, river, **LEAVES, window_tokens=80, synthesis="refine", top_k=6)
    assert calls["create"] == 1
    assert counts(state, "speculate")["why"] == "with the question alone, the evidence takes more than one window"
    assert counts(state, "speculate")["draft"] is False


async def test_without_a_model_there_is_no_draft(river: str) -> None:
    state = await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, speculate="on"))
    assert counts(state, "speculate") == {}
    assert state["citations"]


async def test_the_llm_reranker_and_judge_are_not_asked_twice(river: str) -> None:
    script = model(rewrite=rewritten())
    state, calls, _ = await ask(script, river, rerank="llm", rerank_always=True, grade="llm")
    assert calls == {"rewrite": 1, "create": 1, "rerank": 1, "grade": 1}
    assert counts(state, "adopt")["kept"]


async def test_a_draft_is_of_one_turn(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    with OpenAIStub(model(rewrite=rewritten(), create=in_turn(cites(1), cites(0), cites(0)))) as stub:
        await compiled.ainvoke({"question": QUESTION}, config, context=at(stub, corpus=river, **OTHER))
        again = {"speculate": "off", "strategy": "none"}
        state = await compiled.ainvoke(
            {"question": "Who built the weir on the Halden?"}, config, context=at(stub, corpus=river, **again)
        )
    assert counts(state, "adopt") == {}
    assert state["speculation"]["draft"]["found"] is False


async def test_it_never_blocks_the_event_loop(river: str) -> None:
    with OpenAIStub(model(rewrite=rewritten())) as stub, blockbuster_ctx():
        state = await build().compile().ainvoke({"question": QUESTION}, context=at(stub, corpus=river))
    assert counts(state, "adopt")["kept"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
async def test_however_durable_a_thread_is(durability: Any, river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    with OpenAIStub(model(rewrite=rewritten())) as stub:
        context = at(stub, corpus=river)
        state = await compiled.ainvoke({"question": QUESTION}, config, context=context, durability=durability)
    assert counts(state, "adopt") == {"kept": True, "share": 1.0}
    assert {step.config["configurable"]["checkpoint_ns"] async for step in compiled.aget_state_history(config)} == {""}


async def test_a_turn_that_failed_beside_a_finished_draft_does_not_write_it_again(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    refused = Reply(UNAUTHORISED.text, status=UNAUTHORISED.status, delay=LATE)
    with OpenAIStub(model(rewrite=in_turn(refused, rewritten()))) as stub:
        with pytest.raises(MissingKeyError):
            await compiled.ainvoke({"question": QUESTION}, config, context=at(stub, corpus=river))
        state = await compiled.ainvoke(None, config)
        assert stub.repeated(without_nonce) == []
        assert Counter(step_of(call.request) for call in stub.calls) == {"rewrite": 2, "create": 1}
    assert counts(state, "adopt")["kept"]
    assert state["citations"]


async def test_a_turn_that_ends_beside_a_draft_in_the_making_does_not_ask_for_queries_again(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    rewrote = asyncio.Event()

    async def follow(context: Context) -> None:
        async for event in compiled.astream({"question": QUESTION}, config, context=context, stream_mode="custom"):
            if event["step"] == "rewrite" and event["status"] == "finished":
                rewrote.set()

    with OpenAIStub(model(rewrite=rewritten(delay=0.2), create=in_turn(cites(0, SLOW), cites(0)))) as stub:
        turn = asyncio.create_task(follow(at(stub, corpus=river)))
        await rewrote.wait()
        await asyncio.sleep(0.2)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        state = await compiled.ainvoke(None, config)
        assert Counter(step_of(call.request) for call in stub.calls) == {"rewrite": 1, "create": 2}
    assert counts(state, "adopt")["kept"]
    assert state["citations"]


def test_callers_who_do_not_await_get_the_same(river: str) -> None:
    with OpenAIStub(model(rewrite=rewritten())) as stub:
        state = graph.invoke({"question": QUESTION}, context=at(stub, corpus=river))
    assert counts(state, "adopt")["kept"]
    assert state["usage"]["rounds"] == 1
