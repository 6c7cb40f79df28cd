"""The scores of a collection: by query and metric, their means and intervals, and how configurations compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from anabranch.evaluation.collection_corpus import Prepared
from anabranch.evaluation.metrics import PerQuery, scores_of, span_scores
from anabranch.evaluation.runs import Run
from anabranch.evaluation.score_tables import ScoreTable
from anabranch.evaluation.significance import RunComparison, compared, interval
from anabranch.evaluation.span_evidence import SpanEvidence


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
class CollectionScores:
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
        # The same query is refused in every configuration, so it is said once.
        refused = {key: reason for run in runs.values() for key, reason in run.refused.items()}
        if refused:
            key, reason = next(iter(refused.items()))
            said = f"cannot be searched for, with a score of 0, such as {key!r}: {reason.rstrip('.')}"
            yield f"{_queries(len(refused))} {said}"
        for name, run in runs.items():
            for reason, count in run.degraded.items():
                yield f"{name}: {_queries(count)} degraded: {reason.rstrip('.')}"


def scored_collection(
    table: ScoreTable, prepared: Prepared, runs: Mapping[str, Run], evidence: SpanEvidence | None = None
) -> CollectionScores:
    """Score what the configurations found on one collection.

    Args:
        table: What is measured.
        prepared: The collection.
        runs: By configuration.
        evidence: Where queries are judged by spans; each text then counts as much as any other.
    """
    first, about = table.metrics[0], evidence.texts if evidence is not None else {}
    # Texts have different numbers of questions; a mean over questions would be that of the text with the most.
    sizes = Counter(about.values())
    weights = {query: len(about) / len(sizes) / sizes[text] for query, text in about.items()}
    scored: dict[str, Scored] = {}
    for name, run in runs.items():
        if evidence is None:
            scores = scores_of(table.metrics, prepared.collection.qrels, run.rankings)
        else:
            scores = span_scores(table.metrics, evidence.spans, run.spans, evidence.places)
        low, high = interval(list(scores[first].values()), [about[query] for query in scores[first] if about])
        scored[name] = Scored(scores, low, high, run, weights)
    columns = {name: each.scores[first] for name, each in scored.items()}
    comparisons = compared(columns, table.baseline, weights) if table.baseline is not None else []
    texts = {text: [query for query in about if about[query] == text] for text in sorted(sizes)}
    return CollectionScores(prepared, scored, tuple(comparisons), texts)


def _queries(count: int) -> str:
    return f"{count} quer{'y' if count == 1 else 'ies'}"
