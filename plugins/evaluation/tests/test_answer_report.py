from __future__ import annotations

import pytest

from anabranch_evaluation.answer_quality import Outcome, QuestionKind, WrittenAnswer, measures_of, outcome_of
from anabranch_evaluation.answer_report import AnswerCollection, report_answers
from anabranch_evaluation.eval_report import EvalReport, markdown_of
from anabranch_evaluation.queries import Gold
from anabranch_evaluation.score_tables import AnswerCase, AnswerTable

GOLD = Gold(answers=("otters",))


def _outcome(question: str, kind: QuestionKind, confidence: float, text: str) -> Outcome:
    features = {"dense": confidence, "covered": confidence}
    written = WrittenAnswer(text, "otters and owls", "otters", confidence < 0.5, confidence, features)
    return outcome_of(question, kind, written, GOLD)


def _collection(name: str) -> AnswerCollection:
    right, wrong = _outcome("q1", "own", 0.9, "otters sleep"), _outcome("q2", "own", 0.6, "owls | look")
    silent, other = _outcome("q3", "own", 0.2, ""), _outcome("x/q", "elsewhere", 0.4, "owls")
    return AnswerCollection(name, (right, wrong, silent, other), ("one | remark",))


def _report(*names: str, absent: tuple[str, ...] = ()) -> EvalReport:
    cases = (
        AnswerCase(collection="a", measure="contains", expected=1 / 3),
        AnswerCase(collection="a", measure="weak_own", expected=0.0),
        AnswerCase(collection="a", measure="recall", expected=0.5),
        AnswerCase(collection="b", measure="contains", expected=None),
    )
    table = AnswerTable(kind="answers", title="Answers", collections=("a", "b"), cases=cases)
    return report_answers(table, tuple(map(_collection, names)), absent)


def _titles(report: EvalReport) -> list[str]:
    return [table.title for table in report.tables if table.rows]


def test_measured_values() -> None:
    values = measures_of(_collection("a").outcomes)
    assert values["contains"] == pytest.approx(1 / 3)
    assert values["weak_own"] == pytest.approx(1 / 3)
    assert values["weak_elsewhere"] == 1.0
    assert values["auc_elsewhere"] == pytest.approx(2 / 3)
    assert values["recall"] is None
    assert values["weak_removed"] is None


def test_checks_say_what_drifted() -> None:
    assert [check.verdict for check in _report("a", "b").checks] == ["ok", "drift", "not here", "not checked"]
    assert [check.verdict for check in _report("a", absent=("b",)).checks][-1] == "not here"
    assert len(_report("a").checks) == 3


def test_markdown_has_every_table_and_is_the_same_each_time() -> None:
    text = markdown_of(_report("a", "b"), "anabranch eval answers.yaml")
    assert text == markdown_of(_report("a", "b"), "anabranch eval answers.yaml")
    assert _titles(_report("a", "b")) == [
        "Is the answer in what is shown?",
        "Is it said where the evidence is weak?",
        "Measured and expected",
    ]
    assert "| a | 3 | 0.333 | 1.000 | 1.000 |" in text
    assert "- a: one \\| remark." in text
