"""One window of candidates in one call."""

from __future__ import annotations

import pytest

from tests.graph.replies import passages_in
from tests.models.rerankers.llm.judges import by_window, relevance
from tests.servers.calls import Request
from tests.servers.loopback import Reply

pytestmark = pytest.mark.loopback


async def test_the_window_is_asked_for_by_a_schema_and_read_back() -> None:
    scores, stub = await relevance(by_window, [f"passage {n % 10}" for n in range(12)], form="listwise")
    (call,) = stub.calls
    assert call.request.body["response_format"]["json_schema"]["name"] == "ranking"
    assert [None if score is None else round(score) for score in scores] == [None, *range(1, 10), None, 1]


async def test_a_server_that_knows_no_schema_is_asked_in_words() -> None:
    def old(request: Request) -> Reply:
        return (
            Reply("unknown field", status=400)
            if {"response_format", "tools"} & set(request.body)
            else Reply("[2] > [1]")
        )

    scores, stub = await relevance(old, ["a", "b", "c"], form="listwise")
    assert scores == [1.0, 10.0, None]
    assert "response_format" not in stub.calls[-1].request.body


async def test_what_is_not_named_and_what_is_not_shown_is_not_judged() -> None:
    scores, stub = await relevance("[3] > [1]", [f"text {n}" for n in range(25)], form="listwise")
    assert scores == [1.0, None, 10.0, *[None] * 22]
    assert "text 19\n" in stub.calls[0].request.user
    assert "text 20\n" not in stub.calls[0].request.user


async def test_shares_of_one_are_put_on_the_scale_to_ten() -> None:
    scores, _ = await relevance("Doc: 1, Relevance: 0.9\nDoc: 2, Relevance: 0.4", ["a", "b"], form="listwise")
    assert scores == pytest.approx([9.0, 3.999])


async def test_a_one_for_each_is_no_share_of_one() -> None:
    scores, _ = await relevance("Doc: 2, Relevance: 1\nDoc: 1, Relevance: 1", ["a", "b"], form="listwise")
    assert scores == [0.999, 1.0]


async def test_rankgpt_of_rerankers_the_window_is_not_empty() -> None:
    # its default window ends at 0: no passage is sent, and the order of the input comes back
    _, stub = await relevance("[2] > [1]", ["a", "b", "c"])
    assert list(passages_in(stub.calls[0].request).values()) == ["a", "b", "c"]


async def test_rankgpt_of_rerankers_equal_texts_keep_scores_of_their_own() -> None:
    # mapped back by text: the ids of 1, 2, 3 come back as 3, 1, 1
    scores, _ = await relevance("[3] > [1] > [2]", ["same", "same", "other"])
    assert scores == [5.5, 1.0, 10.0]
