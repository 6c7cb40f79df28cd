"""A report as Markdown: the same measurements give the same text, so that a diff shows what changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from anabranch.evaluation.score_report import CollectionReport, ScoreReport
from anabranch.text.normalization import squeeze

MAX_COLUMNS = 8
"""Of the first table; with more configurations each of them has a row."""


def markdown_of(report: ScoreReport, *, command: str, plot: str = "") -> str:
    """Return the report.

    Args:
        report: What was found.
        command: How to make it again.
        plot: File name of the plot beside it; empty for none.
    """
    return "\n".join(_lines(report, command, plot)) + "\n"


def _lines(report: ScoreReport, command: str, plot: str) -> Iterator[str]:
    table = report.table
    yield from (f"# {safe(table.title)}", "", f"Written by `{command}`; do not edit.", "")
    if table.about:
        yield from (table.about.strip(), "")
    yield from (f"## {table.metrics[0]} by collection", "", *_overview(report), "")
    if plot:
        alt = f"{table.metrics[0]} of each configuration with its 95 % confidence interval, by collection"
        yield from (f"![{alt}]({plot})", "")
    if any(each.comparisons for each in report.collections):
        yield from (f"## Query by query against {safe(str(table.baseline))}", "", *_comparisons(report), "")
    if report.checks:
        yield from ("## Measured and expected", "", *_checks(report), "")
    if report.margins:
        yield from ("## Margins", "", *_margins(report), "")
    yield from ("## All metrics", "")
    for each in report.collections:
        yield from (f"### {safe(each.name)}", "", *_collection(report, each), "")
    if report.absent:
        yield from (f"Not here: {', '.join(map(safe, report.absent))}.", "")
    yield from ("## Configurations", "", *grid(("configuration", "settings"), report.shown.items()))


def _overview(report: ScoreReport) -> Iterator[str]:
    first, names = report.table.metrics[0], report.configurations
    rows = [
        [each.name, *_best_bold([each.scored[name].mean(first) if name in each.scored else None for name in names])]
        for each in report.collections
    ]
    if len(report.collections) > 1:
        means = report.everywhere(first)
        rows.append(["mean", *_best_bold([means.get(name) for name in names])])
    lines = [["collection", *names], *rows]
    if len(names) > MAX_COLUMNS:
        lines = [["configuration", *(row[0] for row in rows)], *map(list, list(zip(*lines, strict=True))[1:])]
    yield from grid(lines[0], lines[1:])


def _comparisons(report: ScoreReport) -> Iterator[str]:
    yield (
        f"{report.table.metrics[0]}: mean difference, queries won, lost and tied, and p of a paired randomisation "
        "test, corrected by Holm within the collection."
    )
    yield ""
    rows = [
        (each.name, c.configuration, f"{c.difference:+.3f}", c.won, c.lost, c.tied, f"{c.p:.4f}")
        for each in report.collections
        for c in each.comparisons
    ]
    yield from grid(("collection", "configuration", "difference", "won", "lost", "tied", "p"), rows)


def _checks(report: ScoreReport) -> Iterator[str]:
    rows = [
        (
            check.case.collection, check.case.configuration, check.case.metric,
            _number(check.measured), _number(check.case.expected), f"{check.tolerance:.3f}", check.verdict,
        )
        for check in report.checks
    ]  # fmt: skip
    yield from grid(("collection", "configuration", "metric", "measured", "expected", "tolerance", ""), rows)


def _margins(report: ScoreReport) -> Iterator[str]:
    yield f"{report.table.metrics[0]}: by how much a configuration is better than the best of others, and has to be."
    yield ""
    rows = [
        (
            check.on, check.margin.configuration, ", ".join(check.margin.over), check.best,
            "" if check.measured is None else f"{check.measured:+.3f}", f"{check.margin.by:+.3f}", check.verdict,
        )
        for check in report.margins
    ]  # fmt: skip
    yield from grid(("on", "configuration", "over", "best of them", "measured", "at least", ""), rows)


def _collection(report: ScoreReport, each: CollectionReport) -> Iterator[str]:
    prepared = each.prepared
    queries = len(prepared.collection.queries)
    yield f"{prepared.documents:,} documents, {queries:,} queries, embedder {safe(prepared.embedder)}."
    yield ""
    metrics = report.table.metrics
    rows = [
        (name, *(f"{scored.mean(metric):.3f}" for metric in metrics), f"{scored.low:.3f} to {scored.high:.3f}")
        for name, scored in each.scored.items()
    ]
    yield from grid(("configuration", *metrics, f"95 % of {metrics[0]}"), rows)
    if each.texts:
        yield from ("", f"{metrics[0]} by text; each of them counts alike in the means above.", "")
        rows = [
            (name, *(f"{scored.mean_of(metrics[0], queries):.3f}" for queries in each.texts.values()))
            for name, scored in each.scored.items()
        ]
        yield from grid(("configuration", *each.texts), rows)
    remarks = [f"- {safe(remark)}." for remark in each.remarks()]
    if remarks:
        yield from ("", *remarks)


def _best_bold(values: Sequence[float | None]) -> list[str]:
    """Mark the best of a row, and what rounds to the same."""
    texts = [_number(value) for value in values]
    best = max((text for value, text in zip(values, texts, strict=True) if value is not None), default="")
    return [f"**{text}**" if len(values) > 1 and text == best else text for text in texts]


def grid(names: Sequence[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {' | '.join(map(safe, names))} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(safe(str(cell)) for cell in row)} |"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def safe(text: str) -> str:
    """Return text on one line that cannot end a table's cell."""
    return squeeze(text).replace("|", "\\|")
