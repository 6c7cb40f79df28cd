"""The report of an evaluation, for a terminal, as Markdown and as JSON.

Equal measurements give equal text, so that a diff of two reports shows only what changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from anabranch.text.normalization import squeeze
from anabranch_evaluation.score_tables import AnswerCase, AnswerTable, Case, EvalTable, ScoreTable

CheckVerdict = Literal["ok", "drift", "not checked", "not here"]
"""`not checked`: no score is expected yet; `not here`: the collection is missing on this machine."""

# A mean over queries in another order differs in its last bits, which must not exceed a tolerance.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one case; `index` is its place in the table."""

    index: int
    case: Case | AnswerCase
    tolerance: float
    measured: float | None
    verdict: CheckVerdict


def check_cases(
    table: ScoreTable | AnswerTable,
    values: Mapping[tuple[str, ...], Mapping[str, float | None]],
    absent: Collection[str],
) -> tuple[Check, ...]:
    """Check each case that was to be measured, in the order of the table.

    Args:
        table: The table of cases.
        values: Measured values by the place that cases name.
        absent: Names of missing collections.
    """
    checks = []
    cases: Sequence[Case | AnswerCase] = table.cases
    for index, case in enumerate(cases):
        *place, what = case.key
        found = values.get(tuple(place))
        # Cases that `--only` left out are not reported.
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
    # A higher score is drift, too: with an outdated table the next fall would go unnoticed.
    return "ok" if abs(measured - expected) <= tolerance + ROUNDING else "drift"


@dataclass(frozen=True, slots=True)
class ReportTable:
    """One table of a report: heading, explanation, names of columns, and rows of text."""

    title: str
    about: str
    names: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class EvalReport:
    """The report of an evaluation of any kind.

    Attributes:
        table: The table that was measured.
        tables: Tables for people; those without rows are not shown.
        checks: Checks of expected scores.
        remarks: Names of collections, with notes on what was left out, refused or degraded.
        absent: Names of missing collections.
        value: The report as JSON primitives.
        queries: Results of each query as JSON primitives; can be read once.
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
    """Return a table of measured and expected values; `names` are the columns that identify a case."""
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
    """Return a report as Markdown; `command` is the one that makes it."""
    lines = [f"# {_safe(report.table.title)}", "", f"Written by `{command}`; do not edit.", ""]
    if report.table.about:
        lines += [report.table.about.strip(), ""]
    for table in report.tables:
        # An empty table would look like a failed measurement.
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
    """Return text on one line with pipes escaped."""
    return squeeze(text).replace("|", "\\|")


def number(value: float | None) -> str:
    """Format a score; empty if it is unknown."""
    return "" if value is None else f"{value:.3f}"
