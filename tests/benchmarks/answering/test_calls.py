"""Calls, chains of calls and calls at once are counted as a person would count them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.answering.calls import Call, counts, read_calls


def calls(*spans: tuple[float, float]) -> list[Call]:
    return [Call(began, ended, 10, 2) for began, ended in spans]


def test_parallel_calls_are_one_round() -> None:
    found = counts(calls((0, 1), (1.5, 2.5), (1.5, 3), (1.6, 2), (3, 4)))
    assert (found.calls, found.rounds, found.at_once) == (5, 3, 3)
    assert (found.prompt, found.output) == (50, 10)
    assert found.busy == pytest.approx(3.5)


def test_a_long_call_beside_a_chain_does_not_shorten_the_chain() -> None:
    assert counts(calls((0, 10), (1, 2), (2, 3), (3, 4))).rounds == 3


def test_nothing() -> None:
    assert counts([]).rounds == counts([]).calls == counts([]).at_once == 0


spans = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)).map(lambda pair: (pair[0], sum(pair))), max_size=20)


@given(spans)
def test_bounds(pairs: list[tuple[int, int]]) -> None:
    found = counts(calls(*pairs))
    total = sum(ended - began for began, ended in pairs)
    assert found.rounds <= found.calls
    assert found.at_once <= found.calls
    assert found.busy <= total
    assert (found.busy == total) == (found.at_once <= 1)


@given(spans)
def test_the_chain_is_the_longest_there_is(pairs: list[tuple[int, int]]) -> None:
    best: dict[int, int] = {}
    for began, ended in sorted(pairs, key=lambda pair: pair[1]):
        before = max((length for end, length in best.items() if end <= began), default=0)
        best[ended] = max(best.get(ended, 0), before + 1)
    assert counts(calls(*pairs)).rounds == max(best.values(), default=0)


def test_what_the_server_wrote_is_read(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    written = calls((0, 1), (1, 2))
    log.write_text("".join(json.dumps(asdict(call)) + "\n" for call in written))
    assert read_calls(log) == written
