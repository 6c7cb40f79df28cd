from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.evaluation.answer_quality import area, at_threshold, auc, risk_coverage

SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9]), min_size=1, max_size=12)
ROWS = st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.7, 1.0]), st.booleans()), min_size=1, max_size=15)


@given(SCORES, SCORES)
def test_auc_is_the_share_of_pairs_in_order(higher: list[float], lower: list[float]) -> None:
    pairs = [(1.0 if a > b else 0.5 if a == b else 0.0) for a in higher for b in lower]
    assert auc(higher, lower) == pytest.approx(sum(pairs) / len(pairs))


def test_without_both_kinds_there_is_no_auc() -> None:
    assert auc([], [0.1]) is None
    assert auc([0.1], []) is None


@given(ROWS)
def test_the_curve_counts_what_each_threshold_answers(rows: list[tuple[float, bool]]) -> None:
    points = risk_coverage(rows)
    for point in points:
        answered = [right for confidence, right in rows if confidence >= point.threshold]
        assert point.coverage == pytest.approx(len(answered) / len(rows))
        assert point.risk == pytest.approx(answered.count(False) / len(answered))
        assert at_threshold(points, point.threshold) == point
    assert points[-1].coverage == 1.0
    assert 0 <= area(points) <= 1


def test_a_confidence_that_orders_well_has_less_risk_on_average() -> None:
    good = [(0.9, True), (0.8, True), (0.2, False)]
    bad = [(0.9, False), (0.8, True), (0.2, True)]
    assert area(risk_coverage(good)) < area(risk_coverage(bad))


def test_above_every_confidence_nothing_is_answered() -> None:
    point = at_threshold(risk_coverage([(0.5, False)]), 0.6)
    assert (point.coverage, point.risk) == (0.0, 0.0)
