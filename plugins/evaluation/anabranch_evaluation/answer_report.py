"""The report of a table of answers: whether they hold the known answer, and whether weak evidence is marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from anabranch_evaluation.answer_quality import Outcome, QuestionKind, measures_of
from anabranch_evaluation.eval_report import EvalReport, ReportTable, check_cases, checks_json, checks_table, number
from anabranch_evaluation.score_tables import AnswerTable

MeasuredValues = Mapping[str, Mapping[str, float | None]]
"""Measures by name, by collection."""

SHARES = ("contains", "first", "reachable", "recall")
HEADINGS: dict[QuestionKind, str] = {"marked": "no answer", "elsewhere": "of others", "removed": "answer removed"}


@dataclass(frozen=True, slots=True)
class AnswerCollection:
    """The results of one collection.

    Attributes:
        outcomes: Results of its questions.
        remarks: Notes on what was left out.
    """

    name: str
    outcomes: tuple[Outcome, ...]
    remarks: tuple[str, ...] = ()


def report_answers(table: AnswerTable, collections: Sequence[AnswerCollection], absent: tuple[str, ...]) -> EvalReport:
    """Make the report."""
    values = {each.name: measures_of(each.outcomes) for each in collections}
    checks = check_cases(table, {(each.name,): values[each.name] for each in collections}, absent)
    tables = (
        _quality(values),
        _caution(values),
        checks_table(checks, ("collection", "measure")),
    )
    value = {
        "title": table.title,
        "collections": values,
        "absent": list(absent),
        "checks": checks_json(checks),
    }
    remarks = tuple((each.name, remark) for each in collections for remark in each.remarks)
    return EvalReport(table, tables, checks, remarks, absent, value, _questions_json(collections))


def _questions_json(collections: Sequence[AnswerCollection]) -> Iterator[dict[str, Any]]:
    """Yield a row per question: its answer and its measures."""
    for each in collections:
        for outcome in each.outcomes:
            yield {"collection": each.name, **asdict(outcome)}


def _quality(values: MeasuredValues) -> ReportTable:
    rows = [
        (
            name, f"{found['compared']:.0f}", *(number(found[share]) for share in SHARES),
            "" if (length := found["chars"]) is None else f"{length:.0f}",
        )
        for name, found in values.items()
        if found["compared"]
    ]  # fmt: skip
    return ReportTable(
        "Is the answer in what is shown?",
        "Of the questions whose answer is known. `best passage`: the first leaf alone has it. `in passages`: any that "
        "was found has it. `recall` is of the words of the sentences that are known to answer.",
        ("collection", "questions", "shown", "best passage", "in passages", "recall", "characters"),
        rows,
    )


def _caution(values: MeasuredValues) -> ReportTable:
    rows = [
        (
            name, f"{found['asked_own']:.0f}", number(found["weak_own"]),
            *(cell for kind in HEADINGS for cell in _kind(found, kind)),
        )
        for name, found in values.items()
    ]  # fmt: skip
    return ReportTable(
        "Is it said where the evidence is weak?",
        "Share of questions whose passages are said to match weakly. The own ones have an answer; `no answer` are "
        "known to have none in the documents, `of others` are questions of other collections, and `answer removed` are "
        "own ones asked without the documents that answer them. AUC: how often an own question has more confidence "
        "than one of these.",
        ("collection", "own", "weak", *(f"{HEADINGS[kind]}: {what}" for kind in HEADINGS for what in ("weak", "AUC"))),
        rows,
    )


def _kind(found: Mapping[str, float | None], kind: QuestionKind) -> tuple[str, str]:
    asked = found[f"asked_{kind}"]
    return number(found[f"weak_{kind}"]) + (f" of {asked:.0f}" if asked else ""), number(found[f"auc_{kind}"])
