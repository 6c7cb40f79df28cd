from __future__ import annotations

import math

import pytest

from anabranch.errors import SettingsError
from anabranch.retrieval.fusion.list_weights import checked_weights


def test_no_weights_are_equal_weights():
    assert checked_weights(None, 3) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_a_weight_that_is_no_share_is_refused(bad: float):
    with pytest.raises(SettingsError, match=repr(bad)) as caught:
        checked_weights([1.0, bad], 2)
    assert caught.value.hint


def test_weights_need_a_list_each():
    with pytest.raises(SettingsError, match="1 fusion weights for 2"):
        checked_weights([1.0], 2)
