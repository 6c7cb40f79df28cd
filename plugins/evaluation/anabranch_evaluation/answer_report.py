"""The report of a table of answers: is the answer in what is shown, and is it said where the evidence is weak."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from anabranch_evaluation.answer_quality import Outcome, QuestionKind, measures_of
from anabranch_evaluation.eval_report import EvalReport, ReportTable, checked, checks_json, checks_table, number
from anabranch_evaluation.score_tables import AnswerTable

MeasuredValues = Mapping[str, Mapping[str, float | None]]
"""What was measured, by name, of each collection."""

SHARES = ("contains", "first", "reachable", "recall")
TOLD: dict[QuestionKind, str] = {"marked": "no answer", "elsewhere": "of others", "removed": "answer removed"}


@dataclass(frozen=True, slots=True)
class AnswerCollection:
    """What became of the questions asked of one collection.

    Attributes:
        outcomes: Of its questions.
        remarks: What was left out.
    """

    name: str
    outcomes: tuple[Outcome, ...]
    remarks: tuple[str, ...] = ()


def answers_reported(
    table: AnswerTable, collections: Sequence[AnswerCollection], absent: tuple[str, ...]
) -> EvalReport:
    """Put a report together."""
    values = {each.name: measures_of(each.outcomes) for each in collections}
    checks = checked(table, {(each.name,): values[each.name] for each in collections}, absent)
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
    """Yield a row per question: what was answered, and what came of it."""
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
            *(cell for kind in TOLD for cell in _kind(found, kind)),
        )
        for name, found in values.items()
    ]  # fmt: skip
    return ReportTable(
        "Is it said where the evidence is weak?",
        "Share of questions whose passages are said to match weakly. The own ones have an answer; `no answer` are "
        "known to have none in the documents, `of others` are questions of other collections, and `answer removed` are "
        "own ones asked without the documents that answer them. AUC: how often an own question has more confidence "
        "than one of these.",
        ("collection", "own", "weak", *(f"{TOLD[kind]}: {what}" for kind in TOLD for what in ("weak", "AUC"))),
        rows,
    )


def _kind(found: Mapping[str, float | None], kind: QuestionKind) -> tuple[str, str]:
    asked = found[f"asked_{kind}"]
    return number(found[f"weak_{kind}"]) + (f" of {asked:.0f}" if asked else ""), number(found[f"auc_{kind}"])
