"""The scores of a collection: by query and metric, their means and intervals, and how configurations compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from anabranch_evaluation.collection import Collection, count_queries
from anabranch_evaluation.collection_corpus import Prepared
from anabranch_evaluation.metrics import PerQuery, scores_of
from anabranch_evaluation.runs import Run
from anabranch_evaluation.score_tables import ScoreTable
from anabranch_evaluation.significance import RunComparison, compare_runs, interval
from anabranch_evaluation.token_metrics import is_span_metric, span_scores


@dataclass(frozen=True, slots=True)
class Scored:
    """One configuration on one collection.

    Attributes:
        prepared: The collection with the corpus that was searched.
        scores: Score by query, by metric; metrics of spans only where evidence is known by its characters.
        low: Lower end of the 95 % confidence interval of the first metric's mean.
        high: Its upper end.
        run: The documents found.
    """

    prepared: Prepared
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
        scored: Scores by configuration.
        comparisons: Comparisons with the baseline on the first metric.
    """

    scored: Mapping[str, Scored]
    comparisons: tuple[RunComparison, ...]

    @property
    def collection(self) -> Collection:
        """The collection, as it was searched first."""
        return next(iter(self.scored.values())).prepared.collection

    @property
    def name(self) -> str:
        """Name of the collection."""
        return self.collection.name

    @property
    def documents(self) -> int:
        """Number of its documents."""
        return next(iter(self.scored.values())).prepared.documents

    @property
    def embedders(self) -> tuple[str, ...]:
        """The embedders of its corpora."""
        return tuple(dict.fromkeys(scored.prepared.embedder for scored in self.scored.values()))

    def remarks(self) -> Iterator[str]:
        """Yield what was left out, refused or degraded."""
        # Corpora of several embedders have most remarks in common.
        yield from dict.fromkeys(
            remark for scored in self.scored.values() for remark in scored.prepared.collection.remarks
        )
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


def score_collection(table: ScoreTable, prepared: Mapping[str, Prepared], runs: Mapping[str, Run]) -> CollectionScores:
    """Score the runs of the configurations on one collection.

    Args:
        table: The table of metrics.
        prepared: The collection and the corpus that each configuration searched.
        runs: What each configuration found.
    """
    first = table.metrics[0]
    scored: dict[str, Scored] = {}
    for name, run in runs.items():
        scores = _scores(table.metrics, prepared[name], run)
        low, high = interval(list(scores[first].values()))
        scored[name] = Scored(prepared[name], scores, low, high, run)
    # Only the first metric is compared: with each further one, a difference by chance becomes more likely.
    columns = {name: each.scores[first] for name, each in scored.items()}
    comparisons = compare_runs(columns, table.baseline) if table.baseline is not None else []
    return CollectionScores(scored, tuple(comparisons))


def _scores(metrics: Sequence[str], prepared: Prepared, run: Run) -> dict[str, PerQuery]:
    of_spans = [metric for metric in metrics if is_span_metric(metric)]
    scores = scores_of([each for each in metrics if each not in of_spans], prepared.collection.qrels, run.rankings)
    if (evidence := prepared.spans) is not None:
        found = {query: [evidence.places.leaf(leaf) for leaf in leaves] for query, leaves in run.rankings.items()}
        scores |= span_scores(of_spans, evidence.spans, found, evidence.places)
    return {metric: scores[metric] for metric in metrics if metric in scores}
