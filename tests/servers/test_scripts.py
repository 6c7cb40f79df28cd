"""Scripts and their combinations, as functions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.servers import scripts
from tests.servers.calls import Request
from tests.servers.scripts import BROKEN, Reply, echo, in_turn, rate_limited, route, together


def asked(system: str, user: str = "hello") -> Request:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return Request("chat", {"messages": messages}, 1, 0.0)


def test_a_route_goes_by_the_system_prompt_alone() -> None:
    script = route({"You rewrite": "queries", "You grade": BROKEN, "You answer": echo}, default="other")
    assert script(asked("You rewrite questions.")).text == "queries"
    assert script(asked("You grade passages.")) is BROKEN
    assert script(asked("You answer.", "why?")).text == "why?"
    assert script(asked("You sing.", "You rewrite")).text == "other"


def test_the_first_marker_wins_and_routes_nest() -> None:
    inner = route({"b": "inner"}, default="fallback")
    script = route({"a": "first", "ab": "second"}, default=inner)
    assert [script(asked(system)).text for system in ("ab", "b", "c")] == ["first", "inner", "fallback"]


def test_a_prompt_without_a_route_is_an_error_that_shows_it() -> None:
    with pytest.raises(LookupError, match="You sing"):
        route({"You rewrite": "queries"})(asked("You sing."))


def test_turns_go_to_calls_in_order_and_the_last_stays() -> None:
    script = in_turn(BROKEN, rate_limited(1), "well")
    replies = [script(asked("")) for _ in range(4)]
    assert [reply.status for reply in replies] == [500, 429, 200, 200]
    assert replies[1].headers == {"Retry-After": "1"}
    assert replies[3] == Reply("well")


def test_parallel_calls_get_each_turn_once() -> None:
    script = in_turn(*map(str, range(200)), "over")
    with ThreadPoolExecutor(16) as pool:
        texts = [reply.text for reply in pool.map(script, [asked("")] * 200)]
    assert sorted(texts, key=int) == [str(turn) for turn in range(200)]


def test_calls_of_a_round_wait_for_each_other_and_one_that_is_alone_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    held = together("yes", 2, 1)
    with ThreadPoolExecutor(2) as pool:
        assert [reply.text for reply in pool.map(held, [asked("")] * 2)] == ["yes", "yes"]
    assert held(asked("")).text == held(asked("")).text == "yes"  # a round of one, and one more
    monkeypatch.setattr(scripts, "TOGETHER_SECONDS", 0.01)
    with pytest.raises(TimeoutError, match="1 calls came"):
        together("yes", 2)(asked(""))
