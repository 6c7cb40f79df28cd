"""The choice of how to write an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.synthesis.budget import Prices, Spending
from anabranch.synthesis.routing import RouteChoice, afford, choose, is_flat
from anabranch.types import RouteName


def _choose(**changes: object) -> str:
    given: dict[str, object] = {"windows": 3, "sources": 1, "scores": [1.0, 0.2, 0.1]}
    return choose(**{**given, **changes}).name  # type: ignore[arg-type]


def test_one_window_needs_one_call() -> None:
    assert _choose(windows=1) == "create"


def test_focused_evidence_is_refined() -> None:
    assert _choose() == "refine"


def test_evidence_spread_over_many_sources_is_mapped() -> None:
    spread = {"sources": 4, "scores": [1.0, 0.95, 0.9, 0.9, 0.85]}
    assert is_flat([1.0, 0.95, 0.9, 0.9, 0.85])
    assert _choose(**spread) == "map_reduce"
    assert _choose(**{**spread, "sources": 3}) == "refine"
    assert _choose(**{**spread, "scores": [1.0, 0.3, 0.2, 0.1, 0.1]}) == "refine"


def test_a_long_chain_is_not_walked() -> None:
    assert _choose(windows=6) == "refine"
    assert _choose(windows=7) == "map_reduce"


@pytest.mark.parametrize("synthesis", ["refine", "map_reduce"])
def test_an_explicit_choice_wins(synthesis: str) -> None:
    assert _choose(synthesis=synthesis) == synthesis


def test_stuff_is_one_call() -> None:
    assert _choose(synthesis="stuff", windows=9) == "create"


def test_without_a_model_the_answer_is_composed_and_says_so() -> None:
    choice = choose(windows=5, sources=1, scores=[1.0], has_model=False)
    assert choice.name == "compose"
    assert "passages that match best" in choice.reasons[0]


def test_reasons_are_given_for_every_route() -> None:
    for windows in (1, 3, 9):
        assert choose(windows=windows, sources=2, scores=[1.0, 0.1]).reasons


def _afford(name: RouteName, windows: int, *, chain: bool = True, fan_in: int = 4, **left: float) -> RouteChoice:
    prices = Prices([100] * windows, frame=50, reply=10, fan_in=fan_in)
    return afford(RouteChoice(name, ("why",)), prices, Spending(**left), chain=chain)


def test_within_its_budget_the_evidence_decides() -> None:
    assert _afford("refine", 5, calls=5) == RouteChoice("refine", ("why",))


def test_a_tree_with_too_many_calls_is_read_one_after_the_other() -> None:
    choice = _afford("map_reduce", 4, calls=4)
    assert (choice.name, choice.unread) == ("refine", 0)
    assert any("max_model_calls leaves 4" in reason for reason in choice.reasons)


def test_where_no_route_reads_all_the_best_windows_are_read_and_the_others_counted() -> None:
    choice = _afford("refine", 9, calls=3)
    assert (choice.name, choice.unread) == ("refine", 6)
    assert "the first 3 of 9 windows" in choice.reasons[-1]
    assert _afford("map_reduce", 9, calls=6).unread == 3
    assert _afford("refine", 9, calls=1) == replace(_afford("refine", 9, calls=1), name="create", unread=8)


def test_tokens_bound_it_too() -> None:
    choice = _afford("refine", 5, tokens=400)
    assert (choice.name, choice.unread) == ("refine", 3)
    assert "max_tokens" in choice.lacking


def test_without_a_call_left_the_answer_is_composed() -> None:
    choice = _afford("create", 1, calls=0)
    assert choice.name == "compose"
    assert choice.lacking


def test_a_context_without_room_for_an_answer_so_far_is_not_refined() -> None:
    assert _afford("refine", 3, chain=False).name == "map_reduce"
    assert _afford("refine", 3, chain=False, calls=3) == replace(
        _afford("refine", 3, chain=False, calls=3), name="map_reduce", unread=1
    )


@given(
    st.sampled_from(["create", "refine", "map_reduce"]),
    st.integers(1, 12),
    st.integers(0, 20),
    st.integers(0, 4000),
    st.integers(2, 6),
)
def test_what_is_chosen_is_always_within_what_is_left(
    name: RouteName, windows: int, calls: int, tokens: int, fan_in: int
) -> None:
    left = Spending(calls, tokens)
    prices = Prices([100] * windows, frame=50, reply=10, fan_in=fan_in)
    wanted = RouteChoice("create" if windows == 1 else name, ("why",))
    choice = afford(wanted, prices, left)
    assert not left.lacks(prices.cost(choice.name, 1 if name == "create" else windows - choice.unread))
    assert choice.reasons[0] == "why"
    if choice != wanted:
        assert choice.lacking
