from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch_evaluation.significance import compare_runs, holm, interval, p_value

pairs = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9)
probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1], [0], 1.0),
        ([1, 1], [0, 0], 2 / 4),
        ([1] * 5, [0] * 5, 2 / 32),
        # Sums of 3, 2 and 1 with any signs reach 4 or more in 2 of 8 ways, -4 or less in as many.
        ([0.3, 0.2, 0.0], [0.0, 0.0, 0.1], 4 / 8),
        ([0.5, 0.2], [0.5, 0.2], 1.0),
    ],
)
def test_exact_for_few_queries(first: list[float], second: list[float], expected: float) -> None:
    assert p_value(first, second) == pytest.approx(expected)


@settings(max_examples=15, deadline=None)
@given(pairs)
def test_it_is_a_probability_and_has_no_side(rows: list[tuple[float, float]]) -> None:
    first, second = [a for a, _ in rows], [b for _, b in rows]
    p = p_value(first, second)
    assert 0 < p <= 1
    assert p == pytest.approx(p_value(second, first))


def test_a_large_difference_on_many_queries_is_sure_and_the_same_each_time() -> None:
    first, second = [0.8 + 0.001 * n for n in range(100)], [0.5] * 100
    assert p_value(first, second) < 0.001
    assert p_value(first, second) == p_value(first, second)


def test_holm_counted_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(probabilities)
def test_holm_keeps_the_order_and_never_makes_surer(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(low <= high <= 1 for low, high in zip(values, adjusted, strict=True))
    assert [adjusted[i] for i in sorted(range(len(values)), key=values.__getitem__)] == sorted(adjusted)


def test_intervals_hold_the_mean_and_shrink_with_more_queries() -> None:
    low, high = interval([0.0, 1.0] * 10)
    assert 0 < low < 0.5 < high < 1
    narrow_low, narrow_high = interval([0.0, 1.0] * 100)
    assert narrow_high - narrow_low < high - low


@pytest.mark.parametrize("values", [[0.5], [0.5, 0.5, 0.5], [0.0], [1.0, 1.0]])
def test_an_interval_of_equal_scores_is_a_point(values: list[float]) -> None:
    assert interval(values) == (values[0], values[0])


def column(*scores: float) -> dict[str, float]:
    return {f"q{number}": score for number, score in enumerate(scores)}


def test_wins_losses_and_ties_are_counted_query_by_query() -> None:
    scores = {"new": column(1, 0.5, 0, 0.3), "base": column(0.5, 0.5, 0.5, 0.3 + 1e-12)}
    (found,) = compare_runs(scores, "base")
    assert (found.configuration, found.won, found.lost, found.tied) == ("new", 1, 1, 2)
    assert found.difference == pytest.approx(0.0)
    assert found.p == pytest.approx(1.0)


def test_queries_are_paired_by_id_whatever_their_order() -> None:
    base = column(0.1, 0.2, 0.3)
    (found,) = compare_runs({"base": base, "same": dict(reversed(base.items()))}, "base")
    assert (found.won, found.lost, found.tied, found.p) == (0, 0, 3, 1.0)


def test_several_comparisons_are_corrected() -> None:
    base, better = column(*[0.0] * 8), column(*[1.0] * 8)
    alone = compare_runs({"base": base, "a": better}, "base")[0].p
    assert alone == pytest.approx(2 / 2**8)
    assert [each.p for each in compare_runs({"base": base, "a": better, "b": better}, "base")] == [2 * alone, 2 * alone]


def test_nothing_to_compare() -> None:
    assert compare_runs({"a": column(1)}, "base") == []
    assert compare_runs({"base": column(1)}, "base") == []
