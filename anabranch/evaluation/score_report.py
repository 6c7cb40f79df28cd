"""What an evaluation of retrieval found: scores by query, means, comparisons, and what the table expects beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from anabranch.evaluation.collection_corpus import Prepared
from anabranch.evaluation.metrics import PerQuery, scores_of, span_scores
from anabranch.evaluation.runs import Run
from anabranch.evaluation.score_tables import Case, Margin, ScoreTable
from anabranch.evaluation.significance import RunComparison, compared, interval
from anabranch.evaluation.span_evidence import SpanEvidence

CheckVerdict = Literal["ok", "drift", "not checked", "not here"]
"""`not checked`: nothing is expected yet; `not here`: the collection is not on this machine."""

ROUNDING = 1e-9

ScoreMeans = Mapping[tuple[str, str], Mapping[str, float]]
"""Collection and configuration to mean score by metric."""


@dataclass(frozen=True, slots=True)
class ScoreCheck:
    """What became of one case; `index` is its place in the table."""

    index: int
    case: Case
    tolerance: float
    measured: float | None
    verdict: CheckVerdict


def verdict_of(measured: float | None, expected: float | None, tolerance: float) -> CheckVerdict:
    """Compare a score with what is expected.

    A score above that is drift, too: the table is then out of date, and the next fall would go unseen.
    """
    if measured is None:
        return "not here"
    if expected is None:
        return "not checked"
    return "ok" if abs(measured - expected) <= tolerance + ROUNDING else "drift"


def checked(table: ScoreTable, means: ScoreMeans, *, absent: frozenset[str]) -> list[ScoreCheck]:
    """Return a check of each case that was to be measured, in the order of the table.

    Args:
        table: With its cases.
        means: What was measured.
        absent: Collections that are not here.
    """
    checks = []
    for index, case in enumerate(table.cases):
        measured = means.get((case.collection, case.configuration), {}).get(case.metric)
        if measured is not None or case.collection in absent:
            tolerance = table.tolerance if case.tolerance is None else case.tolerance
            checks.append(ScoreCheck(index, case, tolerance, measured, verdict_of(measured, case.expected, tolerance)))
    return checks


MarginVerdict = Literal["ok", "missed", "not checked"]
"""`not checked`: a collection or a configuration that it speaks of was not measured."""

MeansByCollection = Mapping[str, Mapping[str, float]]
"""Collection to mean score of the first metric by configuration."""


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


def margins_checked(table: ScoreTable, columns: MeansByCollection, *, absent: Sequence[str]) -> list[MarginCheck]:
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


def _margin_checks(margin: Margin, columns: MeansByCollection, *, complete: bool) -> Iterator[MarginCheck]:
    needed = (margin.configuration, *margin.over)
    whole = {name: row for name, row in columns.items() if all(each in row for each in needed)}
    if margin.where == "each":
        for name, row in whole.items():
            yield _margin_check(margin, name, row)
        if not whole:
            yield MarginCheck(margin, "each", "", None, "not checked")
    elif complete and columns and len(whole) == len(columns):
        yield _margin_check(
            margin, "mean", {name: sum(row[name] for row in whole.values()) / len(whole) for name in needed}
        )
    else:
        yield MarginCheck(margin, "mean", "", None, "not checked")


def _margin_check(margin: Margin, on: str, scores: Mapping[str, float]) -> MarginCheck:
    best = max(margin.over, key=lambda name: scores[name])
    measured = scores[margin.configuration] - scores[best]
    return MarginCheck(margin, on, best, measured, "ok" if measured >= margin.by - ROUNDING else "missed")


@dataclass(frozen=True, slots=True)
class Scored:
    """One configuration on one collection.

    Attributes:
        scores: Score by query, by metric.
        low: Of the 95 % confidence interval of the first metric's mean.
        high: Likewise.
        run: What it found.
        weights: How much each query counts in a mean, 1 on average; empty where all count alike.
    """

    scores: Mapping[str, PerQuery]
    low: float
    high: float
    run: Run
    weights: Mapping[str, float] = field(default_factory=dict)

    def mean(self, metric: str) -> float:
        """Return the mean over the queries."""
        values = [value * self.weights.get(query, 1.0) for query, value in self.scores[metric].items()]
        return sum(values) / len(values)

    def mean_of(self, metric: str, queries: Sequence[str]) -> float:
        """Return the mean over some queries."""
        return sum(self.scores[metric][query] for query in queries) / len(queries)

    @property
    def means(self) -> dict[str, float]:
        """The mean of each metric."""
        return {metric: self.mean(metric) for metric in self.scores}


@dataclass(frozen=True, slots=True)
class CollectionReport:
    """One collection.

    Attributes:
        prepared: What was searched.
        scored: By configuration.
        comparisons: With the baseline, on the first metric.
        texts: Queries by the text they are about, where each text counts alike; empty where each query does.
    """

    prepared: Prepared
    scored: Mapping[str, Scored]
    comparisons: tuple[RunComparison, ...]
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the collection."""
        return self.prepared.collection.name

    def remarks(self) -> Iterator[str]:
        """Yield what was left out, refused or degraded."""
        yield from self.prepared.collection.remarks
        runs = {name: scored.run for name, scored in self.scored.items()}
        refused = {key: reason for run in runs.values() for key, reason in run.refused.items()}
        if refused:
            key, reason = next(iter(refused.items()))
            said = f"cannot be searched for, with a score of 0, such as {key!r}: {reason.rstrip('.')}"
            yield f"{_queries(len(refused))} {said}"
        for name, run in runs.items():
            for reason, count in run.degraded.items():
                yield f"{name}: {_queries(count)} degraded: {reason.rstrip('.')}"


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """A whole table.

    Attributes:
        table: What was measured.
        collections: Those that are here, in the order of the table.
        absent: Names of those that are not.
        checks: Measured beside expected.
        margins: What became of the table's margins.
        shown: The settings of each configuration, for people.
    """

    table: ScoreTable
    collections: tuple[CollectionReport, ...]
    absent: tuple[str, ...]
    checks: tuple[ScoreCheck, ...]
    margins: tuple[MarginCheck, ...]
    shown: Mapping[str, str]

    @property
    def configurations(self) -> list[str]:
        """Names of those that were measured anywhere, in the order of the table."""
        return [name for name in self.table.configurations if any(name in each.scored for each in self.collections)]

    def everywhere(self, metric: str) -> dict[str, float]:
        """Return the mean over collections of each configuration that was measured on all of them."""
        columns = {
            name: [each.scored[name].mean(metric) for each in self.collections if name in each.scored]
            for name in self.configurations
        }
        return {name: sum(means) / len(means) for name, means in columns.items() if len(means) == len(self.collections)}


def scored_collection(
    table: ScoreTable, prepared: Prepared, runs: Mapping[str, Run], evidence: SpanEvidence | None = None
) -> CollectionReport:
    """Score what the configurations found on one collection.

    Args:
        table: What is measured.
        prepared: The collection.
        runs: By configuration.
        evidence: Where queries are judged by spans; each text then counts as much as any other.
    """
    first, about = table.metrics[0], evidence.texts if evidence is not None else {}
    sizes = Counter(about.values())
    weights = {query: len(about) / len(sizes) / sizes[text] for query, text in about.items()}
    scored: dict[str, Scored] = {}
    for name, run in runs.items():
        scores = _scores(table, prepared, run, evidence)
        low, high = interval(list(scores[first].values()), [about[query] for query in scores[first] if about])
        scored[name] = Scored(scores, low, high, run, weights)
    columns = {name: each.scores[first] for name, each in scored.items()}
    comparisons = compared(columns, table.baseline, weights) if table.baseline is not None else []
    texts = {text: [query for query in about if about[query] == text] for text in sorted(sizes)}
    return CollectionReport(prepared, scored, tuple(comparisons), texts)


def _scores(table: ScoreTable, prepared: Prepared, run: Run, evidence: SpanEvidence | None) -> dict[str, PerQuery]:
    if evidence is None:
        return scores_of(table.metrics, prepared.collection.qrels, run.rankings)
    return span_scores(table.metrics, evidence.spans, run.spans, evidence.places)


def reported(
    table: ScoreTable, collections: tuple[CollectionReport, ...], absent: tuple[str, ...], shown: Mapping[str, str]
) -> ScoreReport:
    """Put a report together, with the checks of the table's cases and margins."""
    means = {(each.name, name): scored.means for each in collections for name, scored in each.scored.items()}
    checks = checked(table, means, absent=frozenset(absent))
    first = table.metrics[0]
    columns = {each.name: {name: scored.mean(first) for name, scored in each.scored.items()} for each in collections}
    margins = margins_checked(table, columns, absent=[name for name in table.collections if name not in columns])
    return ScoreReport(table, collections, absent, tuple(checks), tuple(margins), shown)


def _queries(count: int) -> str:
    return f"{count} quer{'y' if count == 1 else 'ies'}"
