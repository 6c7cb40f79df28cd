"""What recall is measured against is exact, block after block."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.at_scale import exact
from benchmarks.at_scale.exact import nearest, recall


@pytest.mark.parametrize("block", [3, 64, 1000])
@pytest.mark.parametrize("share", [None, 0.5, 0.02])
def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch, block: int, share: float | None) -> None:
    monkeypatch.setattr(exact, "BLOCK", block)
    chance = np.random.default_rng(1)
    vectors, questions = chance.standard_normal((400, 8)), chance.standard_normal((7, 8))
    allowed = None if share is None else chance.random(400) < share
    scores = questions @ vectors.T
    if allowed is not None:
        scores[:, ~allowed] = -np.inf
    expected = np.argsort(-scores, axis=1)[:, :10]
    expected = np.where(np.isfinite(np.take_along_axis(scores, expected, axis=1)), expected, -1)
    assert nearest(vectors, questions, allowed, 10).tolist() == expected.tolist()


def test_recall_counts_what_could_be_found() -> None:
    wanted = np.array([[1, 2, 3], [4, -1, -1]])
    assert recall([[1, 2, 3], [4]], wanted) == 1.0
    assert recall([[1, 9, 8], [4, 7]], wanted) == 0.5
    assert recall([[], []], wanted) == 0.0
