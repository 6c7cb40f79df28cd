"""What an evaluation found, ready to be shown: scores per query and their means, comparisons, checks, remarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from anabranch.evaluation.collection_corpus import Prepared
from anabranch.evaluation.margins import MarginCheck, margins_checked
from anabranch.evaluation.measures import PerQuery, scores_of
from anabranch.evaluation.run_comparison import Comparison, compared
from anabranch.evaluation.runs import Run
from anabranch.evaluation.score_checks import Check, checked
from anabranch.evaluation.score_tables import Table
from anabranch.evaluation.significance import interval
from anabranch.evaluation.span_evidence import Evidence
from anabranch.evaluation.spans import span_scores


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
    comparisons: tuple[Comparison, ...]
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
class Report:
    """A whole table.

    Attributes:
        table: What was measured.
        collections: Those that are here, in the order of the table.
        absent: Names of those that are not.
        checks: Measured beside expected.
        margins: What became of the table's margins.
        shown: The settings of each configuration, for people.
    """

    table: Table
    collections: tuple[CollectionReport, ...]
    absent: tuple[str, ...]
    checks: tuple[Check, ...]
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
    table: Table, prepared: Prepared, runs: Mapping[str, Run], evidence: Evidence | None = None
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


def _scores(table: Table, prepared: Prepared, run: Run, evidence: Evidence | None) -> dict[str, PerQuery]:
    if evidence is None:
        return scores_of(table.metrics, prepared.collection.qrels, run.rankings)
    return span_scores(table.metrics, evidence.spans, run.spans, evidence.places)


def reported(
    table: Table, collections: tuple[CollectionReport, ...], absent: tuple[str, ...], shown: Mapping[str, str]
) -> Report:
    """Put a report together, with the checks of the table's cases and margins."""
    means = {(each.name, name): scored.means for each in collections for name, scored in each.scored.items()}
    checks = checked(table, means, absent=frozenset(absent))
    first = table.metrics[0]
    columns = {each.name: {name: scored.mean(first) for name, scored in each.scored.items()} for each in collections}
    margins = margins_checked(table, columns, absent=[name for name in table.collections if name not in columns])
    return Report(table, collections, absent, tuple(checks), tuple(margins), shown)


def _queries(count: int) -> str:
    return f"{count} quer{'y' if count == 1 else 'ies'}"
