from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch_evaluation.metrics import cutoff_of, measure_of, scores_of

QRELS = {"q": {"good": 2, "fair": 1, "bad": 0}}
RANKED = {"q": ["bad", "good", "fair", "unknown"]}


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("nDCG@10", (2 / log2(3) + 1 / log2(4)) / (2 / log2(2) + 1 / log2(3))),
        ("nDCG@2", (2 / log2(3)) / (2 / log2(2) + 1 / log2(3))),
        ("nDCG@1", 0),
        ("RR@10", 1 / 2),
        ("MRR@10", 1 / 2),
        ("RR@1", 0),
        ("R@1", 0),
        ("R@2", 1 / 2),
        ("Recall@3", 1),
        ("Success@1", 0),
        ("Success@2", 1),
        ("P@3", 2 / 3),
        ("AP@10", (1 / 2 + 2 / 3) / 2),
    ],
)
def test_scores_counted_by_hand(name: str, score: float) -> None:
    assert scores_of([name], QRELS, RANKED)[name] == {"q": pytest.approx(score, abs=1e-6)}


def test_a_query_that_found_nothing_scores_nothing_and_an_unjudged_one_is_not_counted() -> None:
    qrels = {"q": {"a": 1}, "silent": {"a": 1}, "absent": {"a": 1}}
    scores = scores_of(["nDCG@10", "RR@10"], qrels, {"q": ["a"], "silent": [], "stranger": ["a"]})
    assert scores["nDCG@10"] == scores["RR@10"] == {"q": 1.0, "silent": 0.0, "absent": 0.0}


def test_two_names_of_one_measure_are_both_answered() -> None:
    scores = scores_of(["RR@10", "MRR@10"], QRELS, RANKED)
    assert scores["RR@10"] == scores["MRR@10"]


@given(st.integers(0, 999))
def test_the_order_of_a_long_ranking_survives(place: int) -> None:
    """A thousand documents with ids in no order: ranks are told apart, ties never happen."""
    ranked = [f"d{(number * 7919) % 1000}" for number in range(1000)]
    scores = scores_of(["RR@1000"], {"q": {ranked[place]: 1}}, {"q": ranked})
    assert scores["RR@1000"]["q"] == pytest.approx(1 / (place + 1), rel=1e-4)


@pytest.mark.parametrize(
    "name", ["", "quality", "nDCG", "R@0", "R@-1", "ERR@10", "nDCG@", "RR", "__import__('os')", "nDCG@10@10", "R@1.5"]
)
def test_what_is_no_metric_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="for example: nDCG@10"):
        measure_of(name)


def test_cutoffs() -> None:
    assert [cutoff_of(measure_of(name)) for name in ("nDCG@10", "Success@5", "R@100")] == [10, 5, 100]
