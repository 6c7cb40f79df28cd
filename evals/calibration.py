"""Calibrates the confidence in the evidence: a logistic regression on its features, checked where it was not fitted.

The weights in `anabranch.retrieval.answerability` are what this finds on all collections of a table together.

    anabranch eval evals/answers.yaml --data DIR --per-query answers.jsonl
    python -m evals.calibration answers.jsonl > evals/calibration.md
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.retrieval.answerability import BIAS, WEIGHTS
from anabranch_evaluation.answer_quality import auc

STEPS = 50
RIDGE = 1e-3
"""Keeps the weights finite where one feature separates everything."""

NAMES = list(WEIGHTS)

Answered = tuple[bool, Mapping[str, float]]
"""Whether it is one of the collection's own questions, and the features of its evidence."""


def read_answers(lines: Iterable[str]) -> dict[str, list[Answered]]:
    """Read what `--per-query` wrote, by collection; what has no features (a greeting) is left out."""
    groups: defaultdict[str, list[Answered]] = defaultdict(list)
    for row in map(json.loads, lines):
        if all(name in row["written"]["features"] for name in NAMES):
            groups[row["collection"]].append((row["kind"] == "own", row["written"]["features"]))
    return groups


def fitted(groups: Mapping[str, Sequence[Answered]]) -> NDArray[np.float64]:
    """Return bias and weights; every collection, and within it each side, counts the same."""
    rows, truth, worth = [], [], []
    for answers in groups.values():
        on_side = Counter(is_own for is_own, _ in answers)
        for is_own, features in answers:
            rows.append([1.0, *(features[name] for name in NAMES)])
            truth.append(float(is_own))
            # A collection of a thousand questions must not decide alone, nor the side that has more of them.
            worth.append(1.0 / on_side[is_own])
    return _newton(np.array(rows), np.array(truth), np.array(worth))


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


def held_out(groups: Mapping[str, Sequence[Answered]], name: str) -> tuple[NDArray[np.float64], float | None]:
    """Return the weights that all other collections give, and how well they order the questions of this one (AUC)."""
    weights = fitted({other: rows for other, rows in groups.items() if other != name})
    scores = [(is_own, float(weights @ [1.0, *(each[key] for key in NAMES)])) for is_own, each in groups[name]]
    own, others = ([score for is_own, score in scores if is_own is side] for side in (True, False))
    return weights, auc(own, others)


def report(groups: Mapping[str, Sequence[Answered]]) -> Iterator[str]:
    """Yield the lines of the report."""
    yield "# Calibration of the confidence in the evidence\n"
    yield "Written by `python -m evals.calibration`; do not edit.\n"
    yield "Log-odds of there being evidence: bias and weights of the features. AUC: how often an own question of the"
    yield "collection that was left out has more confidence than one that should not be answered.\n"
    yield f"| weights | bias | {' | '.join(NAMES)} | AUC there |"
    yield "|---" * (len(NAMES) + 3) + "|"
    yield _row("in force", [BIAS, *WEIGHTS.values()])
    yield _row("fitted here", fitted(groups))
    # Weights look best where they were fitted; what they are worth is seen where they were not.
    for name in groups if len(groups) > 1 else ():
        weights, area = held_out(groups, name)
        yield _row(f"fitted without {name}", weights, "" if area is None else f"{area:.3f}")


def _row(label: str, weights: Iterable[float], area: str = "") -> str:
    return f"| {label} | {' | '.join(f'{weight:.2f}' for weight in weights)} | {area} |"


if __name__ == "__main__":
    with Path(sys.argv[1]).open(encoding="utf-8") as file:
        sys.stdout.writelines(f"{line}\n" for line in report(read_answers(file)))
