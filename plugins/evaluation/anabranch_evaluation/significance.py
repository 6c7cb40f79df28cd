"""Significance of differences: paired randomisation tests, corrected for several comparisons, and confidence intervals.

Fisher's randomisation test as in Smucker, Allan and Carterette, "A comparison of statistical significance tests for
information retrieval evaluation" (CIKM 2007): it assumes nothing about how scores are distributed, and a person's own
collection has few queries with scores of 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anabranch_evaluation.metrics import PerQuery

RESAMPLES = 9_999
BOOTSTRAPS = 2_000
# Resamples in memory at a time.
BATCH = 512

# A fixed seed gives equal results for equal scores.
SEED = 2007


def p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p-value of the mean difference of two systems.

    Exact for up to 13 pairs, from 9,999 random changes of sides for more; 1 where no pair differs.

    Args:
        first: Scores of one system, one per query.
        second: Scores of the other, for the same queries in the same order.
    """
    from scipy.stats import permutation_test

    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if not difference.any():
        return 1.0
    # SciPy refuses a single pair.
    if len(difference) == 1:
        return 1.0  # either side is as likely
    # In batches, because all resamples of a thousand queries take 80 MB.
    result = permutation_test(
        (difference,),
        np.mean,
        permutation_type="samples",
        n_resamples=RESAMPLES,
        batch=BATCH,
        vectorized=True,
        rng=np.random.default_rng(SEED),
    )
    return float(result.pvalue)


def holm(values: Sequence[float]) -> list[float]:
    """Correct p-values for their number, in the order given (Holm 1979): the smallest n times, the next n - 1."""
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=lambda index: values[index])):
        highest = max(highest, min(1.0, values[index] * (len(values) - rank)))
        adjusted[index] = highest
    return adjusted


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % confidence interval of a mean over queries, by the percentiles of 2,000 bootstrap samples."""
    from scipy.stats import bootstrap

    scores = np.asarray(values, dtype=np.float64)
    if len(scores) < 2 or not np.ptp(scores):
        return float(scores.mean()), float(scores.mean())
    result = bootstrap(
        (scores,), np.mean, n_resamples=BOOTSTRAPS, batch=BATCH, method="percentile", rng=np.random.default_rng(SEED)
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


# Scores closer than this differ only by rounding.
TIE = 1e-9


@dataclass(frozen=True, slots=True)
class RunComparison:
    """One configuration against the baseline.

    Attributes:
        configuration: Its name.
        difference: Its mean score minus the baseline's.
        won: Queries on which it is better.
        lost: Queries on which it is worse.
        tied: The other queries.
        p: p-value of the paired randomisation test, corrected by Holm for all comparisons.
    """

    configuration: str
    difference: float
    won: int
    lost: int
    tied: int
    p: float


def compare_runs(scores: Mapping[str, PerQuery], baseline: str) -> list[RunComparison]:
    """Compare every configuration with the baseline; none where the baseline was not measured."""
    others = [name for name in scores if name != baseline]
    if baseline not in scores or not others:
        return []
    columns = {name: [scores[name][query] for query in scores[baseline]] for name in scores}
    base = columns[baseline]
    corrected = holm([p_value(columns[name], base) for name in others])
    return [_compare_run(name, columns[name], base, p) for name, p in zip(others, corrected, strict=True)]


def _compare_run(name: str, scores: list[float], base: list[float], p: float) -> RunComparison:
    differences = [score - other for score, other in zip(scores, base, strict=True)]
    won = sum(difference > TIE for difference in differences)
    lost = sum(difference < -TIE for difference in differences)
    mean = sum(differences) / len(differences)
    return RunComparison(name, difference=mean, won=won, lost=lost, tied=len(differences) - won - lost, p=p)
