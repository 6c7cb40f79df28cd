from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.retrieval.fusion import rank, reciprocal_rank
from anabranch.store.protocol import RankedList
from tests.retrieval.fusion.rankings import make, rankings, weighted


def test_ranks_start_at_one():
    # LlamaIndex starts at 0: its best score is 1/60
    assert reciprocal_rank([make(["a", "b"])], [1.0]) == {"a": 1 / 61, "b": 1 / 62}


def test_scores_of_two_lists_add_up():
    fused = reciprocal_rank([make(["a", "b"]), make(["b", "c"])], [1.0, 1.0])
    assert fused == {"a": 1 / 61, "b": pytest.approx(1 / 62 + 1 / 61), "c": 1 / 62}


def test_weights_are_honoured():
    # LlamaIndex ignores retriever_weights in this mode
    fused = reciprocal_rank([make(["a", "b"]), make(["c", "d"])], [1.0, 0.0])
    assert fused == {"a": 1 / 61, "b": 1 / 62}
    assert rank(reciprocal_rank([make(["a"]), make(["b"])], [0.3, 0.7]))["ids"] == ["b", "a"]


def test_the_order_given_is_the_rank_whatever_the_scores_say():
    # LlamaIndex sorts by score again, which turns L2 distances upside down
    distances = RankedList(ids=["near", "mid", "far"], scores=[0.1, 0.5, 2.0])
    assert rank(reciprocal_rank([distances], [1.0]))["ids"] == ["near", "mid", "far"]


@given(st.data(), weighted())
def test_the_order_of_the_lists_does_not_matter(data: st.DataObject, given_lists: tuple[list[RankedList], list[float]]):
    lists, weights = given_lists
    order = data.draw(st.permutations(range(len(lists))))
    assert reciprocal_rank([lists[i] for i in order], [weights[i] for i in order]) == reciprocal_rank(lists, weights)


@given(weighted(), rankings())
def test_a_list_of_weight_zero_is_absent(given_lists: tuple[list[RankedList], list[float]], other: RankedList):
    lists, weights = given_lists
    assert reciprocal_rank([*lists, other], [*weights, 0.0]) == reciprocal_rank(lists, weights)


@given(weighted())
def test_arguments_are_left_alone(given_lists: tuple[list[RankedList], list[float]]):
    before = copy.deepcopy(given_lists)
    reciprocal_rank(*given_lists)
    assert given_lists == before


@given(st.lists(rankings(), min_size=1, max_size=4), st.data())
def test_moving_up_never_costs(lists: list[RankedList], data: st.DataObject):
    ids = lists[0]["ids"]
    if len(ids) < 2:
        return
    place = data.draw(st.integers(1, len(ids) - 1))
    raised = [*ids[: place - 1], ids[place], ids[place - 1], *ids[place + 1 :]]
    weights = [1.0] * len(lists)
    before = reciprocal_rank(lists, weights)
    after = reciprocal_rank([make(raised), *lists[1:]], weights)
    assert after[ids[place]] > before[ids[place]]
    assert after[ids[place - 1]] < before[ids[place - 1]]
