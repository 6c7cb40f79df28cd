from __future__ import annotations

import copy
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.retrieval.fusion import convex
from anabranch.retrieval.fusion.score_normalization import Normaliser, dbsf, min_max, z_score
from anabranch.store.protocol import RankedList
from tests.retrieval.fusion.rankings import IDS, make, rankings, weighted

NORMALISATIONS = [min_max, z_score, dbsf]


def test_min_max_by_hand():
    sparse = RankedList(ids=["a", "b", "c"], scores=[12.0, 8.0, 4.0])
    dense = RankedList(ids=["b", "d"], scores=[0.9, 0.5])
    fused = convex([sparse, dense], [0.25, 0.75])
    assert fused == pytest.approx({"a": 0.25, "b": 0.125 + 0.75, "c": 0.0, "d": 0.0})


def test_only_the_proportion_of_the_weights_counts():
    lists = [make(["a", "b", "c"]), make(["c", "a"])]
    assert convex(lists, [2.0, 6.0]) == convex(lists, [0.25, 0.75])


def test_the_only_match_of_a_list_is_worth_its_full_share():
    fused = convex([RankedList(ids=["a"], scores=[0.01]), RankedList(ids=["b", "c"], scores=[9.0, 1.0])], [1.0, 1.0])
    assert fused["a"] == fused["b"] == 0.5


@pytest.mark.parametrize("normalise", NORMALISATIONS)
@given(data=st.data(), given_lists=weighted())
def test_the_order_of_the_lists_does_not_matter(
    normalise: Normaliser, data: st.DataObject, given_lists: tuple[list[RankedList], list[float]]
):
    lists, weights = given_lists
    order = data.draw(st.permutations(range(len(lists))))
    shuffled = convex([lists[i] for i in order], [weights[i] for i in order], normalise=normalise)
    assert shuffled == convex(lists, weights, normalise=normalise)


@given(weighted(), rankings())
def test_a_list_of_weight_zero_is_absent(given_lists: tuple[list[RankedList], list[float]], other: RankedList):
    lists, weights = given_lists
    assert convex([*lists, other], [*weights, 0.0]) == convex(lists, weights)


@pytest.mark.parametrize("normalise", NORMALISATIONS)
@given(lists=st.lists(rankings(), max_size=4))
def test_scores_fuse_to_finite_ones_and_the_lists_stay_as_they_were(normalise: Normaliser, lists: list[RankedList]):
    before = copy.deepcopy(lists)
    fused = convex(lists, [1.0] * len(lists), normalise=normalise)
    assert lists == before
    assert set(fused) == {chunk_id for one in lists for chunk_id in one["ids"]}
    assert all(math.isfinite(score) and score >= 0 for score in fused.values())


@pytest.mark.parametrize("normalise", NORMALISATIONS)
@given(lists=st.lists(st.dictionaries(IDS, st.floats(-100, 100)), min_size=1, max_size=4))
def test_what_every_list_prefers_wins(normalise: Normaliser, lists: list[dict[str, float]]):
    rows = [RankedList(ids=list(one), scores=list(one.values())) for one in lists]
    fused = convex(rows, [1.0] * len(rows), normalise=normalise)
    for better in fused:
        for worse in fused:
            if all(worse not in one or (better in one and one[better] >= one[worse]) for one in lists):
                assert fused[better] >= fused[worse]
