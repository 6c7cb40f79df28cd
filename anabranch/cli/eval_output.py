"""An evaluation as tables on a terminal, and as JSON: one object for the whole, one line per query."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.cli.output import notes, results, say, write_json, write_whole
from anabranch.evaluation.answer_report import AnswerReport, curves, markdown_of_answers, sections, values_of
from anabranch.evaluation.markdown_report import markdown_of
from anabranch.evaluation.plots import plot_of, plot_of_curves
from anabranch.evaluation.score_report import CollectionReport, ScoreReport
from anabranch.evaluation.score_tables import EvalTable, with_expected
from anabranch.evaluation.significance import RunComparison
from anabranch.text.normalization import squeeze


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """What the command line asked for."""

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


STYLES = {"ok": "green", "drift": "red", "missed": "red", "not checked": "dim", "not here": "yellow"}
MOST_COLUMNS = 8
"""Of metrics, so that their names can be read on a terminal."""

SURE = 0.05
"""Below it a difference is called one; said beside the table."""


def print_report(console: Console, report: ScoreReport) -> None:
    """Print each collection, what they have in common, and what was expected."""
    for each in report.collections:
        _print_collection(console, report, each)
    if len(report.collections) > 1:
        _print_overview(console, report)
    if report.checks:
        _print_checks(console, report)
    if report.margins:
        _print_margins(console, report)


def _print_collection(console: Console, report: ScoreReport, each: CollectionReport) -> None:
    prepared, metrics = each.prepared, report.table.metrics
    queries = len(prepared.collection.queries)
    say(console, f"{each.name}: {prepared.documents:,} documents, {queries:,} queries", style="bold")
    for start in range(0, len(metrics), MOST_COLUMNS):
        part = metrics[start : start + MOST_COLUMNS]
        rows = [(name, *(f"{scored.mean(metric):.3f}" for metric in part)) for name, scored in each.scored.items()]
        _print_table(console, ("configuration", *part), rows)
    if not each.comparisons:
        return
    say(console, f"{metrics[0]} against {report.table.baseline}, query by query (a difference where p < {SURE})")
    compared = [
        (c.configuration, f"{c.difference:+.3f}", *map(str, (c.won, c.lost, c.tied)), f"{c.p:.4f}", _said(c))
        for c in each.comparisons
    ]
    _print_table(console, ("configuration", "difference", "won", "lost", "tied", "p", ""), compared, left=(6,))


def _said(comparison: RunComparison) -> str:
    if comparison.p >= SURE:
        return "no clear difference"
    return "better" if comparison.difference > 0 else "worse"


def _print_overview(console: Console, report: ScoreReport) -> None:
    metric, names = report.table.metrics[0], report.configurations
    say(console, f"{metric} by collection", style="bold")
    rows = [
        (each.name, *(f"{each.scored[name].mean(metric):.3f}" if name in each.scored else "" for name in names))
        for each in report.collections
    ]
    means = report.everywhere(metric)
    _print_table(
        console, ("collection", *names), [*rows, ("mean", *(f"{means[n]:.3f}" if n in means else "" for n in names))]
    )


def _print_checks(console: Console, report: ScoreReport) -> None:
    say(console, "Measured and expected", style="bold")
    rows = [
        (
            f"{check.case.collection}/{check.case.configuration}", check.case.metric,
            *("" if value is None else f"{value:.4f}" for value in (check.measured, check.case.expected)),
            f"{check.tolerance:.4f}", check.verdict,
        )
        for check in report.checks
    ]  # fmt: skip
    _print_table(console, ("case", "metric", "measured", "expected", "tolerance", ""), rows, left=(1, 5))
    counts = [(sum(check.verdict == verdict for check in report.checks), verdict) for verdict in STYLES]
    say(console, "Scores: " + ", ".join(f"{count} {verdict}" for count, verdict in counts if count) + ".")
    if report.absent:
        say(console, f"Collections that are not here: {', '.join(report.absent)}.")


def _print_margins(console: Console, report: ScoreReport) -> None:
    say(console, f"{report.table.metrics[0]}: margins over the best of others", style="bold")
    rows = [
        (
            check.on, check.margin.configuration, check.best or ", ".join(check.margin.over),
            "" if check.measured is None else f"{check.measured:+.4f}", f"{check.margin.by:+.4f}", check.verdict,
        )
        for check in report.margins
    ]  # fmt: skip
    _print_table(
        console, ("on", "configuration", "best of the others", "measured", "at least", ""), rows, left=(1, 2, 5)
    )


def _print_table(
    console: Console, names: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = ()
) -> None:
    """Print one table; columns are of numbers but for the first and those in `left`."""
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(names):
        grid.add_column(name, justify="left" if index in (0, *left) else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(squeeze(cell), style=STYLES.get(cell, "")) for cell in row))
    console.print(grid)


SHOWN_DOCUMENTS = 20


def report_json(report: ScoreReport) -> dict[str, Any]:
    """Return means, intervals, comparisons and checks."""
    return {
        "title": report.table.title,
        "metrics": list(report.table.metrics),
        "baseline": report.table.baseline,
        "configurations": dict(report.shown),
        "collections": [_collection(each) for each in report.collections],
        "absent": list(report.absent),
        "checks": [
            {
                **check.case.model_dump(),
                "tolerance": check.tolerance,
                "measured": check.measured,
                "verdict": check.verdict,
            }
            for check in report.checks
        ],
        "margins": [{**asdict(check), "margin": check.margin.model_dump()} for check in report.margins],
    }


def per_query_lines(report: ScoreReport) -> Iterator[str]:
    """Yield one JSON object per collection, query and configuration: its scores, what it found, what was relevant."""
    for each in report.collections:
        collection = each.prepared.collection
        for query, text in collection.queries.items():
            relevant = [key for key, value in collection.qrels[query].items() if value > 0]
            for name, scored in each.scored.items():
                row = {
                    "collection": each.name,
                    "configuration": name,
                    "query": query,
                    "text": text,
                    "scores": {metric: round(scored.scores[metric][query], 6) for metric in report.table.metrics},
                    "found": list(scored.run.rankings[query][:SHOWN_DOCUMENTS]),
                    "relevant": relevant,
                }
                yield json.dumps(row, ensure_ascii=False)


def _collection(each: CollectionReport) -> dict[str, Any]:
    return {
        "name": each.name,
        "documents": each.prepared.documents,
        "queries": len(each.prepared.collection.queries),
        "embedder": each.prepared.embedder,
        "scores": {name: scored.means for name, scored in each.scored.items()},
        "intervals": {name: [scored.low, scored.high] for name, scored in each.scored.items()},
        "texts": {
            text: {name: {m: scored.mean_of(m, queries) for m in scored.scores} for name, scored in each.scored.items()}
            for text, queries in each.texts.items()
        },
        "comparisons": [asdict(comparison) for comparison in each.comparisons],
        "remarks": list(each.remarks()),
    }


def answers_json(report: AnswerReport) -> dict[str, Any]:
    """Return means, curves and checks."""
    return {
        "title": report.table.title,
        "threshold": report.threshold,
        "collections": {each.name: values_of(each) for each in report.collections},
        "curves": {name: [asdict(point) for point in points] for name, points in curves(report).items()},
        "absent": list(report.absent),
        "checks": [{**asdict(check), "case": check.case.model_dump()} for check in report.checks()],
    }


def answer_lines(report: AnswerReport) -> Iterator[str]:
    """Yield one JSON object per question, and whether it was answered as the settings have it or in any case."""
    for each in report.collections:
        for gated, outcomes in ((True, each.outcomes), (False, each.ungated)):
            for outcome in outcomes:
                row = {"collection": each.name, "gated": gated, **asdict(outcome)}
                yield json.dumps(row, ensure_ascii=False)


def deliver_scores(report: ScoreReport, asked: EvalOptions) -> bool:
    """Show a report of scores and write what was asked for; tell whether a score is not as expected."""
    if asked.as_json:
        write_json(report_json(report))
    else:
        print_report(results(), report)
    _note([(each.name, remark) for each in report.collections for remark in each.remarks()])
    for path in _pages(asked):
        plot = path.with_suffix(".svg")
        _write(path, markdown_of(report, command=_command(asked), plot=plot.name), plot_of(report))
    if asked.per_query is not None:
        write_whole(asked.per_query, "".join(f"{line}\n" for line in per_query_lines(report)))
    if asked.accept:
        _accept(asked.what, report.table, {check.index: check.measured for check in report.checks})
    has_drifted = any(check.verdict == "drift" for check in report.checks) and not asked.accept
    return has_drifted or any(check.verdict == "missed" for check in report.margins)


def deliver_answers(report: AnswerReport, asked: EvalOptions) -> bool:
    """Show a report of answers and write what was asked for; tell whether a value is not as expected."""
    checks = report.checks()
    if asked.as_json:
        write_json(answers_json(report))
    else:
        for section in sections(report):
            say(results(), section.title, style="bold")
            _print_table(results(), section.names, section.rows)
    _note([(each.name, remark) for each in report.collections for remark in each.remarks])
    for path in _pages(asked):
        plot = path.with_suffix(".svg")
        markdown = markdown_of_answers(report, command=_command(asked), plot=plot.name)
        _write(path, markdown, plot_of_curves(curves(report), report.threshold))
    if asked.per_query is not None:
        write_whole(asked.per_query, "".join(f"{line}\n" for line in answer_lines(report)))
    if asked.accept:
        _accept(asked.what, report.table, {index: check.measured for index, check in enumerate(checks)})
    return any(check.verdict == "drift" for check in checks) and not asked.accept


def _note(remarks: Iterable[tuple[str, str]]) -> None:
    for name, remark in remarks:
        say(notes(), f"{name}: {remark}.", style="yellow")


def _pages(asked: EvalOptions) -> Iterator[Path]:
    if asked.report is not None:
        yield asked.report
    if asked.write:
        yield asked.what.with_suffix(".md")


def _write(path: Path, markdown: str, plot: str) -> None:
    write_whole(path, markdown)
    write_whole(path.with_suffix(".svg"), plot)
    say(notes(), f"{path} and {path.with_suffix('.svg')} are written.")


def _accept(path: Path, table: EvalTable, measured: Mapping[int, float | None]) -> None:
    values = {index: value for index, value in measured.items() if value is not None}
    write_whole(path, with_expected(path, table, values))
    say(notes(), f"{path} expects {len(values)} scores as they were measured.")


def _command(asked: EvalOptions) -> str:
    """Return how to make the report again, without the names of folders, which are of one machine."""
    return f"anabranch eval {asked.what.name}{' --data DIR' if asked.is_table else ''}"
