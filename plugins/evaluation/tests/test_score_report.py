from __future__ import annotations

import pytest

from anabranch_evaluation.eval_report import check_cases
from anabranch_evaluation.score_report import MarginCheck, check_margins, report_scores
from anabranch_evaluation.score_tables import ScoreTable
from plugins.evaluation.tests.reports import TABLE, collections, report


def test_means_comparisons_checks_and_margins() -> None:
    found = report()
    here, there = collections()
    assert here.scored["old"].means == {"nDCG@10": pytest.approx(0.63093, abs=1e-5), "RR@10": 0.5}
    assert (here.scored["new"].low, here.scored["new"].high) == (1.0, 1.0)
    (against,) = here.comparisons
    assert (against.configuration, against.won, against.lost, against.p) == ("new", 4, 0, 2 / 16)
    assert there.comparisons[0].lost == 4
    assert [check.verdict for check in found.checks] == ["ok", "drift", "not here"]
    assert [(check["on"], check["verdict"]) for check in found.value["margins"]] == [
        ("here", "missed"), ("there", "missed")
    ]  # fmt: skip
    assert found.has_missed
    assert found.tables[0].names == ("collection", "old", "new")
    assert found.tables[0].rows[-1] == ("mean", "**0.815**", "**0.815**")


def test_remarks_of_the_collection_and_of_the_runs() -> None:
    here, there = collections()
    assert list(here.remarks()) == [
        "one | thing",
        "1 query cannot be searched for, with a score of 0, such as 'q3': It has no letter",
        "new: 2 queries degraded: rerank: it was down",
    ]
    assert list(there.remarks()) == []


def test_scores_that_others_published_stand_beside() -> None:
    published = [
        {"system": "Theirs", "source": "https://paper.example", "scores": {"here": 0.5, "nowhere": 0.9}},
        {"system": "Of others", "source": "x", "scores": {"nowhere": 0.9}},
    ]
    table = ScoreTable.model_validate({**TABLE, "published": published})
    found = report_scores(table, collections(), ("nowhere",), {})
    (beside,) = [each for each in found.tables if "published" in each.title]
    assert beside.names == ("system", "here", "there", "source")
    assert beside.rows == [
        ("old", "0.631", "1.000", "measured here"),
        ("new", "1.000", "0.631", "measured here"),
        ("Theirs", "0.500", "", "https://paper.example"),
    ]
    assert [each.rows for each in report().tables if "published" in each.title] == [[]]


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
    (found,) = check_cases(table(**case), {("c", "a"): {"nDCG@10": measured}}, absent=frozenset())
    assert (found.verdict, found.measured, found.index) == (verdict, measured, 0)


def test_a_collection_that_is_not_here_is_said_and_one_that_was_not_asked_for_is_not() -> None:
    (found,) = check_cases(table(), {}, absent=frozenset({"c"}))
    assert (found.verdict, found.measured) == ("not here", None)
    assert check_cases(table(), {}, absent=frozenset()) == ()


COLUMNS = {"x": {"new": 0.70, "a": 0.60, "b": 0.72}, "y": {"new": 0.80, "a": 0.70, "b": 0.60}}


def table_margins(where: str, by: float, over: tuple[str, ...] = ("a", "b")) -> ScoreTable:
    names = ("new", "a", "b")
    margin = {"configuration": "new", "over": list(over), "by": by, "where": where}
    return ScoreTable.model_validate(
        {"title": "T", "metrics": ["R@5"], "configurations": {name: {} for name in names}, "margins": [margin]}
    )


def found(where: str, by: float, **kwargs: object) -> list[tuple[str, str, str]]:
    rows: list[MarginCheck] = check_margins(table_margins(where, by), COLUMNS, absent=kwargs.get("absent", ()))  # type: ignore[arg-type]
    return [(row.on, row.best, row.verdict) for row in rows]


def test_on_each_collection_the_best_of_the_others_counts() -> None:
    assert found("each", -0.02) == [("x", "b", "ok"), ("y", "a", "ok")]
    assert found("each", -0.01) == [("x", "b", "missed"), ("y", "a", "ok")]


def test_on_the_mean() -> None:
    (check,) = check_margins(table_margins("mean", 0.09), COLUMNS, absent=())
    assert (check.on, check.best, check.verdict) == ("mean", "b", "ok")
    assert check.measured == pytest.approx(0.75 - 0.66)
    assert found("mean", 0.1) == [("mean", "b", "missed")]


def test_a_mean_over_some_of_the_collections_says_nothing() -> None:
    assert found("mean", 0.0, absent=("z",)) == [("mean", "", "not checked")]
    assert found("each", -0.02, absent=("z",)) == [("x", "b", "ok"), ("y", "a", "ok")]


@pytest.mark.parametrize("where", ["each", "mean"])
def test_without_the_configurations_nothing_is_checked(where: str) -> None:
    for columns in ({}, {"x": {"new": 0.5}}):
        (check,) = check_margins(table_margins(where, 0.0), columns, absent=())
        assert (check.on, check.measured, check.verdict) == (where, None, "not checked")


def test_a_collection_that_the_table_does_not_name_has_no_part_in_the_mean() -> None:
    named = table_margins("mean", 0.0).model_copy(update={"collections": ("y",)})
    (check,) = check_margins(named, COLUMNS, absent=())
    assert check.measured == pytest.approx(0.1)
