"""An evaluation as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from anabranch.cli.output import say
from anabranch.evaluation.run_comparison import Comparison
from anabranch.evaluation.score_report import CollectionReport, Report
from anabranch.text.normalization import squeeze

STYLES = {"ok": "green", "drift": "red", "missed": "red", "not checked": "dim", "not here": "yellow"}
MOST_COLUMNS = 8
"""Of metrics, so that their names can be read on a terminal."""

SURE = 0.05
"""Below it a difference is called one; said beside the table."""


def print_report(console: Console, report: Report) -> None:
    """Print each collection, what they have in common, and what was expected."""
    for each in report.collections:
        _print_collection(console, report, each)
    if len(report.collections) > 1:
        _print_overview(console, report)
    if report.checks:
        _print_checks(console, report)
    if report.margins:
        _print_margins(console, report)


def _print_collection(console: Console, report: Report, each: CollectionReport) -> None:
    prepared, metrics = each.prepared, report.table.metrics
    queries = len(prepared.collection.queries)
    say(console, f"{each.name}: {prepared.documents:,} documents, {queries:,} queries", style="bold")
    for start in range(0, len(metrics), MOST_COLUMNS):
        part = metrics[start : start + MOST_COLUMNS]
        rows = [(name, *(f"{scored.mean(metric):.3f}" for metric in part)) for name, scored in each.scored.items()]
        print_grid(console, ("configuration", *part), rows)
    if not each.comparisons:
        return
    say(console, f"{metrics[0]} against {report.table.baseline}, query by query (a difference where p < {SURE})")
    compared = [
        (c.configuration, f"{c.difference:+.3f}", *map(str, (c.won, c.lost, c.tied)), f"{c.p:.4f}", _said(c))
        for c in each.comparisons
    ]
    print_grid(console, ("configuration", "difference", "won", "lost", "tied", "p", ""), compared, left=(6,))


def _said(comparison: Comparison) -> str:
    if comparison.p >= SURE:
        return "no clear difference"
    return "better" if comparison.difference > 0 else "worse"


def _print_overview(console: Console, report: Report) -> None:
    metric, names = report.table.metrics[0], report.configurations
    say(console, f"{metric} by collection", style="bold")
    rows = [
        (each.name, *(f"{each.scored[name].mean(metric):.3f}" if name in each.scored else "" for name in names))
        for each in report.collections
    ]
    means = report.everywhere(metric)
    print_grid(
        console, ("collection", *names), [*rows, ("mean", *(f"{means[n]:.3f}" if n in means else "" for n in names))]
    )


def _print_checks(console: Console, report: Report) -> None:
    say(console, "Measured and expected", style="bold")
    rows = [
        (
            f"{check.case.collection}/{check.case.configuration}", check.case.metric,
            *("" if value is None else f"{value:.4f}" for value in (check.measured, check.case.expected)),
            f"{check.tolerance:.4f}", check.verdict,
        )
        for check in report.checks
    ]  # fmt: skip
    print_grid(console, ("case", "metric", "measured", "expected", "tolerance", ""), rows, left=(1, 5))
    counts = [(sum(check.verdict == verdict for check in report.checks), verdict) for verdict in STYLES]
    say(console, "Scores: " + ", ".join(f"{count} {verdict}" for count, verdict in counts if count) + ".")
    if report.absent:
        say(console, f"Collections that are not here: {', '.join(report.absent)}.")


def _print_margins(console: Console, report: Report) -> None:
    say(console, f"{report.table.metrics[0]}: margins over the best of others", style="bold")
    rows = [
        (
            check.on, check.margin.configuration, check.best or ", ".join(check.margin.over),
            "" if check.measured is None else f"{check.measured:+.4f}", f"{check.margin.by:+.4f}", check.verdict,
        )
        for check in report.margins
    ]  # fmt: skip
    print_grid(console, ("on", "configuration", "best of the others", "measured", "at least", ""), rows, left=(1, 2, 5))


def print_grid(console: Console, names: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = ()) -> None:
    """Print one table; columns are of numbers but for the first and those in `left`."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(names):
        grid.add_column(name, justify="left" if index in (0, *left) else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(squeeze(cell), style=STYLES.get(cell, "")) for cell in row))
    console.print(grid)
