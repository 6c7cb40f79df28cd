from __future__ import annotations

import pytest

from anabranch.evaluation.score_report import MarginCheck, margins_checked
from anabranch.evaluation.score_tables import ScoreTable

COLUMNS = {"x": {"new": 0.70, "a": 0.60, "b": 0.72}, "y": {"new": 0.80, "a": 0.70, "b": 0.60}}


def table(where: str, by: float, over: tuple[str, ...] = ("a", "b")) -> ScoreTable:
    names = ("new", "a", "b")
    margin = {"configuration": "new", "over": list(over), "by": by, "where": where}
    return ScoreTable.model_validate(
        {"title": "T", "metrics": ["R@5"], "configurations": {name: {} for name in names}, "margins": [margin]}
    )


def found(where: str, by: float, **kwargs: object) -> list[tuple[str, str, str]]:
    rows: list[MarginCheck] = margins_checked(table(where, by), COLUMNS, absent=kwargs.get("absent", ()))  # type: ignore[arg-type]
    return [(row.on, row.best, row.verdict) for row in rows]


def test_on_each_collection_the_best_of_the_others_counts() -> None:
    assert found("each", -0.02) == [("x", "b", "ok"), ("y", "a", "ok")]
    assert found("each", -0.01) == [("x", "b", "missed"), ("y", "a", "ok")]


def test_on_the_mean() -> None:
    (check,) = margins_checked(table("mean", 0.09), COLUMNS, absent=())
    assert (check.on, check.best, check.verdict) == ("mean", "b", "ok")
    assert check.measured == pytest.approx(0.75 - 0.66)
    assert found("mean", 0.1) == [("mean", "b", "missed")]


def test_a_mean_over_some_of_the_collections_says_nothing() -> None:
    assert found("mean", 0.0, absent=("z",)) == [("mean", "", "not checked")]
    assert found("each", -0.02, absent=("z",)) == [("x", "b", "ok"), ("y", "a", "ok")]


@pytest.mark.parametrize("where", ["each", "mean"])
def test_without_the_configurations_nothing_is_checked(where: str) -> None:
    for columns in ({}, {"x": {"new": 0.5}}):
        (check,) = margins_checked(table(where, 0.0), columns, absent=())
        assert (check.on, check.measured, check.verdict) == (where, None, "not checked")


def test_a_collection_that_the_table_does_not_name_has_no_part_in_the_mean() -> None:
    named = table("mean", 0.0).model_copy(update={"collections": ("y",)})
    (check,) = margins_checked(named, COLUMNS, absent=())
    assert check.measured == pytest.approx(0.1)
