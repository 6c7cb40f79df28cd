from __future__ import annotations

import asyncio

import pytest

from anabranch.errors import OperationError, QuestionError
from anabranch.evaluation.runs import FoundDocuments, run_queries

QUERIES = {f"q{number}": f"text {number}" for number in range(20)}


async def test_every_query_goes_through_every_configuration_in_the_order_given() -> None:
    async def search(configuration: str, query: str) -> FoundDocuments:
        await asyncio.sleep(0.001 * (hash(query) % 5))
        return FoundDocuments((configuration, query))

    told: list[None] = []
    runs = await run_queries(QUERIES, ["a", "b"], search, told=lambda: told.append(None))
    assert list(runs) == ["a", "b"]
    assert runs["b"].rankings == {key: ("b", text) for key, text in QUERIES.items()}
    assert list(runs["b"].rankings) == list(QUERIES)
    assert len(told) == len(QUERIES)


@pytest.mark.parametrize("at_once", [1, 3])
async def test_only_so_many_are_under_way(at_once: int) -> None:
    under_way, most = 0, 0

    async def search(configuration: str, query: str) -> FoundDocuments:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        return FoundDocuments(())

    await run_queries(QUERIES, ["a", "b"], search, at_once=at_once)
    assert most == at_once


async def test_a_query_that_is_refused_finds_nothing_and_stops_nothing() -> None:
    async def search(configuration: str, query: str) -> FoundDocuments:
        if query == "text 3":
            raise QuestionError("It has no letter.", hint="Ask in words.")
        return FoundDocuments(("d",), ("rerank: it is down", "rerank: it is down") if query == "text 4" else ())

    run = (await run_queries(QUERIES, ["a"], search))["a"]
    assert run.refused == {"q3": "It has no letter."}
    assert run.rankings["q3"] == ()
    assert run.rankings["q2"] == ("d",)
    assert dict(run.degraded) == {"rerank: it is down": 1}


async def test_any_other_failure_ends_the_run() -> None:
    async def search(configuration: str, query: str) -> FoundDocuments:
        raise OperationError("Every retriever failed.")

    with pytest.raises(ExceptionGroup) as caught:
        await run_queries(QUERIES, ["a"], search)
    assert caught.group_contains(OperationError)
