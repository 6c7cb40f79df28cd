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
    check_cases,
    checks_json,
    checks_table,
    number,
)
from anabranch_evaluation.score_tables import Margin, ScoreTable

# Most columns of the overview; with more configurations each has a row.
MAX_COLUMNS = 8

SHOWN_DOCUMENTS = 20
"""Most documents that are listed for a query."""

MarginVerdict = Literal["ok", "missed", "not checked"]
"""`not checked`: one of its collections or configurations was not measured."""

ScoreMeans = Mapping[str, Mapping[str, float]]
"""Mean score of the first metric by configuration, by collection."""


def report_scores(
    table: ScoreTable,
    collections: Sequence[CollectionScores],
    absent: tuple[str, ...],
    settings: Mapping[str, str],
) -> EvalReport:
    """Make the report."""
    first = table.metrics[0]
    columns = {each.name: {name: scored.mean(first) for name, scored in each.scored.items()} for each in collections}
    values: dict[tuple[str, ...], Mapping[str, float | None]] = {
        (each.name, name): {**scored.means} for each in collections for name, scored in each.scored.items()
    }
    checks = check_cases(table, values, absent)
    margins = check_margins(table, columns, absent=[name for name in table.collections if name not in columns])
    tables = (
        _overview(table, columns),
        _published(table, columns),
        _comparisons(table, collections),
        checks_table(checks, ("collection", "configuration", "metric")),
        _margins(table, margins),
        *(found for each in collections for found in _details(table, each)),
        # In full, so that readers can repeat the measurement.
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
    return EvalReport(table, tables, checks, remarks, absent, value, _queries_json(collections), missed)


@dataclass(frozen=True, slots=True)
class MarginCheck:
    """The check of a margin on one collection, or on `mean`.

    Attributes:
        margin: The margin in the table.
        on: Collection, or `mean`.
        best: The best of the other configurations; empty if not checked.
        measured: Lead of the configuration over `best`.
        verdict: Whether the lead is enough.
    """

    margin: Margin
    on: str
    best: str
    measured: float | None
    verdict: MarginVerdict


def check_margins(table: ScoreTable, columns: ScoreMeans, *, absent: Collection[str]) -> list[MarginCheck]:
    """Check the margins of a table on the collections that were measured.

    Args:
        table: The table of margins.
        columns: Measured means.
        absent: Collections of the table that were not measured; the mean is then unknown.
    """
    own = table.collections or tuple(columns)
    # Collections that were added for one run do not count in the table's mean.
    rows = {"each": columns, "mean": {name: row for name, row in columns.items() if name in own}}
    return [
        check for margin in table.margins for check in _margin_checks(margin, rows[margin.where], complete=not absent)
    ]


def _margin_checks(margin: Margin, columns: ScoreMeans, *, complete: bool) -> Iterator[MarginCheck]:
    needed = (margin.configuration, *margin.over)
    # `--only` may have left out a configuration of the margin.
    whole = {name: row for name, row in columns.items() if all(each in row for each in needed)}
    if margin.where == "mean":
        # A mean over only some of the collections is not comparable.
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
        # Means over different collections are not comparable.
        whole = [name for name in names if all(name in row for row in columns.values())]
        means = {name: sum(row[name] for row in columns.values()) / len(columns) for name in whole}
        rows.append(("mean", *_best_bold([means.get(name) for name in names])))
    heads: Sequence[str] = ("collection", *names)
    # Many configurations side by side do not fit a page.
    if len(names) > MAX_COLUMNS:
        heads, *rows = [("configuration", *(row[0] for row in rows)), *list(zip(heads, *rows, strict=True))[1:]]
    return ReportTable(f"{table.metrics[0]} by collection", "", heads, rows)


def _published(table: ScoreTable, columns: ScoreMeans) -> ReportTable:
    known = [each for each in table.published if any(on in each.scores for on in columns)]
    rows = [
        (name, *(number(row.get(name)) for row in columns.values()), "measured here")
        for name in table.configurations
        if known and any(name in row for row in columns.values())
    ]
    rows += [(each.system, *(number(each.scores.get(on)) for on in columns), each.source) for each in known]
    return ReportTable(f"{table.metrics[0]} beside published scores", "", ("system", *columns, "source"), rows)


def _best_bold(values: Sequence[float | None]) -> list[str]:
    """Mark the best values of a row, after rounding."""
    # Compared as printed: equal texts are both the best.
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
    # Metrics of tokens are only of collections whose passages are judged.
    metrics = list(next(iter(each.scored.values())).scores)
    rows = [
        (name, *(number(scored.mean(metric)) for metric in metrics), f"{number(scored.low)} to {number(scored.high)}")
        for name, scored in each.scored.items()
    ]
    queries = len(each.collection.queries)
    about = f"{each.documents:,} documents, {queries:,} queries, embedder {' and '.join(each.embedders)}."
    if each.name in table.by_passage:
        about += " Passages are judged: a leaf is relevant that holds some of the evidence."
    yield ReportTable(each.name, about, ("configuration", *metrics, f"95 % of {metrics[0]}"), rows)


def _collection_json(each: CollectionScores) -> dict[str, Any]:
    return {
        "name": each.name,
        "documents": each.documents,
        "queries": len(each.collection.queries),
        "embedder": " and ".join(each.embedders),
        "scores": {name: scored.means for name, scored in each.scored.items()},
        "intervals": {name: [scored.low, scored.high] for name, scored in each.scored.items()},
        "comparisons": [asdict(comparison) for comparison in each.comparisons],
        "remarks": list(each.remarks()),
    }


def _queries_json(collections: Sequence[CollectionScores]) -> Iterator[dict[str, Any]]:
    """Yield a row per collection, query and configuration: scores, found and relevant documents."""
    for each in collections:
        for query, text in each.collection.queries.items():
            for name, scored in each.scored.items():
                qrels = scored.prepared.collection.qrels
                yield {
                    "collection": each.name,
                    "configuration": name,
                    "query": query,
                    "text": text,
                    "scores": {metric: round(values[query], 6) for metric, values in scored.scores.items()},
                    "found": list(scored.run.rankings[query][:SHOWN_DOCUMENTS]),
                    "relevant": [key for key, value in qrels[query].items() if value > 0],
                }
