"""Score normalisation: puts the raw scores of different retrievers on one scale.

Every normaliser obeys the same laws, which is what lets fusion add their results up: scores are >= 0, 0 stands for
"as good as not retrieved", the order of the list is kept, and a list whose scores are all equal maps to 1.0
(it was retrieved, so it has to stay above what was not). Scores are finite: `repair_list` makes them so.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from anabranch.store.protocol import RankedList

# Raw scores of one ranked list, in any unit, to as many scores >= 0.
Normaliser = Callable[[Sequence[float]], list[float]]
_SIGMAS = 3.0


def replace_non_finite(scores: Sequence[float | None]) -> list[float]:
    """Replace non-finite scores: +inf by the largest finite score; None, NaN and -inf by the smallest.

    Returns:
        As many finite python floats; all 0.0 where none of the scores is finite.
    """
    if None not in scores and all(map(math.isfinite, scores)):  # type: ignore[arg-type]  # none of them is None
        return list(map(float, scores))  # type: ignore[arg-type]
    known = [float(score) for score in scores if score is not None and math.isfinite(score)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return [_finite(score, low, high) for score in scores]


def repair_list(ranking: RankedList) -> RankedList:
    """Return a ranked list that obeys the protocol, whatever a third-party store returned.

    Each id stands in it once, at its first place; a score that is missing or no number counts as the worst of the list.
    """
    known: list[float | None] = list(ranking["scores"][: len(ranking["ids"])])
    scores = replace_non_finite(known + [None] * (len(ranking["ids"]) - len(known)))
    # Reversed, so that the first score of a repeated id wins.
    first = dict(zip(reversed(ranking["ids"]), reversed(scores), strict=True))
    ids = list(dict.fromkeys(ranking["ids"]))
    return RankedList(ids=ids, scores=[first[chunk_id] for chunk_id in ids])


def sort_by_score(scores: Mapping[str, float]) -> list[str]:
    """Return ids by finite scores, best first, equal scores by id."""
    # Two stable sorts by plain values are quicker than one by pairs.
    return sorted(sorted(scores), key=scores.__getitem__, reverse=True)


def _finite(score: float | None, low: float, high: float) -> float:
    if score is None or math.isnan(score):
        return low
    return min(max(float(score), low), high)


def min_max(scores: Sequence[float]) -> list[float]:
    """Map the list's minimum to 0 and its maximum to 1 (Bruch et al. 2023, TOIS 42(1), eq. 5).

    Returns:
        Scores in [0, 1]; all 1.0 where the list has one distinct score.
    """
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    # One hit, or all tied: nothing says that they are bad.
    if high == low:
        return [1.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def z_score(scores: Sequence[float]) -> list[float]:
    """Count standard deviations above the worst score of the list.

    The usual z-score minus its minimum: fusion gives ids that are not in the list the list's minimum, so the shift is
    the same for every id and changes no order, while 0 keeps its meaning.

    Returns:
        Scores >= 0, the worst of them 0; all 1.0 where the list has one distinct score.
    """
    low = min(scores, default=0.0)
    spread = _deviation(scores)
    if spread == 0.0:
        return [1.0] * len(scores)
    return [(score - low) / spread for score in scores]


def dbsf(scores: Sequence[float]) -> list[float]:
    """Map mean - 3 sigma to 0 and mean + 3 sigma to 1, clipped (distribution-based score fusion, Mazzecchi 2023).

    Returns:
        Scores in [0, 1]; all 1.0 where the list has one distinct score.
    """
    spread = _deviation(scores)
    if spread == 0.0:
        return [1.0] * len(scores)
    low = statistics.fmean(scores) - _SIGMAS * spread
    return [min(max((score - low) / (2 * _SIGMAS * spread), 0.0), 1.0) for score in scores]


def _deviation(values: Sequence[float]) -> float:
    """Return the population standard deviation, exactly 0.0 for equal values (a rounded mean would leave dust)."""
    if not values or min(values) == max(values):
        return 0.0
    mean = statistics.fmean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
