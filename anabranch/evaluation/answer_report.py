"""What an evaluation of answers found, as tables that are the same on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from anabranch.evaluation.answer_quality import (
    Caution,
    Outcome,
    Point,
    Quality,
    QuestionKind,
    area,
    at_threshold,
    caution_of,
    quality_of,
    risk_coverage,
)
from anabranch.evaluation.calibration import LogisticWeights, fitted, held_out
from anabranch.evaluation.markdown_report import grid, safe
from anabranch.evaluation.score_report import CheckVerdict, verdict_of
from anabranch.evaluation.score_tables import AnswerCase, AnswerTable

OTHERS: tuple[QuestionKind, ...] = ("marked", "elsewhere", "removed")
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
        others = [(each.written.confidence, False) for each in self.outcomes if each.kind != "own"]
        return risk_coverage(rows + others) if rows else []


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """A value beside the expected one."""

    case: AnswerCase
    measured: float | None
    tolerance: float
    verdict: CheckVerdict


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """A whole table of answers.

    Attributes:
        threshold: Confidence from which a question is answered.
        in_force: The weights that the confidence was made with.
        absent: Names of the collections that are not here.
    """

    table: AnswerTable
    collections: tuple[AnswerCollection, ...]
    absent: tuple[str, ...]
    threshold: float
    in_force: LogisticWeights

    def checks(self) -> list[AnswerCheck]:
        """Compare what was measured with what is expected."""
        values = {each.name: values_of(each) for each in self.collections}
        return [self._check(case, values.get(case.collection)) for case in self.table.cases]

    def _check(self, case: AnswerCase, values: Mapping[str, float | None] | None) -> AnswerCheck:
        tolerance = self.table.tolerance if case.tolerance is None else case.tolerance
        measured = values.get(case.measure) if values is not None else None
        return AnswerCheck(case, measured, tolerance, verdict_of(measured, case.expected, tolerance))


def values_of(each: AnswerCollection) -> dict[str, float | None]:
    """Return what was measured on a collection, by the names that cases use."""
    quality, caution = quality_of(each.outcomes), caution_of(each.outcomes)
    values: dict[str, float | None] = {
        name: getattr(quality, name) for name in ("contains", "recall", "precision", "sentences", "words")
    }
    values["false_abstentions"] = caution.false_abstentions
    values |= {f"answered_{kind}": caution.answered.get(kind) for kind in OTHERS}
    return values | {f"auc_{kind}": caution.auc.get(kind) for kind in OTHERS}


@dataclass(frozen=True, slots=True)
class ReportSection:
    """One table with what a reader has to know about it."""

    title: str
    about: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def sections(report: AnswerReport) -> Iterator[ReportSection]:
    """Yield the tables of a report that have rows."""
    made = (_quality(report), _caution(report), _calibration(report), _risk(report), _checks(report))
    return (section for section in made if section.rows)


def markdown_of_answers(report: AnswerReport, *, command: str, plot: str) -> str:
    """Return a report as Markdown.

    Args:
        report: What was found.
        command: How to make it again.
        plot: File name of the plot beside it.
    """
    lines = [f"# {safe(report.table.title)}", "", f"Written by `{command}`; do not edit.", ""]
    if report.table.about:
        lines += [report.table.about.strip(), ""]
    for section in sections(report):
        lines += [f"## {section.title}", "", section.about, "", *grid(section.names, section.rows), ""]
    lines += [f"![Risk against coverage by collection]({plot})", ""]
    remarks = [f"- {safe(each.name)}: {safe(remark)}." for each in report.collections for remark in each.remarks]
    lines += [*remarks, ""] if remarks else []
    if report.absent:
        lines += [f"Not here: {', '.join(map(safe, report.absent))}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _quality(report: AnswerReport) -> ReportSection:
    rows = [(each.name, quality_of(each.outcomes)) for each in report.collections]
    return ReportSection(
        "Is the answer in it?",
        "Of the questions whose answer is known. `as long`: as many words from the start of the best passage hold it. "
        "`recall` and `precision` are of words, against the sentences that are known to answer.",
        ("collection", "questions", "contains", "as long", "in passages", "recall", "precision", "sentences", "words"),
        tuple((name, *_quality_row(quality)) for name, quality in rows if quality.asked),
    )


def _quality_row(quality: Quality) -> tuple[str, ...]:
    shares = (quality.contains, quality.lead, quality.reachable, quality.recall, quality.precision)
    lengths = (quality.sentences, quality.words)
    return (str(quality.asked), *map(_share, shares), *("" if x is None else f"{x:.1f}" for x in lengths))


def _caution(report: AnswerReport) -> ReportSection:
    names = [f"{TOLD[kind]}: {what}" for kind in OTHERS for what in ("answered", "AUC")]
    return ReportSection(
        "Is it answered only where it can be?",
        "Share of questions that were answered. The own ones can be; `no answer` are known not to be in the documents, "
        "`of others` are questions of other collections, and `answer removed` are own ones asked without the documents "
        "that answer them. AUC: how often an own question has more confidence than one of these.",
        ("collection", "own", "false abstentions", *names),
        tuple((each.name, *_caution_row(caution_of(each.outcomes))) for each in report.collections),
    )


def _caution_row(caution: Caution) -> Iterable[str]:
    yield str(caution.asked.get("own", 0))
    yield _share(caution.false_abstentions)
    for kind in OTHERS:
        asked = f" of {caution.asked[kind]}" if kind in caution.asked else ""
        yield _share(caution.answered.get(kind)) + asked
        yield _share(caution.auc.get(kind))


def _calibration(report: AnswerReport) -> ReportSection:
    groups = {each.name: each.outcomes for each in report.collections}
    names = list(report.in_force.weights)
    now = fitted(groups, names)
    areas = held_out(groups, names)
    rows = [
        ("in force", f"{report.in_force.bias:.2f}", *(f"{report.in_force.weights[name]:.2f}" for name in names), ""),
        ("fitted here", f"{now.bias:.2f}", *(f"{now.weights[name]:.2f}" for name in names), ""),
    ]
    for left_out, value in areas.items():
        weights = fitted({name: rows for name, rows in groups.items() if name != left_out}, names)
        numbers = (f"{weights.weights[name]:.2f}" for name in names)
        rows.append((f"fitted without {left_out}", f"{weights.bias:.2f}", *numbers, f"{value:.3f}"))
    return ReportSection(
        "Calibration",
        "Log-odds of there being evidence: bias and weights of the signals. AUC: of own questions against all "
        "others on the collection that was left out.",
        ("weights", "bias", *names, "AUC there"),
        tuple(rows) if len(areas) > 1 else (),
    )


def _risk(report: AnswerReport) -> ReportSection:
    rows = []
    for each in report.collections:
        points = each.curve()
        if points:
            here = at_threshold(points, report.threshold)
            numbers = (here.coverage, here.risk, points[-1].risk, area(points))
            rows.append((each.name, *(f"{number:.3f}" for number in numbers)))
    return ReportSection(
        "Risk and coverage",
        f"Questions are answered from a confidence of {report.threshold:g}; coverage is the share that is, risk the "
        "share of those without the right answer. Where all are answered, questions without an answer are all wrong. "
        "AURC: mean risk over all coverages.",
        ("collection", "coverage", "risk", "risk of answering all", "AURC"),
        tuple(rows),
    )


def _checks(report: AnswerReport) -> ReportSection:
    rows = [
        (
            check.case.collection, check.case.measure,
            *("" if value is None else f"{value:.3f}" for value in (check.measured, check.case.expected)),
            f"{check.tolerance:.3f}", check.verdict,
        )
        for check in report.checks()
    ]  # fmt: skip
    names = ("collection", "measure", "measured", "expected", "tolerance", "")
    return ReportSection("Measured and expected", "", names, tuple(rows))


def curves(report: AnswerReport) -> dict[str, Sequence[Point]]:
    """Return risk against coverage of the collections that have answers to compare with."""
    return {each.name: points for each in report.collections if (points := each.curve())}


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
