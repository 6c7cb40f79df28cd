from __future__ import annotations

import pytest

from anabranch.evaluation.score_report import checked
from anabranch.evaluation.score_tables import ScoreTable


def table(**case: object) -> ScoreTable:
    row = {"collection": "c", "configuration": "a", "metric": "nDCG@10", "expected": 0.7, **case}
    return ScoreTable.model_validate(
        {"title": "T", "metrics": ["nDCG@10"], "configurations": {"a": {}}, "collections": ["c"], "cases": [row]}
    )


@pytest.mark.parametrize(
    ("measured", "case", "verdict"),
    [
        (0.7, {}, "ok"),
        (0.705, {}, "ok"),
        (0.695, {}, "ok"),
        (0.7051, {}, "drift"),
        (0.6949, {}, "drift"),
        (0.71, {"tolerance": 0.02}, "ok"),
        (0.7001, {"tolerance": 0}, "drift"),
        (0.1, {"expected": None}, "not checked"),
    ],
)
def test_verdicts(measured: float, case: dict[str, object], verdict: str) -> None:
    (found,) = checked(table(**case), {("c", "a"): {"nDCG@10": measured}}, absent=frozenset())
    assert (found.verdict, found.measured, found.index) == (verdict, measured, 0)


def test_a_collection_that_is_not_here_is_said_and_one_that_was_not_asked_for_is_not() -> None:
    (found,) = checked(table(), {}, absent=frozenset({"c"}))
    assert (found.verdict, found.measured) == ("not here", None)
    assert checked(table(), {}, absent=frozenset()) == []
