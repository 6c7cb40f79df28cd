from __future__ import annotations

import json

import numpy as np
import pytest

from evals.calibration import NAMES, Answered, fitted, held_out, read_answers, report


def _answers(seed: int, size: int = 200) -> list[Answered]:
    """Questions whose kind is drawn from known log-odds: 4 * the first feature - 2."""
    rng = np.random.default_rng(seed)
    rows: list[Answered] = []
    for near in rng.uniform(0, 1, size):
        own = bool(rng.uniform() < 1 / (1 + np.exp(2 - 4 * near)))
        rows.append((own, dict(zip(NAMES, (float(near), float(rng.uniform())), strict=True))))
    return rows


def test_known_weights_are_found_again() -> None:
    bias, near, noise = fitted({"a": _answers(1, 4000), "b": _answers(2, 4000)})
    assert near == pytest.approx(4, abs=0.4)
    assert noise == pytest.approx(0, abs=0.3)
    assert bias == pytest.approx(-2, abs=0.4)


def test_a_collection_of_many_questions_decides_no_more_than_one_of_few() -> None:
    few, many = _answers(1), _answers(2)
    assert fitted({"few": few, "many": many * 5}) == pytest.approx(fitted({"few": few, "many": many}), rel=1e-6)


def test_features_that_separate_everything_stay_finite() -> None:
    rows: list[Answered] = [(own, dict.fromkeys(NAMES, float(own))) for own in (True, False) for _ in range(5)]
    assert np.abs(fitted({"a": rows})).max() < 100


def test_each_collection_is_judged_by_the_others() -> None:
    groups = {"a": _answers(1), "b": _answers(2), "c": _answers(3)}
    for name in groups:
        _, area = held_out(groups, name)
        assert area is not None
        assert 0.7 < area < 0.95


def test_what_an_evaluation_wrote_is_read_and_reported() -> None:
    def line(collection: str, kind: str, features: dict[str, float]) -> str:
        return json.dumps({"collection": collection, "kind": kind, "written": {"features": features}})

    kinds = {True: "own", False: "elsewhere"}
    lines = [line(name, kinds[own], dict(each)) for name in ("a", "b") for own, each in _answers(len(name))]
    groups = read_answers([*lines, line("a", "own", {})])
    assert {name: len(rows) for name, rows in groups.items()} == {"a": 200, "b": 200}
    text = "\n".join(report(groups))
    assert "| in force | " in text
    assert "| fitted without b | " in text
    assert "fitted without" not in "\n".join(report({"a": groups["a"]}))
