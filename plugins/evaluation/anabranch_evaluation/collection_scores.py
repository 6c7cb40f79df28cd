"""The scores of a collection: by query and metric, their means and intervals, and how configurations compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from anabranch_evaluation.collection import count_queries
from anabranch_evaluation.collection_corpus import Prepared
from anabranch_evaluation.metrics import PerQuery, scores_of
from anabranch_evaluation.runs import Run
from anabranch_evaluation.score_tables import ScoreTable
from anabranch_evaluation.significance import RunComparison, compare_runs, interval


@dataclass(frozen=True, slots=True)
class Scored:
    """One configuration on one collection.

    Attributes:
        scores: Score by query, by metric.
        low: Lower end of the 95 % confidence interval of the first metric's mean.
        high: Its upper end.
        run: The documents found.
    """

    scores: Mapping[str, PerQuery]
    low: float
    high: float
    run: Run

    def mean(self, metric: str) -> float:
        """Return the mean over the queries."""
        values = self.scores[metric].values()
        return sum(values) / len(values)

    @property
    def means(self) -> dict[str, float]:
        """The mean of each metric."""
        return {metric: self.mean(metric) for metric in self.scores}


@dataclass(frozen=True, slots=True)
class CollectionScores:
    """One collection.

    Attributes:
        prepared: The collection with its corpus.
        scored: Scores by configuration.
        comparisons: Comparisons with the baseline on the first metric.
    """

    prepared: Prepared
    scored: Mapping[str, Scored]
    comparisons: tuple[RunComparison, ...]

    @property
    def name(self) -> str:
        """Name of the collection."""
        return self.prepared.collection.name

    def remarks(self) -> Iterator[str]:
        """Yield what was left out, refused or degraded."""
        yield from self.prepared.collection.remarks
        runs = {name: scored.run for name, scored in self.scored.items()}
        # A query is refused in every configuration, so it is reported once.
        refused = {key: reason for run in runs.values() for key, reason in run.refused.items()}
        if refused:
            key, reason = next(iter(refused.items()))
            said = f"cannot be searched for, with a score of 0, such as {key!r}: {reason.rstrip('.')}"
            yield f"{count_queries(len(refused))} {said}"
        for name, run in runs.items():
            for reason, count in run.degraded.items():
                yield f"{name}: {count_queries(count)} degraded: {reason.rstrip('.')}"


def score_collection(table: ScoreTable, prepared: Prepared, runs: Mapping[str, Run]) -> CollectionScores:
    """Score the runs of the configurations on one collection."""
    first = table.metrics[0]
    scored: dict[str, Scored] = {}
    for name, run in runs.items():
        scores = scores_of(table.metrics, prepared.collection.qrels, run.rankings)
        low, high = interval(list(scores[first].values()))
        scored[name] = Scored(scores, low, high, run)
    # Only the first metric is compared: with each further one, a difference by chance becomes more likely.
    columns = {name: each.scores[first] for name, each in scored.items()}
    comparisons = compare_runs(columns, table.baseline) if table.baseline is not None else []
    return CollectionScores(prepared, scored, tuple(comparisons))
