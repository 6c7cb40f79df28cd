"""The report of a table of answers: is the answer in it, is it answered only where it can be, at what risk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from anabranch.evaluation.answer_quality import (
    Outcome,
    Point,
    QuestionKind,
    area,
    at_threshold,
    measures_of,
    risk_coverage,
)
from anabranch.evaluation.calibration import LogisticWeights, fitted, held_out
from anabranch.evaluation.eval_report import EvalReport, ReportTable, checked, checks_json, checks_table, number
from anabranch.evaluation.score_tables import AnswerTable

OTHERS: tuple[QuestionKind, ...] = ("marked", "elsewhere", "removed")
MeasuredValues = Mapping[str, Mapping[str, float | None]]
"""What was measured, by name, of each collection."""

TOLD: dict[QuestionKind, str] = {"marked": "no answer", "elsewhere": "of others", "removed": "answer removed"}


@dataclass(frozen=True, slots=True)
class AnswerCollection:
    """What became of the questions asked of one collection.

    Attributes:
        outcomes: As the settings have it.
        ungated: Of its own questions, answered whatever the evidence.
        remarks: What was left out.
    """

    name: str
    documents: int
    outcomes: tuple[Outcome, ...]
    ungated: tuple[Outcome, ...]
    remarks: tuple[str, ...] = ()

    def curve(self) -> list[Point]:
        """Return risk against coverage; no answer is right to a question that the documents do not answer."""
        confidence = {each.question: each.written.confidence for each in self.outcomes if each.kind == "own"}
        rows = [
            (confidence[each.question], bool(each.holds))
            for each in self.ungated
            if each.holds is not None and each.question in confidence
        ]
        # Whatever is answered to a question that the documents do not answer is wrong.
        others = [(each.written.confidence, False) for each in self.outcomes if each.kind != "own"]
        return risk_coverage(rows + others) if rows else []


def answers_reported(
    table: AnswerTable,
    collections: Sequence[AnswerCollection],
    absent: tuple[str, ...],
    threshold: float,
    in_force: LogisticWeights,
) -> EvalReport:
    """Put a report together.

    Args:
        table: What was asked.
        collections: What became of it.
        absent: Names of the collections that are not here.
        threshold: Confidence from which a question is answered.
        in_force: The weights that the confidence was made with.
    """
    values = {each.name: measures_of(each.outcomes) for each in collections}
    checks = checked(table, {(each.name,): values[each.name] for each in collections}, absent)
    tables = (
        _quality(values),
        _caution(values),
        _calibration(collections, in_force),
        _risk(collections, threshold),
        checks_table(checks, ("collection", "measure")),
    )
    value = {
        "title": table.title,
        "threshold": threshold,
        "collections": values,
        "curves": {each.name: [asdict(point) for point in each.curve()] for each in collections},
        "absent": list(absent),
        "checks": checks_json(checks),
    }
    remarks = tuple((each.name, remark) for each in collections for remark in each.remarks)
    return EvalReport(table, tables, checks, remarks, absent, value, _questions_json(collections))


def _questions_json(collections: Sequence[AnswerCollection]) -> Iterator[dict[str, Any]]:
    """Yield a row per question, and whether it was answered as the settings have it or in any case."""
    for each in collections:
        for gated, outcomes in ((True, each.outcomes), (False, each.ungated)):
            for outcome in outcomes:
                yield {"collection": each.name, "gated": gated, **asdict(outcome)}


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
            *(cell for kind in OTHERS for cell in _kind(found, kind)),
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
            *(f"{TOLD[kind]}: {what}" for kind in OTHERS for what in ("answered", "AUC")),
        ),
        rows,
    )  # fmt: skip


def _kind(found: Mapping[str, float | None], kind: QuestionKind) -> tuple[str, str]:
    asked = found[f"asked_{kind}"]
    return number(found[f"answered_{kind}"]) + (f" of {asked:.0f}" if asked else ""), number(found[f"auc_{kind}"])


def _calibration(collections: Sequence[AnswerCollection], in_force: LogisticWeights) -> ReportTable:
    groups = {each.name: each.outcomes for each in collections}
    names = list(in_force.weights)
    now = fitted(groups, names)
    areas = held_out(groups, names)
    rows = [
        ("in force", f"{in_force.bias:.2f}", *(f"{in_force.weights[name]:.2f}" for name in names), ""),
        ("fitted here", f"{now.bias:.2f}", *(f"{now.weights[name]:.2f}" for name in names), ""),
    ]
    for left_out, value in areas.items():
        # Weights look best where they were fitted; what they are worth is seen where they were not.
        weights = fitted({name: rows for name, rows in groups.items() if name != left_out}, names)
        numbers = (f"{weights.weights[name]:.2f}" for name in names)
        rows.append((f"fitted without {left_out}", f"{weights.bias:.2f}", *numbers, f"{value:.3f}"))
    return ReportTable(
        "Calibration",
        "Log-odds of there being evidence: bias and weights of the features. AUC: of own questions against all "
        "others on the collection that was left out.",
        ("weights", "bias", *names, "AUC there"),
        tuple(rows) if len(areas) > 1 else (),
    )


def _risk(collections: Sequence[AnswerCollection], threshold: float) -> ReportTable:
    rows = []
    for each in collections:
        points = each.curve()
        if points:
            here = at_threshold(points, threshold)
            rows.append((each.name, *map(number, (here.coverage, here.risk, points[-1].risk, area(points)))))
    return ReportTable(
        "Risk and coverage",
        f"Questions are answered from a confidence of {threshold:g}; coverage is the share that is, risk the "
        "share of those without the right answer. Where all are answered, questions without an answer are all wrong. "
        "AURC: mean risk over all coverages.",
        ("collection", "coverage", "risk", "risk of answering all", "AURC"),
        tuple(rows),
    )
