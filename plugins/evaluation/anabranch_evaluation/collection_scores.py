"""The scores of a collection: by query and metric, their means and intervals, and how configurations compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from anabranch_evaluation.collection import queries_counted
from anabranch_evaluation.collection_corpus import Prepared
from anabranch_evaluation.metrics import PerQuery, scores_of
from anabranch_evaluation.runs import Run
from anabranch_evaluation.score_tables import ScoreTable
from anabranch_evaluation.significance import RunComparison, compared, interval


@dataclass(frozen=True, slots=True)
class Scored:
    """One configuration on one collection.

    Attributes:
        scores: Score by query, by metric.
        low: Of the 95 % confidence interval of the first metric's mean.
        high: Likewise.
        run: What it found.
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
        prepared: What was searched.
        scored: By configuration.
        comparisons: With the baseline, on the first metric.
    """

    prepared: Prepared
    scored: Mapping[str, Scored]
    comparisons: tuple[RunComparison, ...]

    @property
    def name(self) -> str:
        """Of the collection."""
        return self.prepared.collection.name

    def remarks(self) -> Iterator[str]:
        """Yield what was left out, refused or degraded."""
        yield from self.prepared.collection.remarks
        runs = {name: scored.run for name, scored in self.scored.items()}
        # The same query is refused in every configuration, so it is said once.
        refused = {key: reason for run in runs.values() for key, reason in run.refused.items()}
        if refused:
            key, reason = next(iter(refused.items()))
            said = f"cannot be searched for, with a score of 0, such as {key!r}: {reason.rstrip('.')}"
            yield f"{queries_counted(len(refused))} {said}"
        for name, run in runs.items():
            for reason, count in run.degraded.items():
                yield f"{name}: {queries_counted(count)} degraded: {reason.rstrip('.')}"


def scored_collection(table: ScoreTable, prepared: Prepared, runs: Mapping[str, Run]) -> CollectionScores:
    """Score what the configurations found on one collection."""
    first = table.metrics[0]
    scored: dict[str, Scored] = {}
    for name, run in runs.items():
        scores = scores_of(table.metrics, prepared.collection.qrels, run.rankings)
        low, high = interval(list(scores[first].values()))
        scored[name] = Scored(scores, low, high, run)
    # One metric is compared, the one that the table names first: with each further one chance finds a difference more
    # often.
    columns = {name: each.scores[first] for name, each in scored.items()}
    comparisons = compared(columns, table.baseline) if table.baseline is not None else []
    return CollectionScores(prepared, scored, tuple(comparisons))
