from __future__ import annotations

import numpy as np
import pytest

from anabranch.evaluation.answer_quality import Outcome, QuestionKind, WrittenAnswer
from anabranch.evaluation.calibration import fitted, held_out


def _outcomes(seed: int, size: int = 200, offset: float = 0.0) -> list[Outcome]:
    """Questions whose kind is drawn from known log-odds: 4 * near - 2."""
    rng = np.random.default_rng(seed)
    rows: list[Outcome] = []
    for near in rng.uniform(0, 1, size):
        own = rng.uniform() < 1 / (1 + np.exp(2 - 4 * near))
        kind: QuestionKind = "own" if own else "elsewhere"
        features = {"near": float(near) + offset, "noise": float(rng.uniform())}
        rows.append(Outcome("q", kind, WrittenAnswer("", "", 0, 0.0, features)))
    return rows


def test_known_weights_are_found_again() -> None:
    weights = fitted({"a": _outcomes(1, 4000), "b": _outcomes(2, 4000)}, ["near", "noise"])
    assert weights.weights["near"] == pytest.approx(4, abs=0.4)
    assert weights.weights["noise"] == pytest.approx(0, abs=0.3)
    assert weights.bias == pytest.approx(-2, abs=0.4)
    assert weights.score({"near": 1.0, "noise": 0.0}) > weights.score({"near": 0.0, "noise": 0.0})


def test_signals_that_separate_everything_stay_finite() -> None:
    rows = [Outcome("q", "own", WrittenAnswer("", "", 0, 0.0, {"near": 1.0})) for _ in range(5)]
    rows += [Outcome("q", "elsewhere", WrittenAnswer("", "", 0, 0.0, {"near": 0.0})) for _ in range(5)]
    assert abs(fitted({"a": rows}, ["near"]).weights["near"]) < 100


def test_each_collection_is_judged_by_the_others() -> None:
    areas = held_out({"a": _outcomes(1), "b": _outcomes(2), "c": _outcomes(3)}, ["near"])
    assert set(areas) == {"a", "b", "c"}
    assert all(0.7 < area < 0.95 for area in areas.values())


def test_outcomes_without_the_signals_are_left_out() -> None:
    bare = Outcome("q", "own", WrittenAnswer("", "", 0, 0.0, {}))
    assert fitted({"a": [bare]}, ["near"]).weights == {"near": 0.0}
    assert held_out({"a": [bare], "b": _outcomes(1)}, ["near"]).keys() == {"b"}
