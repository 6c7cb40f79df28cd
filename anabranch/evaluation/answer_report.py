"""The report of a table of answers: is the answer in it, and is it answered only where it can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from anabranch.evaluation.answer_quality import Outcome, QuestionKind, measures_of
from anabranch.evaluation.eval_report import EvalReport, ReportTable, checked, checks_json, checks_table, number
from anabranch.evaluation.score_tables import AnswerTable

MeasuredValues = Mapping[str, Mapping[str, float | None]]
"""What was measured, by name, of each collection."""

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
    shares, lengths = ("contains", "lead", "reachable", "recall", "precision"), ("sentences", "words")
    rows = [
        (
            name, f"{found['compared']:.0f}", *(number(found[share]) for share in shares),
            *("" if (length := found[each]) is None else f"{length:.1f}" for each in lengths),
        )
        for name, found in values.items()
        if found["compared"]
    ]  # fmt: skip
    return ReportTable(
        "Is the answer in it?",
        "Of the questions whose answer is known. `as long`: as many words from the start of the best passage hold it. "
        "`recall` and `precision` are of words, against the sentences that are known to answer.",
        ("collection", "questions", "contains", "as long", "in passages", "recall", "precision", "sentences", "words"),
        rows,
    )


def _caution(values: MeasuredValues) -> ReportTable:
    rows = [
        (
            name, f"{found['asked_own']:.0f}", number(found["false_abstentions"]),
            *(cell for kind in TOLD for cell in _kind(found, kind)),
        )
        for name, found in values.items()
    ]  # fmt: skip
    return ReportTable(
        "Is it answered only where it can be?",
        "Share of questions that were answered. The own ones can be; `no answer` are known not to be in the documents, "
        "`of others` are questions of other collections, and `answer removed` are own ones asked without the documents "
        "that answer them. AUC: how often an own question has more confidence than one of these.",
        (
            "collection", "own", "false abstentions",
            *(f"{TOLD[kind]}: {what}" for kind in TOLD for what in ("answered", "AUC")),
        ),
        rows,
    )  # fmt: skip


def _kind(found: Mapping[str, float | None], kind: QuestionKind) -> tuple[str, str]:
    asked = found[f"asked_{kind}"]
    return number(found[f"answered_{kind}"]) + (f" of {asked:.0f}" if asked else ""), number(found[f"auc_{kind}"])
