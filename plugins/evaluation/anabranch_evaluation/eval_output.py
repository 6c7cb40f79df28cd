"""Prints the report of an evaluation as tables or JSON, and writes its files."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.cli.output import notes, print_table, results, say, write_json, write_whole
from anabranch.text.normalization import squeeze
from anabranch_evaluation.eval_report import EvalReport, ReportTable, markdown_of
from anabranch_evaluation.score_tables import with_expected

STYLES = {"ok": "green", "drift": "red", "missed": "red", "not checked": "dim", "not here": "yellow"}


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """Options of the command line."""

    what: Path
    is_table: bool
    data: Path | None = None
    collections: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    baseline: str | None = None
    sets: tuple[str, ...] = ()
    embedder: str = ""
    base_url: str | None = None
    corpus: Path | None = None
    split: str = "test"
    cache: Path = Path(".anabranch/eval")
    fresh: bool = False
    report: Path | None = None
    write: bool = False
    per_query: Path | None = None
    accept: bool = False
    strict: bool = False
    as_json: bool = False
    judge_model: str = ""
    generate: int = 0


def deliver(report: EvalReport, options: EvalOptions) -> bool:
    """Print a report and write its files; return whether a score or a margin is not as expected."""
    if options.as_json:
        write_json(report.value)
    else:
        print_report(results(), report)
    for name, remark in report.remarks:
        say(notes(), f"{name}: {remark}.", style="yellow")
    # Without paths, which differ between machines.
    command = f"anabranch eval {options.what.name}{' --data DIR' if options.is_table else ''}"
    for path in (options.report, options.what.with_suffix(".md") if options.write else None):
        if path is not None:
            write_whole(path, markdown_of(report, command))
            say(notes(), f"{path} is written.")
    if options.per_query is not None:
        write_whole(options.per_query, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in report.queries))
    if options.accept:
        values = {check.index: check.measured for check in report.checks if check.measured is not None}
        write_whole(options.what, with_expected(options.what, report.table, values))
        say(notes(), f"{options.what} now expects {len(values)} scores as measured.")
    # Accepted scores are no drift any more, but a missed margin cannot be accepted.
    has_drifted = any(check.verdict == "drift" for check in report.checks) and not options.accept
    return has_drifted or report.has_missed


def print_report(console: Console, report: EvalReport) -> None:
    """Print the tables that have rows, and how many scores are as expected."""
    for table in report.tables:
        if table.rows:
            say(console, table.title, style="bold")
            if table.about:
                say(console, table.about, style="dim")
            print_table(_grid(table))
    if report.checks:
        counts = Counter[str](check.verdict for check in report.checks)
        say(console, "Scores: " + ", ".join(f"{counts[each]} {each}" for each in STYLES if each in counts) + ".")
    if report.absent:
        say(console, f"Missing collections: {', '.join(report.absent)}.")


def _grid(table: ReportTable) -> Table:
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name, column in zip(table.names, zip(*table.rows, strict=True), strict=True):
        # Right-aligned, so that figures can be compared down a column.
        is_number = all(cell.strip("*+-")[:1].isdigit() for cell in column if cell)
        grid.add_column(squeeze(name), justify="right" if is_number else "left", overflow="fold")
    for row in table.rows:
        # Markdown's stars mark the best; a terminal has bold letters for that.
        cells = [(squeeze(cell).strip("*"), "bold" if cell.startswith("**") else STYLES.get(cell, "")) for cell in row]
        grid.add_row(*(Text(text, style=style) for text, style in cells))
    return grid
