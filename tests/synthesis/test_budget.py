from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.synthesis.budget import Prices, Spending
from anabranch.types import RouteName


def _calls(route: RouteName, read: int, fan_in: int = 4) -> float:
    return Prices([100] * 20, frame=50, reply=10, fan_in=fan_in).cost(route, read).calls


@pytest.mark.parametrize(
    ("route", "read", "fan_in", "wanted"),
    [
        ("compose", 9, 4, 0),
        ("create", 1, 4, 1),
        ("refine", 5, 4, 5),
        ("map_reduce", 1, 4, 1),
        ("map_reduce", 4, 4, 5),
        ("map_reduce", 5, 4, 5 + 1 + 1),  # the fifth is alone and goes up as it is
        ("map_reduce", 8, 4, 8 + 2 + 1),
        ("map_reduce", 16, 2, 16 + 8 + 4 + 2 + 1),
    ],
)
def test_calls(route: RouteName, read: int, fan_in: int, wanted: int) -> None:
    assert _calls(route, read, fan_in) == wanted


def test_after_a_call_that_ran_out_of_time_only_what_costs_no_call_can_be_had() -> None:
    left = Spending(too_slow=True).subtract(Spending(1, 10))
    assert "ran out of time" in left.lacks(Spending(1, 0))
    assert left.lacks(Spending(0, 0)) == ""


def test_tokens_are_those_of_every_prompt_and_the_longest_replies() -> None:
    prices = Prices([100, 200, 300], frame=50, reply=10, fan_in=4)
    assert prices.cost("create", 1).tokens == 100 + 50 + 10
    assert prices.cost("refine", 3).tokens == 600 + 3 * 60 + 2 * 10
    assert prices.cost("map_reduce", 3).tokens == 600 + 3 * 60 + 3 * 10 + 60
    thinking = Prices([100, 200, 300], frame=50, reply=10, fan_in=4, thoughts=1_000)
    assert thinking.cost("refine", 3).tokens == prices.cost("refine", 3).tokens + 3 * 1_000
    assert thinking.cost("map_reduce", 3).tokens == prices.cost("map_reduce", 3).tokens + 4 * 1_000


@given(st.integers(1, 40), st.integers(2, 20), st.sampled_from(["refine", "map_reduce"]))
def test_reading_less_never_costs_more(read: int, fan_in: int, route: RouteName) -> None:
    prices = Prices([7] * 41, frame=5, reply=3, fan_in=fan_in)
    fewer, more = prices.cost(route, read), prices.cost(route, read + 1)
    assert fewer.calls <= more.calls
    assert fewer.tokens < more.tokens


def test_what_is_lacking_is_said_with_its_setting() -> None:
    left = Spending(10, 1000).subtract(Spending(8, 400))
    assert left == Spending(2, 600)
    assert left.lacks(Spending(2, 600)) == ""
    assert "max_model_calls leaves 2" in left.lacks(Spending(3, 1))
    assert "max_tokens leaves 600" in left.lacks(Spending(2, 601))
    assert Spending().lacks(Spending(math.inf, 10**9)) == ""
    assert Spending(1, 1).subtract(Spending(5, 5)) == Spending(0, 0)
