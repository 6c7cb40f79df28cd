"""Calibrates the confidence in the evidence: a logistic regression on its features, checked where it was not fitted.

The weights that `anabranch.retrieval.answerability` holds are what this finds on all collections together; the table of
answers shows both, and how well weights that were fitted on all other collections do on each one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anabranch.evaluation.answer_quality import Outcome, auc

STEPS = 50
RIDGE = 1e-3
"""Keeps the weights finite where one feature separates everything."""


@dataclass(frozen=True, slots=True)
class LogisticWeights:
    """A logistic model: its bias, and a weight per feature."""

    bias: float
    weights: dict[str, float]

    def score(self, features: Mapping[str, float]) -> float:
        """Return the log-odds that there is evidence."""
        return self.bias + sum(weight * features[name] for name, weight in self.weights.items())


def fitted(groups: Mapping[str, Sequence[Outcome]], names: Sequence[str]) -> LogisticWeights:
    """Fit weights; every collection, and within it each side, counts the same, however many questions it has.

    Args:
        groups: Outcomes by collection.
        names: Of the features to use; an outcome without one of them is left out.
    """
    rows, truth, worth = [], [], []
    for outcomes in groups.values():
        for side, members in _sides(outcomes, names).items():
            for features in members:
                rows.append([1.0, *(features[name] for name in names)])
                truth.append(float(side))
                # A collection of a thousand questions must not decide alone, nor the side that has more of them.
                worth.append(1.0 / len(members))
    solved = _newton(np.array(rows), np.array(truth), np.array(worth)) if rows else np.zeros(len(names) + 1)
    return LogisticWeights(
        float(solved[0]), {name: float(value) for name, value in zip(names, solved[1:], strict=True)}
    )


def _newton(x: NDArray[np.float64], y: NDArray[np.float64], worth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the minimum of the weighted log loss with a small ridge (iteratively reweighted least squares)."""
    weights = np.zeros(x.shape[1])
    ridge = RIDGE * worth.sum() * np.eye(x.shape[1])
    for _ in range(STEPS):
        # Far out the exponential overflows; beyond 30 the probability is 0 or 1 to thirteen digits.
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (worth * (p - y)) + ridge @ weights
        hessian = (x * (worth * p * (1 - p))[:, None]).T @ x + ridge
        step = np.linalg.solve(hessian, gradient)
        weights = weights - step
        if float(np.abs(step).max()) < 1e-9:
            break
    return weights


def held_out(groups: Mapping[str, Sequence[Outcome]], names: Sequence[str]) -> dict[str, float]:
    """Return, for each collection, the AUC of weights that were fitted on all the others."""
    areas: dict[str, float] = {}
    for name, outcomes in groups.items():
        weights = fitted({other: rows for other, rows in groups.items() if other != name}, names)
        sides = _sides(outcomes, names)
        area = auc(*([weights.score(features) for features in sides[side]] for side in (True, False)))
        if area is not None:
            areas[name] = area
    return areas


def _sides(outcomes: Sequence[Outcome], names: Sequence[str]) -> dict[bool, list[dict[str, float]]]:
    """Return the features of the collection's own questions (True) and of all others, as far as they have them all."""
    usable = [each for each in outcomes if all(name in each.written.features for name in names)]
    return {side: [each.written.features for each in usable if (each.kind == "own") is side] for side in (True, False)}
