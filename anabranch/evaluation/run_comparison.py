"""Configurations against a baseline, query by query: how many each wins and loses, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anabranch.evaluation.measures import PerQuery
from anabranch.evaluation.significance import holm, p_value

TIE = 1e-9
"""Scores nearer than this are the same but for rounding."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One configuration against the baseline.

    Attributes:
        configuration: Which one.
        difference: Of the mean scores, the configuration's minus the baseline's.
        won: Queries that it does better on.
        lost: Queries that it does worse on.
        tied: The others.
        p: Of the paired randomisation test, corrected by Holm for the configurations that were compared.
    """

    configuration: str
    difference: float
    won: int
    lost: int
    tied: int
    p: float


def compared(
    scores: Mapping[str, PerQuery], baseline: str, weights: Mapping[str, float] | None = None
) -> list[Comparison]:
    """Compare every configuration with the baseline; none where the baseline was not measured.

    Args:
        scores: Score by query, of the same queries, by configuration.
        baseline: Which configuration the others are compared with.
        weights: How much each query counts in a mean, 1 on average; None where all count alike.
    """
    others = [name for name in scores if name != baseline]
    if baseline not in scores or not others:
        return []
    columns = {
        name: [scores[name][query] * (weights[query] if weights else 1.0) for query in scores[baseline]]
        for name in scores
    }
    base = columns[baseline]
    corrected = holm([p_value(columns[name], base) for name in others])
    return [_compared(name, columns[name], base, p) for name, p in zip(others, corrected, strict=True)]


def _compared(name: str, scores: list[float], base: list[float], p: float) -> Comparison:
    differences = [score - other for score, other in zip(scores, base, strict=True)]
    won = sum(difference > TIE for difference in differences)
    lost = sum(difference < -TIE for difference in differences)
    mean = sum(differences) / len(differences)
    return Comparison(name, difference=mean, won=won, lost=lost, tied=len(differences) - won - lost, p=p)
