"""The report of a table of scores: each collection, comparisons with the baseline, expected scores and margins."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from anabranch_evaluation.collection_scores import CollectionScores
from anabranch_evaluation.eval_report import (
    ROUNDING,
    EvalReport,
    ReportTable,
    checked,
    checks_json,
    checks_table,
    number,
)
from anabranch_evaluation.score_tables import Margin, ScoreTable

# Of the overview; with more configurations each of them has a row.
MAX_COLUMNS = 8

SHOWN_DOCUMENTS = 20
"""Of those that a query found."""

MarginVerdict = Literal["ok", "missed", "not checked"]
"""`not checked`: a collection or a configuration that it speaks of was not measured."""

ScoreMeans = Mapping[str, Mapping[str, float]]
"""Mean score of the first metric by configuration, by collection."""


def reported(
    table: ScoreTable,
    collections: Sequence[CollectionScores],
    absent: tuple[str, ...],
    settings: Mapping[str, str],
) -> EvalReport:
    """Put a report together."""
    first = table.metrics[0]
    columns = {each.name: {name: scored.mean(first) for name, scored in each.scored.items()} for each in collections}
    values: dict[tuple[str, ...], Mapping[str, float | None]] = {
        (each.name, name): {**scored.means} for each in collections for name, scored in each.scored.items()
    }
    checks = checked(table, values, absent)
    margins = margins_checked(table, columns, absent=[name for name in table.collections if name not in columns])
    tables = (
        _overview(table, columns),
        _comparisons(table, collections),
        checks_table(checks, ("collection", "configuration", "metric")),
        _margins(table, margins),
        *(found for each in collections for found in _details(table, each)),
        # Last, and in full: whoever reads a figure can set what it was measured with.
        ReportTable("Configurations", "", ("configuration", "settings"), list(settings.items())),
    )
    value = {
        "title": table.title,
        "metrics": list(table.metrics),
        "baseline": table.baseline,
        "configurations": dict(settings),
        "collections": [_collection_json(each) for each in collections],
        "absent": list(absent),
        "checks": checks_json(checks),
        "margins": [{**asdict(check), "margin": check.margin.model_dump()} for check in margins],
    }
    remarks = tuple((each.name, remark) for each in collections for remark in each.remarks())
    missed = any(check.verdict == "missed" for check in margins)
    return EvalReport(table, tables, checks, remarks, absent, value, _queries_json(table, collections), missed)


@dataclass(frozen=True, slots=True)
class MarginCheck:
    """What became of a margin on one collection, or on `mean`.

    Attributes:
        margin: As the table has it.
        on: Collection, or `mean`.
        best: Which of the others is best there; empty where nothing was checked.
        measured: By how much the configuration is better than that one.
        verdict: Whether that is enough.
    """

    margin: Margin
    on: str
    best: str
    measured: float | None
    verdict: MarginVerdict


def margins_checked(table: ScoreTable, columns: ScoreMeans, *, absent: Collection[str]) -> list[MarginCheck]:
    """Check the margins of a table on the collections that were measured.

    Args:
        table: With its margins.
        columns: What was measured.
        absent: Collections of the table that were not; their mean with the others is then unknown.
    """
    own = table.collections or tuple(columns)
    # A collection that was added for one run has no part in what the table says of the mean.
    rows = {"each": columns, "mean": {name: row for name, row in columns.items() if name in own}}
    return [
        check for margin in table.margins for check in _margin_checks(margin, rows[margin.where], complete=not absent)
    ]


def _margin_checks(margin: Margin, columns: ScoreMeans, *, complete: bool) -> Iterator[MarginCheck]:
    needed = (margin.configuration, *margin.over)
    # `--only` may have left out one of those that the margin compares.
    whole = {name: row for name, row in columns.items() if all(each in row for each in needed)}
    if margin.where == "mean":
        # A mean over the collections that happen to be here is another figure.
        known = list(whole.values()) if complete and len(whole) == len(columns) else []
        whole = {"mean": {name: sum(row[name] for row in known) / len(known) for name in needed}} if known else {}
    for on, row in whole.items():
        best = max(margin.over, key=lambda name: row[name])
        measured = row[margin.configuration] - row[best]
        yield MarginCheck(margin, on, best, measured, "ok" if measured >= margin.by - ROUNDING else "missed")
    if not whole:
        yield MarginCheck(margin, margin.where, "", None, "not checked")


def _overview(table: ScoreTable, columns: ScoreMeans) -> ReportTable:
    names = [name for name in table.configurations if any(name in row for row in columns.values())]
    rows = [(on, *_best_bold([row.get(name) for name in names])) for on, row in columns.items()]
    if len(columns) > 1:
        # A mean over fewer collections cannot stand beside the others.
        whole = [name for name in names if all(name in row for row in columns.values())]
        means = {name: sum(row[name] for row in columns.values()) / len(columns) for name in whole}
        rows.append(("mean", *_best_bold([means.get(name) for name in names])))
    heads: Sequence[str] = ("collection", *names)
    # Thirty configurations side by side fit no page.
    if len(names) > MAX_COLUMNS:
        heads, *rows = [("configuration", *(row[0] for row in rows)), *list(zip(heads, *rows, strict=True))[1:]]
    return ReportTable(f"{table.metrics[0]} by collection", "", heads, rows)


def _best_bold(values: Sequence[float | None]) -> list[str]:
    """Mark the best of a row, and what rounds to the same."""
    # By what is shown: two that look alike are both the best.
    texts = [number(value) for value in values]
    best = max(texts, key=lambda text: float(text or "-inf"), default="")
    return [f"**{text}**" if text and len(values) > 1 and text == best else text for text in texts]


def _comparisons(table: ScoreTable, collections: Sequence[CollectionScores]) -> ReportTable:
    rows = [
        (each.name, c.configuration, f"{c.difference:+.3f}", str(c.won), str(c.lost), str(c.tied), f"{c.p:.4f}")
        for each in collections
        for c in each.comparisons
    ]
    return ReportTable(
        f"Query by query against {table.baseline}",
        f"{table.metrics[0]}: mean difference, queries won, lost and tied, and p of a paired randomisation test, "
        "corrected by Holm within the collection.",
        ("collection", "configuration", "difference", "won", "lost", "tied", "p"),
        rows,
    )


def _margins(table: ScoreTable, margins: Sequence[MarginCheck]) -> ReportTable:
    rows = [
        (
            check.on, check.margin.configuration, ", ".join(check.margin.over), check.best,
            "" if check.measured is None else f"{check.measured:+.3f}", f"{check.margin.by:+.3f}", check.verdict,
        )
        for check in margins
    ]  # fmt: skip
    return ReportTable(
        "Margins",
        f"{table.metrics[0]}: by how much a configuration is better than the best of others, and has to be.",
        ("on", "configuration", "over", "best of them", "measured", "at least", ""),
        rows,
    )


def _details(table: ScoreTable, each: CollectionScores) -> Iterator[ReportTable]:
    prepared, metrics = each.prepared, table.metrics
    rows = [
        (name, *(number(scored.mean(metric)) for metric in metrics), f"{number(scored.low)} to {number(scored.high)}")
        for name, scored in each.scored.items()
    ]
    queries = len(prepared.collection.queries)
    about = f"{prepared.documents:,} documents, {queries:,} queries, embedder {prepared.embedder}."
    yield ReportTable(each.name, about, ("configuration", *metrics, f"95 % of {metrics[0]}"), rows)


def _collection_json(each: CollectionScores) -> dict[str, Any]:
    return {
        "name": each.name,
        "documents": each.prepared.documents,
        "queries": len(each.prepared.collection.queries),
        "embedder": each.prepared.embedder,
        "scores": {name: scored.means for name, scored in each.scored.items()},
        "intervals": {name: [scored.low, scored.high] for name, scored in each.scored.items()},
        "comparisons": [asdict(comparison) for comparison in each.comparisons],
        "remarks": list(each.remarks()),
    }


def _queries_json(table: ScoreTable, collections: Sequence[CollectionScores]) -> Iterator[dict[str, Any]]:
    """Yield a row per collection, query and configuration: its scores, what it found, what was relevant."""
    for each in collections:
        collection = each.prepared.collection
        for query, text in collection.queries.items():
            relevant = [key for key, value in collection.qrels[query].items() if value > 0]
            for name, scored in each.scored.items():
                yield {
                    "collection": each.name,
                    "configuration": name,
                    "query": query,
                    "text": text,
                    "scores": {metric: round(scored.scores[metric][query], 6) for metric in table.metrics},
                    "found": list(scored.run.rankings[query][:SHOWN_DOCUMENTS]),
                    "relevant": relevant,
                }
