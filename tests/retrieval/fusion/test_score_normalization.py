from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.retrieval.fusion.score_normalization import dbsf, min_max, repair_list, replace_non_finite, z_score
from anabranch.store.protocol import RankedList
from tests.retrieval.fusion.rankings import ANY_SCORES, IDS, SCORES

NORMALISERS = {"min_max": min_max, "z_score": z_score, "dbsf": dbsf}
NAMES = sorted(NORMALISERS)


def test_min_max_maps_the_ends_to_zero_and_one():
    assert min_max([12.0, 8.0, 4.0]) == [1.0, 0.5, 0.0]


def test_z_score_counts_deviations_above_the_worst():
    # mean 5, population deviation 2, the textbook example
    assert z_score([9.0, 7.0, 5.0, 5.0, 4.0, 4.0, 4.0, 2.0]) == [3.5, 2.5, 1.5, 1.5, 1.0, 1.0, 1.0, 0.0]


def test_dbsf_maps_the_mean_to_a_half_and_clips_at_three_deviations():
    assert dbsf([9.0, 7.0, 5.0, 5.0, 4.0, 4.0, 4.0, 2.0])[2] == 0.5
    outlier = dbsf([1000.0] + [0.0] * 30)
    assert outlier[0] == 1.0
    assert all(0 < score < 0.5 for score in outlier[1:])


@pytest.mark.parametrize("name", NAMES)
def test_equal_scores_stay_above_what_was_not_retrieved(name: str):
    assert NORMALISERS[name]([0.1, 0.1, 0.1]) == [1.0, 1.0, 1.0]
    assert NORMALISERS[name]([7.0]) == [1.0]
    assert NORMALISERS[name]([]) == []


def test_missing_scores_count_as_the_worst():
    assert replace_non_finite([3.0, None, math.nan, 1.0, -math.inf, math.inf]) == [3.0, 1.0, 1.0, 1.0, 1.0, 3.0]
    assert replace_non_finite([None, math.nan, math.inf]) == [0.0, 0.0, 0.0]


def test_a_repeated_id_counts_once_with_its_first_score_and_a_missing_score_as_the_worst():
    given_list = RankedList(ids=["a", "b", "a", "c"], scores=[4.0, 3.0, 1.0])
    assert repair_list(given_list) == {"ids": ["a", "b", "c"], "scores": [4.0, 3.0, 1.0]}
    # LlamaIndex's relative score fusion crashes here
    odd = {"ids": ["a", "b", "c"], "scores": [math.nan, 1.0, None]}
    assert repair_list(odd) == {"ids": ["a", "b", "c"], "scores": [1.0, 1.0, 1.0]}  # type: ignore[arg-type]


@given(st.lists(IDS, max_size=8), st.lists(ANY_SCORES, max_size=10))
def test_any_list_becomes_one_of_distinct_ids_and_finite_scores(ids: list[str], scores: list[float | None]):
    ranking = repair_list(RankedList(ids=ids, scores=scores))  # type: ignore[typeddict-item]
    assert ranking["ids"] == list(dict.fromkeys(ids))
    assert len(ranking["scores"]) == len(ranking["ids"])
    assert all(map(math.isfinite, ranking["scores"]))
    assert repair_list(ranking) == ranking


@pytest.mark.parametrize("name", NAMES)
@given(scores=st.lists(SCORES, max_size=20))
def test_scores_become_finite_ones_of_zero_or_more(name: str, scores: list[float]):
    kept = list(scores)
    values = NORMALISERS[name](scores)
    assert len(values) == len(scores)
    assert all(math.isfinite(value) and value >= 0 for value in values)
    assert repr(scores) == repr(kept)


@pytest.mark.parametrize("name", NAMES)
@given(scores=st.lists(SCORES, min_size=1, max_size=20))
def test_the_order_of_the_list_is_kept(name: str, scores: list[float]):
    ordered = sorted(scores, reverse=True)
    values = NORMALISERS[name](ordered)
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("name", NAMES)
@given(scores=st.lists(st.integers(-1000, 1000), min_size=2, max_size=20), scale=st.integers(1, 100))
def test_the_unit_of_the_scores_does_not_matter(name: str, scores: list[int], scale: int):
    there = NORMALISERS[name]([float(score) for score in scores])
    elsewhere = NORMALISERS[name]([float(score * scale + 17) for score in scores])
    assert elsewhere == pytest.approx(there, abs=1e-9)
