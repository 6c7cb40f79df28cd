"""The k best of a list of scores."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.store.index import topk
from anabranch.store.index.topk import pick_best


# With samples of 4,096 none of these lists would be sampled.
@pytest.mark.parametrize("sample", [1, 3, 4_096])
@given(scores=st.lists(st.sampled_from([-1.0, 0.0, 0.5, 0.5, 2.0]), max_size=30), k=st.integers(0, 35))
def test_best_is_a_stable_sort_cut_off(sample: int, scores: list[float], k: int) -> None:
    with patch.object(topk, "_SAMPLE", sample):
        check(scores, k)


def check(scores: list[float], k: int) -> None:
    rows = np.arange(len(scores)) * 3
    found = pick_best(rows, np.asarray(scores, dtype=np.float64), k)
    expected = sorted(zip((-score for score in scores), rows.tolist(), strict=True))[:k]
    assert found.rows.tolist() == [row for _, row in expected]
    assert found.scores.tolist() == [-score for score, _ in expected]
