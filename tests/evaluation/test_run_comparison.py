from __future__ import annotations

import pytest

from anabranch.evaluation.significance import compared


def column(*scores: float) -> dict[str, float]:
    return {f"q{number}": score for number, score in enumerate(scores)}


def test_wins_losses_and_ties_are_counted_query_by_query() -> None:
    scores = {"new": column(1, 0.5, 0, 0.3), "base": column(0.5, 0.5, 0.5, 0.3 + 1e-12)}
    (found,) = compared(scores, "base")
    assert (found.configuration, found.won, found.lost, found.tied) == ("new", 1, 1, 2)
    assert found.difference == pytest.approx(0.0)
    assert found.p == pytest.approx(1.0)


def test_queries_are_paired_by_id_whatever_their_order() -> None:
    base = column(0.1, 0.2, 0.3)
    (found,) = compared({"base": base, "same": dict(reversed(base.items()))}, "base")
    assert (found.won, found.lost, found.tied, found.p) == (0, 0, 3, 1.0)


def test_several_comparisons_are_corrected() -> None:
    base, better = column(*[0.0] * 8), column(*[1.0] * 8)
    alone = compared({"base": base, "a": better}, "base")[0].p
    assert alone == pytest.approx(2 / 2**8)
    assert [each.p for each in compared({"base": base, "a": better, "b": better}, "base")] == [2 * alone, 2 * alone]


def test_nothing_to_compare() -> None:
    assert compared({"a": column(1)}, "base") == []
    assert compared({"base": column(1)}, "base") == []


def test_queries_weigh_what_they_are_given() -> None:
    scores = {"new": column(1, 0, 0), "base": column(0, 0.5, 0.5)}
    weights = {"q0": 1.5, "q1": 0.75, "q2": 0.75}
    (found,) = compared(scores, "base", weights)
    assert found.difference == pytest.approx((1.5 - 0.375 - 0.375) / 3)
    assert (found.won, found.lost, found.tied) == (1, 2, 0)
