"""Further queries by a function that was given to the graph, in the place of the chat model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError
from anabranch.parsing.query_list import MAX_QUERY
from tests.graph.conftest import river  # noqa: F401  # fixture
from tests.graph.inside import build
from tests.graph.replies import model, rounds_of
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply

QUESTION = "Who opened the lock at Lower Cray?"


def variants(question: str, n: int) -> list[str]:
    return [f"lock gates {number}" for number in range(1, n + 1)]


async def later(question: str, n: int) -> Sequence[str]:
    await asyncio.sleep(0)
    return tuple(variants(question, n))


async def state_of(corpus: str, queries: Any, **settings: Any) -> dict[str, Any]:
    compiled = build(queries=queries).compile()
    state: dict[str, Any] = await compiled.ainvoke({"question": QUESTION}, context=Context(corpus=corpus, **settings))
    return state


@pytest.mark.parametrize("queries", [variants, later, partial(variants), lambda *given: later(*given)])
async def test_its_queries_are_searched_for_without_a_model(river: str, queries: Any) -> None:  # noqa: F811
    state = await state_of(river, queries, n_queries=5)
    asked, *derived = state["queries"]
    assert asked == {"text": QUESTION, "weight": 1.0, "kind": "asked"}
    assert [query["text"] for query in derived] == [f"lock gates {n}" for n in range(1, 5)]
    assert sum(query["weight"] for query in derived) == pytest.approx(0.5)
    assert state["degraded"] == []
    for step in state["trace"]:
        assert step["node"] != "retrieve" or len(step["counts"]["lists"]) == 5


async def test_a_function_that_is_not_async_does_not_hold_up_the_loop(river: str) -> None:  # noqa: F811
    threads: list[int] = []

    def noted(question: str, n: int) -> list[str]:
        threads.append(threading.get_ident())
        return []

    state = await state_of(river, noted)
    assert threads != []
    assert threading.get_ident() not in threads
    assert [query["kind"] for query in state["queries"]] == ["asked"]


async def test_it_stands_in_the_place_of_the_models_call(river: str) -> None:  # noqa: F811
    writer = FakeListChatModel(responses=["The lock was opened by a mayor."])
    state = await state_of(river, variants, model=writer, grade="none")
    assert [query["text"] for query in state["queries"][1:]] == ["lock gates 1", "lock gates 2", "lock gates 3"]
    assert [step["node"] for step in state["trace"] if step["calls"]] == ["create"]


@pytest.mark.parametrize("settings", [{"n_queries": 1}, {"strategy": "none"}])
async def test_where_no_queries_are_wanted_it_is_not_called(river: str, settings: Any) -> None:  # noqa: F811
    def never(question: str, n: int) -> list[str]:
        pytest.fail("It was called.")

    state = await state_of(river, never, **settings)
    assert [query["kind"] for query in state["queries"]] == ["asked"]
    assert state["degraded"] == []


async def test_more_and_longer_queries_than_wanted_are_cut(river: str) -> None:  # noqa: F811
    def many(question: str, n: int) -> list[str]:
        repeated = [question, question.upper(), "", "  lock \n gates\x00 ", "Lock gates?", "word " * 10_000]
        return [*repeated, *(f"gate {number}" for number in range(100_000))]

    state = await state_of(river, many, n_queries=4)
    first, long, last = [query["text"] for query in state["queries"][1:]]
    assert (first, last) == ("lock gates", "gate 0")
    assert MAX_QUERY - 10 < len(long) <= MAX_QUERY


def broken(question: str, n: int) -> list[str]:
    raise OSError("no file at http://user:hunter22@host")


@pytest.mark.parametrize(
    ("queries", "reason"),
    [
        (broken, "The query generator failed: OSError: no file at http://***@host"),
        (lambda question, n: question, "returned no list of texts: 'Who opened"),
        (lambda question, n: [n], "returned no list of texts: [3]"),
        (lambda question, n: None, "returned no list of texts: None"),
        (lambda question: [], "The query generator failed: TypeError"),
    ],
)
async def test_one_that_fails_leaves_the_question_and_that_is_reported(
    river: str,  # noqa: F811
    queries: Any,
    reason: str,
) -> None:
    state = await state_of(river, queries)
    assert [query["kind"] for query in state["queries"]] == ["asked"]
    (record,) = state["degraded"]
    assert record["step"] == "rewrite"
    assert reason in record["reason"]
    assert state["candidates"]


async def test_one_that_never_ends_is_not_waited_for(river: str) -> None:  # noqa: F811
    async def endless(question: str, n: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    state = await state_of(river, endless, model_timeout=0.05)
    (record,) = state["degraded"]
    assert "took more than 0.05 seconds" in record["reason"]
    assert state["candidates"]


@pytest.mark.loopback
async def test_the_second_search_is_the_models(river: str) -> None:  # noqa: F811
    lacking = Reply('{"sufficient": false, "missing": "the name of the mayor"}')
    with OpenAIStub(model(grade=lacking)) as stub:
        settings = {"model": "openai:stub", "base_url": stub.base_url, "grade": "llm"}
        state = await state_of(river, variants, **settings)
        asked = [call.request.user for call in stub.calls if "Number of lines" in call.request.user]
    assert rounds_of(state) == 2
    assert len(asked) == 1
    assert "Already searched: " in asked[0]
    assert "lock gates 1" in asked[0]


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(SettingsError, match="The query generator is not a function: 'multi'"):
        build(queries="multi")


async def test_a_timeout_of_its_own_is_reported_as_what_it_is(river: str) -> None:  # noqa: F811
    def slow_service(question: str, n: int) -> list[str]:
        raise TimeoutError("the service did not reply")

    state = await state_of(river, slow_service)
    (record,) = state["degraded"]
    assert "TimeoutError: the service did not reply" in record["reason"]
    assert "took more than" not in record["reason"]
