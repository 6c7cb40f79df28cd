"""The names of kept answers, and the memory that keeps them."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.caching import DAYS, ENTRIES, Asked, Memory, digest, is_fresh, slot

ASKED = Asked(
    turn={"asked": "Who?", "narrowed": {"year": 1874, "kind": "letter"}},
    before=[("human", "When?"), ("ai", "In 1874.")],
    access=("a", "b"),
    edition="e1",
    settings={"top_k": 24},
    program=("0.1.0", "p"),
)
CHANGES: list[dict[str, Any]] = [
    {"turn": {"asked": "Who", "narrowed": {"year": 1874, "kind": "letter"}}},
    {"turn": {"asked": "Who?", "narrowed": {"year": "1874", "kind": "letter"}}},
    {"turn": {"asked": "Who?", "narrowed": None}},
    {"before": []},
    {"before": [("ai", "When?"), ("human", "In 1874.")]},
    {"before": [("human", "When?In 1874.")]},
    {"access": ("a",)},
    {"access": ("a", "b", "c")},
    {"access": ("ab",)},
    {"edition": "e2"},
    {"settings": {"top_k": 25}},
    {"settings": {}},
    {"program": ("0.1.1", "p")},
    {"program": ("0.1.0", "q")},
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_any_part_makes_another_name(change: dict[str, Any]) -> None:
    assert replace(ASKED, **change).key != ASKED.key


def test_the_order_of_tags_and_of_an_objects_keys_does_not_count() -> None:
    turned = {"narrowed": {"kind": "letter", "year": 1874}, "asked": "Who?"}
    assert replace(ASKED, turn=turned, access=["b", "a", "b"]).key == ASKED.key


@given(JSON, JSON)
def test_values_have_one_digest_only_if_they_are_one_json(one: Any, other: Any) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (digest(one) == digest(other)) is same


@given(st.integers())
def test_every_key_has_one_of_so_many_places(number: int) -> None:
    assert 0 <= int(slot(digest(number))) < ENTRIES


def test_an_answer_is_fresh_for_a_day() -> None:
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert is_fresh(now.isoformat(), now)
    assert is_fresh((now - timedelta(days=DAYS) + timedelta(seconds=1)).isoformat(), now)
    assert not is_fresh((now - timedelta(days=DAYS)).isoformat(), now)
    assert not is_fresh((now + timedelta(seconds=1)).isoformat(), now)


@pytest.mark.parametrize("at", ["", "today", "2026-11-21T12:00:00", "2026-13-41T12:00:00+00:00", None, 7])
def test_what_is_no_moment_is_not_fresh(at: Any) -> None:
    assert not is_fresh(at)


@given(st.lists(st.tuples(st.integers(0, 8), st.text(max_size=12)), max_size=40))
def test_memory_is_bounded_and_gives_back_the_last_that_was_put(puts: list[tuple[int, str]]) -> None:
    memory = Memory(entries=4, chars=20)
    last: dict[str, str] = {}
    for number, text in puts:
        memory.put(str(number), text)
        last[str(number)] = text
        held = {key: found for key in last if (found := memory.get(key)) is not None}
        assert held.items() <= last.items()
        assert len(held) <= 4
        assert sum(map(len, held.values())) <= 20
        assert str(number) in held


def test_memory_lets_go_of_what_was_not_used_for_longest() -> None:
    memory = Memory(entries=2)
    memory.put("a", "1")
    memory.put("b", "2")
    memory.get("a")
    memory.put("c", "3")
    assert [memory.get(key) for key in "abc"] == ["1", None, "3"]
    memory.clear()
    assert memory.get("a") is None


def test_memory_serves_threads() -> None:
    memory = Memory(entries=16, chars=64)
    wrong: list[str] = []

    def work(name: str) -> None:
        for number in range(500):
            memory.put(f"{name}{number % 20}", name)
            wrong.extend(found for key in range(20) if (found := memory.get(f"{name}{key}")) not in (name, None))

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
