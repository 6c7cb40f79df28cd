"""Judgements of several replies on one scale."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anabranch.models.rerankers.llm_reranker import align_scores
from anabranch.parsing.relevance_scores import on_ten

scores = st.integers(0, 100).map(lambda tenths: tenths / 10)


def test_shares_of_one_are_put_on_the_scale_to_ten() -> None:
    assert on_ten({0: 0.9, 1: 0.25}) == {0: 9.0, 1: 2.5}
    assert on_ten({0: 0.9, 1: 7.0}) == {0: 0.9, 1: 7.0}
    assert on_ten({0: 1.0, 1: 0.0}) == {0: 1.0, 1: 0.0}
    assert on_ten({}) == {}


def test_a_reply_that_praises_everything_is_brought_down_by_the_passage_both_judged() -> None:
    joined = align_scores([{0: 6.0, 1: 4.0}, {0: 8.0, 2: 7.0, 3: 0.0}], anchors=[0])
    assert joined == {0: 6.0, 1: 4.0, 2: 5.25, 3: 0.0}


def test_a_reply_without_a_shared_judgement_is_taken_as_it_is() -> None:
    assert align_scores([{0: 6.0, 1: 4.0}, {2: 7.0}], anchors=[0]) == {0: 6.0, 1: 4.0, 2: 7.0}
    assert align_scores([{0: 0.0, 1: 4.0}, {0: 5.0, 2: 7.0}], anchors=[0]) == {0: 0.0, 1: 4.0, 2: 7.0}


def test_the_anchors_of_a_reply_that_failed_are_judged_by_the_next() -> None:
    assert align_scores([{}, {0: 8.0, 2: 7.0}, {0: 4.0, 3: 2.0}], anchors=[0]) == {0: 8.0, 2: 7.0, 3: 3.5}


def test_a_difference_that_no_scale_explains_moves_little() -> None:
    assert align_scores([{0: 10.0}, {0: 2.0, 1: 1.0}], anchors=[0])[1] == 2.5


@given(st.lists(st.dictionaries(st.integers(0, 9), scores), max_size=4), st.lists(st.integers(0, 9), max_size=3))
def test_alignment_keeps_every_judgement_its_range_and_the_order_within_a_reply(
    batches: list[dict[int, float]], anchors: list[int]
) -> None:
    joined = align_scores(batches, anchors)
    assert joined.keys() == set().union(*batches)
    assert all(0 <= score <= 10 for score in joined.values())
    seen: set[int] = set()
    for batch in batches:
        own = [index for index in batch if index not in seen]
        seen |= batch.keys()
        for one in own:
            assert (joined[one] == 0) == (batch[one] == 0)
            for other in own:
                assert (batch[one] < batch[other]) == (joined[one] < joined[other])
