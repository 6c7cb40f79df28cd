"""The k best of a list of scores."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anabranch.store.index.topk import best


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 0.5, 2.0]), max_size=30), st.integers(0, 35))
def test_best_is_a_stable_sort_cut_off(scores: list[float], k: int) -> None:
    rows = np.arange(len(scores)) * 3
    found = best(rows, np.asarray(scores, dtype=np.float64), k)
    expected = sorted(zip((-score for score in scores), rows.tolist(), strict=True))[:k]
    assert found.rows.tolist() == [row for _, row in expected]
    assert found.scores.tolist() == [-score for score, _ in expected]
