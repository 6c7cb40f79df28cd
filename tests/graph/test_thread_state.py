"""Threads that somebody edited, or that somebody else goes on with: bounds hold where values are used."""

from __future__ import annotations

import asyncio
import json
from itertools import count, product
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError, ThreadStateError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from anabranch.types import NO_CHAIN
from tests.graph.inside import build
from tests.graph.replies import model, written
from tests.servers.calls import Request
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply
from tests.turn_records import turn_record

QUESTION = "What measures protect the town from floods on the Halden?"
CONFIG: Any = {"configurable": {"thread_id": "t"}}
SMALL: Any = {"window_tokens": 80, "merge_threshold": 1.0, "top_k": 6, "fan_in": 2}


async def stopped(context: Context, *, before: str, question: str = QUESTION) -> Any:
    """Run a turn up to a step."""
    compiled = build().compile(checkpointer=InMemorySaver(), interrupt_before=[before])
    await compiled.ainvoke({"question": question}, CONFIG, context=context)
    assert before in (await compiled.aget_state(CONFIG)).next
    return compiled


def draft(text: str) -> dict[str, Any]:
    return {"answer": text, "window": 1, "keeps": 0}


@pytest.mark.loopback
async def test_no_more_windows_are_read_than_the_question_may_cost(river: str) -> None:
    with OpenAIStub(model()) as stub:
        context = Context(
            corpus=river, model="openai:stub", base_url=stub.base_url, synthesis="map_reduce", strategy="none", **SMALL
        )
        compiled = await stopped(context, before="pack")
        excerpt = {"number": 1, "id": "x", "start": 0, "end": 10}
        forged = {"windows": [[excerpt]] * 10_000, "route": {"name": "map_reduce", "reasons": []}}
        with pytest.raises(ThreadStateError, match="max_model_calls leaves 100"):
            await compiled.aupdate_state(CONFIG, forged, as_node="pack")
            await compiled.ainvoke(None, CONFIG, context=context)
        assert len(stub.calls) == 0


@pytest.mark.loopback
async def test_no_more_partial_answers_are_joined_than_the_question_may_cost(river: str) -> None:
    with OpenAIStub(model()) as stub:
        context = Context(
            corpus=river, model="openai:stub", base_url=stub.base_url, synthesis="map_reduce", strategy="none", **SMALL
        )
        compiled = await stopped(context, before="gather")
        calls = len(stub.calls)
        forged = [{"level": 0, "index": n, "draft": draft("x"), "group": n // 2, "score": 1.0} for n in range(1000)]
        with pytest.raises(ThreadStateError, match="model calls"):
            await compiled.aupdate_state(CONFIG, {"partials": forged}, as_node="gather")
            await compiled.ainvoke(None, CONFIG, context=context)
        assert len(stub.calls) == calls


@pytest.mark.loopback
async def test_refining_ends_with_the_budget_and_keeps_the_answer(river: str) -> None:
    with OpenAIStub(model()) as stub:
        context = Context(
            corpus=river, model="openai:stub", base_url=stub.base_url, synthesis="refine", strategy="none",
            max_model_calls=12, **SMALL,
        )  # fmt: skip
        compiled = await stopped(context, before="refine")
        windows = (await compiled.aget_state(CONFIG)).values["windows"]
        # Windows that the model keeps reading: what each brings is new to it.
        rounds = count()

        def new(request: Request) -> Reply:
            words = written(request).text.split()
            return Reply(" ".join(words[: len(words) - next(rounds) // len(windows)]))

        stub.script = model(refine=new)
        await compiled.aupdate_state(CONFIG, {"windows": [*windows, *windows * 50]}, as_node="create")
        state = await compiled.ainvoke(None, CONFIG, context=context)
        while (await compiled.aget_state(CONFIG)).next:
            state = await compiled.ainvoke(None, CONFIG, context=context)
        assert len(stub.calls) <= 12
        assert any("max_model_calls" in item["reason"] for item in state["degraded"])
        assert state["answer"]


LINK = {"asked": "Who?", "value": "Ida", "chunk_id": "x", "start": 0, "end": 3, "query": "Where?", "hop": 1}
BROKEN: list[dict[str, Any]] = [
    {"queries": [{"text": "x", "weight": 1.0, "kind": "asked"}] * 10_000},
    {"queries": [{"text": 7, "weight": "much", "kind": None}]},
    {"queries": "x"},
    {"draft": draft("The Halden rose. " * 60_000)},
    {"draft": {}},
    {"windows": [[{"number": "1", "id": [], "start": 0, "end": 1}]]},
    {"candidates": [{"id": "x"}]},
    {"evidence": []},
    {"turn": turn_record(question="x" * 1_000_000)},
    {"passages": [{"id": "x", "score": 1.0, "leaves": "abc", "source": 1, "page": None, "preview": ""}]},
    {"turn": turn_record(settings=[])},
    {"turn": {}},
    {"external_passages": {"x": {"chunk_id": "x"}}},
    {"chain": []},
    {"chain": {**NO_CHAIN, "steps": ["Who is {found}?"] * 11}},
    {"chain": {**NO_CHAIN, "links": [LINK] * 51}},
    {"chain": {**NO_CHAIN, "links": [{**LINK, "hop": 0}]}},
    {"chain": {**NO_CHAIN, "links": [{**LINK, "value": "x" * 201}]}},
    {"chain": {**NO_CHAIN, "leaves": ["x"] * 1_001}},
    {"chain": {**NO_CHAIN, "before": [{"id": "x"}]}},
]


FOUND = ("candidates", "passages", "evidence", "chain")
"""What the search writes anew, whatever was there before it."""

EDITS = [
    (edit, step)
    for edit in BROKEN
    for step in ("begin", "retrieval", "pack", "create")
    if step != "begin" or not set(edit) & set(FOUND)
]


@pytest.fixture(scope="module")
def almost_done(river: str) -> Any:
    """A turn up to its last step, and its checkpoint: each edit branches off there."""
    compiled = asyncio.run(stopped(Context(corpus=river), before="finish"))
    return compiled, compiled.get_state(CONFIG).config


@pytest.mark.parametrize(("edit", "as_node"), EDITS, ids=lambda value: value if isinstance(value, str) else min(value))
async def test_what_a_step_cannot_use_is_said_and_asked_of_nobody(
    edit: dict[str, Any], as_node: str, river: str, almost_done: Any
) -> None:
    context = Context(corpus=river)
    compiled, checkpoint = almost_done
    with pytest.raises((ThreadStateError, SettingsError), match=f"this thread cannot be used.*{next(iter(edit))}|kept"):
        await compiled.aupdate_state(checkpoint, edit, as_node=as_node)
        await compiled.ainvoke(None, CONFIG, context=context)
        await compiled.ainvoke(None, CONFIG, context=context)


async def test_a_thread_without_a_turn_says_so(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    with pytest.raises(ThreadStateError, match="it has no"):
        await compiled.aupdate_state(CONFIG, {"queries": []}, as_node="retrieval")
        await compiled.ainvoke(None, CONFIG, context=Context(corpus=river))


@pytest.fixture(scope="module")
def locked_away(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A corpus in which only the board may read who buys the weir."""
    folder = tmp_path_factory.mktemp("locked")
    rows = [
        {"id": "a", "title": "Sale", "text": "The Halden weir will be sold to CANARYBUYER for 3 million dollars. " * 9,
         "access": ["board"]},
        {"id": "b", "title": "Weir", "text": "The Halden weir was built of oak by Ida Marrow in 1897. " * 9},
    ]  # fmt: skip
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ingest([folder / "rows.jsonl"], folder / "corpus")
    return str(folder / "corpus")


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("synthesis", "before"),
    [("stuff", "retrieval"), ("stuff", "pack"),
     ("stuff", "cite"), ("stuff", "finish"), ("refine", "refine"), ("map_reduce", "gather"),
     ("map_reduce", "reduce"), ("map_reduce", "cite")],
)  # fmt: skip
async def test_a_run_is_finished_only_for_whoever_has_the_tags_that_it_began_with(
    synthesis: str, before: str, locked_away: str
) -> None:
    question = "Who will the Halden weir be sold to?"
    said = "The Halden weir will be sold to CANARYBUYER for 3 million dollars. [1]"
    with OpenAIStub(
        model(create=lambda request: Reply(said) if said[:40] in request.user else written(request))
    ) as stub:
        wanted: Any = {
            "corpus": locked_away, "model": "openai:stub", "base_url": stub.base_url, "synthesis": synthesis,
            "answer_form": "cited", **SMALL,
        }  # fmt: skip
        compiled = build().compile(checkpointer=InMemorySaver(), interrupt_before=[before])
        await compiled.ainvoke({"question": question}, CONFIG, context=Context(**wanted, access=("board",)))
        assert before in (await compiled.aget_state(CONFIG)).next
        calls = len(stub.calls)
        others: list[tuple[str, ...]] = [(), ("staff",), ("board", "staff")]
        for access, settings in product(others, (wanted, {})):
            with pytest.raises(SettingsError, match="other access tags"):
                await compiled.ainvoke(None, CONFIG, context=Context(**settings, access=access))
        assert len(stub.calls) == calls  # nothing was sent on another's behalf
        # What was begun is not lost: its owner goes on.
        state: dict[str, Any] = {}
        while (await compiled.aget_state(CONFIG)).next:
            state = await compiled.ainvoke(None, CONFIG, context=Context(access=("board", "board")))
        assert "CANARYBUYER" in state["answer"]


async def test_a_review_shows_nothing_to_somebody_else(locked_away: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    context = Context(corpus=locked_away, access=("board",), review="sources")
    paused = await compiled.ainvoke({"question": "Who will the Halden weir be sold to?"}, CONFIG, context=context)
    assert "CANARYBUYER" in str(paused["__interrupt__"])
    with pytest.raises(SettingsError, match="other access tags"):
        await compiled.ainvoke(Command(resume="nonsense"), CONFIG, context=Context(corpus=locked_away))


async def test_tags_are_not_told_by_the_thread(locked_away: str) -> None:
    context = Context(corpus=locked_away, access=("board",))
    compiled = await stopped(context, before="cite", question="Who will the Halden weir be sold to?")
    values = (await compiled.aget_state(CONFIG)).values
    assert "board" not in json.dumps(
        {name: value for name, value in values.items() if name in ("settings", "access_digest")}
    )


@pytest.mark.loopback
async def test_a_trace_that_gives_money_back_is_refused(river: str) -> None:
    """Figures below nothing would make the budget larger, whatever the operator fixed."""
    with OpenAIStub(model()) as stub:
        context = Context(
            corpus=river, model="openai:stub", base_url=stub.base_url, synthesis="map_reduce", strategy="none", **SMALL
        )
        compiled = await stopped(context, before="pack")
        excerpt = {"number": 1, "id": "x", "start": 0, "end": 10}
        step = {"node": "x", "round": "0", "ms": 0.0, "calls": -100_000, "prompt_tokens": 0, "output_tokens": 0}
        forged = {
            "windows": [[excerpt]] * 10_000,
            "route": {"name": "map_reduce", "reasons": []},
            "trace": [{**step, "counts": {}}],
        }
        with pytest.raises(ThreadStateError, match=r"trace.*greater than or equal to 0"):
            await compiled.aupdate_state(CONFIG, forged, as_node="pack")
            await compiled.ainvoke(None, CONFIG, context=context)
        assert len(stub.calls) == 0


async def test_long_messages_of_before_are_no_reason_to_refuse_a_question(river: str) -> None:
    messages = [("human", "The mill. " * 2_400), ("ai", "Yes."), ("human", "Who built the Halden weir?")]
    state = await build().compile().ainvoke({"messages": messages}, context=Context(corpus=river))  # type: ignore[arg-type]
    assert "Ida Marrow" in state["answer"]


@pytest.mark.loopback
async def test_a_chain_that_was_written_into_a_thread_opens_no_passage_of_others(locked_away: str) -> None:
    """Its link names a passage of the board's; the caller is shown no word of it, and no further search is made."""
    question = "Who built the Halden weir of oak?"
    opened = await open_corpus(locked_away)
    names = await opened.search("bm25", ["CANARYBUYER"], 5, Scope(access=("board",)))
    secret = names[0]["ids"][0]
    with OpenAIStub(model()) as stub:
        context = Context(corpus=locked_away, model="openai:stub", base_url=stub.base_url, strategy="none")
        for before in ("pack", "cite"):
            compiled = build().compile(checkpointer=InMemorySaver(), interrupt_before=[before])
            await compiled.ainvoke({"question": question}, CONFIG, context=context)
            values = (await compiled.aget_state(CONFIG)).values
            leaves = [leaf for passage in values["passages"] for leaf in passage["leaves"]]
            link = {**LINK, "chunk_id": secret, "value": "CANARYBUYER", "start": 32, "end": 43}
            forged = {**NO_CHAIN, "steps": ["Who?", "Where is {found}?"], "links": [link], "leaves": [*leaves, secret]}
            await compiled.aupdate_state(
                CONFIG, {"chain": forged}, as_node={"pack": "retrieval", "cite": "create"}[before]
            )
            calls = len(stub.calls)
            state = await compiled.ainvoke(None, CONFIG, context=context)
            while (await compiled.aget_state(CONFIG)).next:
                state = await compiled.ainvoke(None, CONFIG, context=context)
            assert state["answer"]
            assert "million dollars" not in str(state)
            assert "CANARYBUYER" not in state["answer"] + json.dumps(state["citations"])
            assert "CANARYBUYER" not in "".join(call.request.user for call in stub.calls)
            assert len(stub.calls) - calls <= 1
