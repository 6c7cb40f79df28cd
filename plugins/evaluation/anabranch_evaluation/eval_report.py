"""What an evaluation found: tables that are the same on a terminal and in Markdown, and the same as JSON.

The same measurements give the same text, so that a diff of two reports shows what changed and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from anabranch.text.normalization import squeeze
from anabranch_evaluation.score_tables import AnswerCase, AnswerTable, Case, EvalTable, ScoreTable

CheckVerdict = Literal["ok", "drift", "not checked", "not here"]
"""`not checked`: nothing is expected yet; `not here`: it could not be measured on this machine."""

# A mean over queries in another order differs in its last bits; what stands exactly at a tolerance must not drift.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Check:
    """What became of one case; `index` is its place in the table."""

    index: int
    case: Case | AnswerCase
    tolerance: float
    measured: float | None
    verdict: CheckVerdict


def checked(
    table: ScoreTable | AnswerTable,
    values: Mapping[tuple[str, ...], Mapping[str, float | None]],
    absent: Collection[str],
) -> tuple[Check, ...]:
    """Return a check of each case that was to be measured, in the order of the table.

    Args:
        table: With its cases.
        values: What was measured, by the place that cases name.
        absent: Collections that are not here.
    """
    checks = []
    cases: Sequence[Case | AnswerCase] = table.cases
    for index, case in enumerate(cases):
        *place, what = case.key
        found = values.get(tuple(place))
        # What `--only` left out was not to be measured, and is no news.
        if found is not None or case.collection in absent:
            measured = found.get(what) if found is not None else None
            tolerance = table.tolerance if case.tolerance is None else case.tolerance
            checks.append(Check(index, case, tolerance, measured, _verdict(measured, case.expected, tolerance)))
    return tuple(checks)


def _verdict(measured: float | None, expected: float | None, tolerance: float) -> CheckVerdict:
    if measured is None:
        return "not here"
    if expected is None:
        return "not checked"
    # A score above what is expected is drift, too: the table is then out of date, and the next fall would go unseen.
    return "ok" if abs(measured - expected) <= tolerance + ROUNDING else "drift"


@dataclass(frozen=True, slots=True)
class ReportTable:
    """One table of a report: its heading, what a reader has to know about it, its columns, and its rows of text."""

    title: str
    about: str
    names: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class EvalReport:
    """A report, whatever was evaluated.

    Attributes:
        table: What was measured.
        tables: For people; those without rows are not shown.
        checks: Measured beside expected.
        remarks: What was left out, refused or degraded, with the name of the collection.
        absent: Names of the collections that are not here.
        value: The same for programs, as JSON primitives.
        queries: What became of each query, as JSON primitives; read once.
        has_missed: Whether a margin of the table was missed.
    """

    table: EvalTable
    tables: tuple[ReportTable, ...]
    checks: tuple[Check, ...]
    remarks: tuple[tuple[str, str], ...]
    absent: tuple[str, ...]
    value: Mapping[str, Any]
    queries: Iterable[Mapping[str, Any]]
    has_missed: bool = False


def checks_table(checks: Iterable[Check], names: Sequence[str]) -> ReportTable:
    """Return what was measured beside what is expected; `names` are of the columns that say what a case is."""
    rows = [
        (
            *check.case.key, number(check.measured), number(check.case.expected),
            number(check.tolerance), check.verdict,
        )
        for check in checks
    ]  # fmt: skip
    return ReportTable("Measured and expected", "", (*names, "measured", "expected", "tolerance", ""), rows)


def checks_json(checks: Iterable[Check]) -> list[dict[str, Any]]:
    """Return checks as JSON primitives."""
    return [
        {**check.case.model_dump(), "tolerance": check.tolerance, "measured": check.measured, "verdict": check.verdict}
        for check in checks
    ]


def markdown_of(report: EvalReport, command: str) -> str:
    """Return a report as Markdown; `command` makes it again."""
    lines = [f"# {_safe(report.table.title)}", "", f"Written by `{command}`; do not edit.", ""]
    if report.table.about:
        lines += [report.table.about.strip(), ""]
    for table in report.tables:
        # A heading over nothing would look like a measurement that failed.
        if table.rows:
            lines += [f"## {_safe(table.title)}", "", *([table.about, ""] if table.about else []), *_grid(table), ""]
    if report.remarks:
        lines += [*(f"- {_safe(name)}: {_safe(remark)}." for name, remark in report.remarks), ""]
    if report.absent:
        lines += [f"Not here: {', '.join(map(_safe, report.absent))}.", ""]
    return "\n".join(lines)


def _grid(table: ReportTable) -> Iterator[str]:
    yield f"| {' | '.join(map(_safe, table.names))} |"
    yield f"|{'---|' * len(table.names)}"
    for row in table.rows:
        yield f"| {' | '.join(map(_safe, row))} |"


def _safe(text: str) -> str:
    """Return text on one line that cannot end a table's cell."""
    return squeeze(text).replace("|", "\\|")


def number(value: float | None) -> str:
    """Return a score for people, nothing for one that is not known."""
    return "" if value is None else f"{value:.3f}"
