"""What an evaluation found, ready to be shown: scores per query and their means, comparisons, checks, remarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from anabranch.evaluation.checks import Check, checked
from anabranch.evaluation.comparison import Comparison, compared
from anabranch.evaluation.corpora import Prepared
from anabranch.evaluation.margins import MarginCheck, margins_checked
from anabranch.evaluation.measures import PerQuery, scores_of
from anabranch.evaluation.running import Run
from anabranch.evaluation.significance import interval
from anabranch.evaluation.tables import Table


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
class CollectionReport:
    """One collection: `scored` by configuration, and `comparisons` with the baseline on the first metric."""

    prepared: Prepared
    scored: Mapping[str, Scored]
    comparisons: tuple[Comparison, ...]

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


def scored_collection(table: Table, prepared: Prepared, runs: Mapping[str, Run]) -> CollectionReport:
    """Score what the configurations found on one collection."""
    first = table.metrics[0]
    scored: dict[str, Scored] = {}
    for name, run in runs.items():
        scores = scores_of(table.metrics, prepared.collection.qrels, run.rankings)
        low, high = interval(list(scores[first].values()))
        scored[name] = Scored(scores, low, high, run)
    columns = {name: each.scores[first] for name, each in scored.items()}
    comparisons = compared(columns, table.baseline) if table.baseline is not None else []
    return CollectionReport(prepared, scored, tuple(comparisons))


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
