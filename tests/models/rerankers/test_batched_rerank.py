"""Batches in parallel, and the passages that put them on one scale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.models.rerankers.llm_reranker import ANCHORS, plan
from anabranch.models.usage import metered
from tests.graph.replies import passages_in
from tests.models.rerankers.judges import by_lines, grades, relevance
from tests.servers import scripts
from tests.servers.calls import Request
from tests.servers.loopback import Reply


@given(st.integers(0, 200), st.integers(1, 50))
def test_a_plan_shows_each_candidate_once_and_the_anchors_to_all(count: int, size: int) -> None:
    anchors, batches = plan(count, size)
    assert len(batches) == -(-count // size)
    assert len(anchors) <= min(ANCHORS, size / 3)
    own = [index for number, batch in enumerate(batches) for index in (batch[len(anchors) :] if number else batch)]
    assert own == list(range(count))
    for batch in batches:
        assert batch[: len(anchors)] == anchors
        assert batch == sorted(set(batch))
        assert len(batch) <= size + len(anchors)
    if len(batches) > 1:
        assert min(map(len, batches)) >= size // 2


@pytest.mark.loopback
async def test_batches_are_calibrated_by_the_passages_they_share() -> None:
    """A judge that gives the best passage of each batch a 9; the best of the weak batch must not pass the strong."""

    def relative(request: Request) -> Reply:
        found = grades(request)
        order = sorted(found, key=lambda number: -found[number])
        return Reply("\n".join(f"Doc: {number}, Relevance: {9 - place}" for place, number in enumerate(order)))

    strong, weak = ["a 60", "b 80", "c 70", "d 50"], ["e 10", "f 30", "g 20", "h 5"]
    scores, stub = await relevance(relative, strong + weak, batch=4)
    assert len(stub.calls) == 2
    order = sorted(range(8), key=lambda n: -(scores[n] or 0))
    assert order[:3] == [1, 2, 0]  # as the judge's own numbers stand, "f 30" has 8 and "a 60" has 7
    assert [n for n in order if n > 3] == [5, 6, 4, 7]


@pytest.mark.loopback
async def test_what_a_whole_reply_leaves_out_does_not_help() -> None:
    scores, _ = await relevance("Doc: 2, Relevance: 7.5", ["a", "b", "c"])
    assert scores == [0.0, 7.5, 0.0]


@pytest.mark.loopback
async def test_what_a_reply_that_was_cut_off_leaves_out_is_not_judged() -> None:
    scores, _ = await relevance("Doc: 2, Relevance: 7\nDoc: 1, Relev", ["a", "b", "c"])
    assert scores == [None, 7.0, None]


@pytest.mark.loopback
@pytest.mark.parametrize("bad", [scripts.BROKEN, "I will not say.", scripts.no_choices])
async def test_one_failing_batch_leaves_the_others_and_is_said(bad: object) -> None:
    def half(request: Request) -> Reply:
        return by_lines(request) if "a 4" in passages_in(request).values() else scripts.as_script(bad)(request)  # type: ignore[arg-type]

    with metered() as meter:
        scores, _ = await relevance(half, ["a 4", "b 5", "c 6", "d 7"], batch=2)
    assert scores == [4.0, 5.0, None, None]
    assert len(meter.failures) == 1
    assert "1 of 2 calls failed" in meter.failures[0]


@pytest.mark.loopback
async def test_the_anchors_of_a_batch_that_failed_are_judged_by_the_others() -> None:
    def second(request: Request) -> Reply:
        return by_lines(request) if "f 3" in passages_in(request).values() else scripts.BROKEN

    scores, _ = await relevance(second, ["a 4", "b 5", "c 6", "d 7", "e 2", "f 3"], batch=3)
    assert scores == [4.0, None, None, 7.0, 2.0, 3.0]


@pytest.mark.loopback
async def test_every_passage_is_cut_to_a_bound() -> None:
    _, stub = await relevance("Doc: 1, Relevance: 3", ["x" * 50_000])
    assert len(stub.calls[0].request.user) < 2_500


@pytest.mark.loopback
async def test_rankgpt_of_rerankers_equal_texts_keep_scores_of_their_own() -> None:
    # mapped back by text: the ids of 1, 2, 3 come back as 3, 1, 1
    scores, _ = await relevance(
        "Doc: 3, Relevance: 9\nDoc: 1, Relevance: 4\nDoc: 2, Relevance: 2", ["same", "same", "x"]
    )
    assert scores == [4.0, 2.0, 9.0]


@pytest.mark.loopback
async def test_shares_of_one_are_put_on_the_scale_to_ten() -> None:
    scores, _ = await relevance("Doc: 1, Relevance: 0.9\nDoc: 2, Relevance: 0.4", ["a", "b"])
    assert scores == [9.0, 4.0]
