"""Where a draft ahead of the evidence is worth its call, and how its step hears of the further queries."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.runtime import ExecutionInfo, Runtime

from graph.context import Context
from graph.state import Query, State, Step
from nodes.ahead import further_queries, may_draft, tell

ASKED = [Query(text="Who built the weir?", weight=1.0, kind="asked")]


def state(**changes: Any) -> State:
    beginning: Any = {"queries": ASKED, "trace": [], **changes}
    return beginning


def drafts(before: State | None = None, **settings: Any) -> bool:
    context = Context(**{"model": "openai:stub", "speculate": "on", **settings})
    return may_draft(context, before or state())


def test_a_draft_is_written_where_it_is_wanted_and_a_model_writes_queries() -> None:
    assert drafts()
    assert drafts(strategy="hyde", n_queries=2, rerank="llm", grade="llm", retrievers=("dense",))
    assert drafts(max_model_calls=10, max_sequential=2, max_tokens=40_000)


@pytest.mark.parametrize(
    "settings",
    [
        {"speculate": "off"},
        {"model": None},
        {"strategy": "none"},
        {"n_queries": 1},
        {"review": "queries"},
        {"review": "sources"},
        {"rerank": "cross_encoder"},
        {"rerank": "cohere"},
        {"retrievers": ("bm25", "llm")},
        {"retrievers": ("bm25", "the_web")},
        {"max_model_calls": 9},
        {"max_sequential": 1},
        {"max_tokens": 30_000},
    ],
    ids=str,
)
def test_where_it_would_cost_too_much_or_save_nothing_there_is_none(settings: dict[str, Any]) -> None:
    assert not drafts(**settings)


def test_what_was_spent_counts() -> None:
    spent = Step(node="condense", round=2, ms=1.0, calls=1, prompt_tokens=5_000, output_tokens=10, counts={})
    assert not drafts(state(trace=[spent]), max_model_calls=10)
    assert drafts(state(trace=[spent]), max_model_calls=11)
    assert not drafts(state(trace=[spent]), max_tokens=40_000)


def test_queries_that_a_conversation_brought_take_the_room_of_further_ones() -> None:
    assert not drafts(state(queries=[*ASKED, *ASKED]), n_queries=2)


def branch(checkpoint: str) -> Runtime[Context]:
    info = ExecutionInfo(checkpoint_id=checkpoint, checkpoint_ns="", task_id="")
    return Runtime(context=Context(), execution_info=info)


async def test_branches_of_one_step_hear_of_each_other_and_no_others() -> None:
    mine, other = further_queries(branch("1")), further_queries(branch("2"))
    tell(branch("1"), ASKED)
    assert mine.result() == ASKED
    assert not other.done()


async def test_it_may_be_told_twice_or_to_nobody() -> None:
    tell(branch("3"), ASKED)
    heard = further_queries(branch("3"))
    assert not heard.done()
    tell(branch("3"), ASKED)
    tell(branch("3"), [])
    assert await asyncio.wait_for(heard, 5) == ASKED
    assert not further_queries(Runtime(context=Context())).done()
