"""How well a confidence tells what to answer: area under the ROC curve, and risk against coverage.

A system that may abstain answers the questions it is surest of first. Its coverage is the share that it answers, its
risk the share of those that are wrong (El-Yaniv and Wiener, JMLR 2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter


def auc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """Return how often a score of the first kind is above one of the second, ties as half; None without both.

    That is the area under the ROC curve (Hanley and McNeil 1982).
    """
    if not higher or not lower:
        return None
    tagged = sorted([(score, 1) for score in higher] + [(score, 0) for score in lower])
    below = 0
    won = 0.0
    for _, group in groupby(tagged, key=itemgetter(0)):
        kinds = [kind for _, kind in group]
        ups = sum(kinds)
        downs = len(kinds) - ups
        won += ups * (below + downs / 2)
        below += downs
    return won / (len(higher) * len(lower))


@dataclass(frozen=True, slots=True)
class Point:
    """What happens where every question of at least this confidence is answered."""

    threshold: float
    coverage: float
    risk: float


def risk_coverage(rows: Sequence[tuple[float, bool]]) -> list[Point]:
    """Return the curve, one point per distinct confidence, from the surest questions to all of them.

    Args:
        rows: Confidence in each question, and whether its answer is right.
    """
    points: list[Point] = []
    answered = wrong = 0
    for confidence, group in groupby(sorted(rows, key=itemgetter(0), reverse=True), key=itemgetter(0)):
        rights = [right for _, right in group]
        answered += len(rights)
        wrong += rights.count(False)
        points.append(Point(confidence, answered / len(rows), wrong / answered))
    return points


def area(points: Sequence[Point]) -> float:
    """Return the mean risk over all coverages (AURC); 0 is best, the risk of answering everything is no better."""
    total, before = 0.0, 0.0
    for point in points:
        total += (point.coverage - before) * point.risk
        before = point.coverage
    return total


def at_threshold(points: Sequence[Point], threshold: float) -> Point:
    """Return where a threshold lies on the curve: nothing is answered, at no risk, above every confidence."""
    answered = [point for point in points if point.threshold >= threshold]
    return answered[-1] if answered else Point(threshold, 0.0, 0.0)
