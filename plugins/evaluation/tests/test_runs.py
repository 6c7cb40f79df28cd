from __future__ import annotations

import asyncio
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import OperationError, QuestionError
from anabranch.retrieval.trec_run import best_per_document, document_id, run_lines
from anabranch_evaluation.runs import FoundDocuments, run_queries

QUERIES = {f"q{number}": f"text {number}" for number in range(20)}


async def test_every_query_goes_through_every_configuration_in_the_order_given() -> None:
    async def search(configuration: str, query: str) -> FoundDocuments:
        await asyncio.sleep(0.001 * (hash(query) % 5))
        return FoundDocuments((configuration, query))

    told: list[None] = []
    runs = await run_queries(QUERIES, ["a", "b"], search, advance=lambda: told.append(None))
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


scores = st.lists(st.floats(-1e6, 1e6, width=32), max_size=60)


def test_a_line_has_the_six_columns() -> None:
    lines = list(run_lines("q1", [("d1", 0.5), ("d2", 0.25)]))
    assert lines == ["q1 Q0 d1 1 0.5 anabranch", "q1 Q0 d2 2 0.25 anabranch"]


@given(scores)
def test_scores_fall_strictly_in_32_bits_and_ranks_count_from_one(given_scores: list[float]) -> None:
    ranked = [(f"d{i}", score) for i, score in enumerate(sorted(given_scores, reverse=True))]
    columns = [line.split() for line in run_lines("q", ranked)]
    written = [np.float32(column[4]) for column in columns]
    assert all(high > low for high, low in pairwise(written))
    assert [column[3] for column in columns] == [str(rank) for rank in range(1, len(ranked) + 1)]
    assert [column[2] for column in columns] == [document for document, _ in ranked]


@given(scores)
def test_scores_that_differ_are_written_as_they_are(given_scores: list[float]) -> None:
    distinct = sorted({np.float32(score) for score in given_scores}, reverse=True)
    lines = run_lines("q", [(f"d{i}", float(score)) for i, score in enumerate(distinct)])
    assert [np.float32(line.split()[4]) for line in lines] == distinct


def test_scores_are_written_without_an_exponent() -> None:
    assert list(run_lines("q", [("d", 1e-12)])) == ["q Q0 d 1 0.000000000001 anabranch"]


def test_a_document_counts_as_its_best_passage() -> None:
    ranked = [("a", 3.0), ("b", 2.0), ("a", 1.0), ("c", 0.5)]
    assert best_per_document(ranked, 10) == [("a", 3.0), ("b", 2.0), ("c", 0.5)]
    assert best_per_document(ranked, 2) == [("a", 3.0), ("b", 2.0)]


@pytest.mark.parametrize("query", ["", "a b", "a\tb", "a\u00a0b"])
def test_a_query_id_with_white_space_is_refused(query: str) -> None:
    with pytest.raises(QuestionError, match="white space"):
        list(run_lines(query, []))


def test_white_space_in_a_document_id_is_encoded_and_nothing_else_changes() -> None:
    assert document_id("my notes%.md") == "my%20notes%25.md"
    assert document_id("100%.md") == "100%.md"
    assert document_id("Überblick/a#1::0") == "Überblick/a#1::0"
    (line,) = run_lines("q", [("a b", 1.0)])
    assert len(line.split()) == 6
