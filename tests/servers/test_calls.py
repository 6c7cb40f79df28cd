"""Counting round trips, repeats and unfinished calls, on logs written by hand."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.calls import Call, CallLog, Request, digest, read_log


def request(number: int, started: float, *, kind: str = "chat", text: str = "q") -> Request:
    return Request(kind, {"messages": [{"role": "user", "content": text}]}, number, started)


def log_of(*intervals: tuple[float, float | None], texts: str = "", status: int = 200) -> CallLog:
    log = CallLog()
    for number, (started, finished) in enumerate(intervals, 1):
        text = texts[number - 1 : number] or str(number)
        log.restore(Call(request(number, started, text=text), status, finished, finished))
    return log


@pytest.mark.parametrize(
    ("intervals", "rounds"),
    [
        ((), 0),
        (((0, 1),), 1),
        (((0, 1), (2, 3), (4, 5)), 3),
        (((0, 1), (0.5, 2), (0.9, 1.5)), 1),
        (((0, 2), (1, 4), (3, 5)), 1),  # joined through the second
        (((0, 9), (1, 2), (3, 4), (10, 11)), 2),
        (((0, 1), (1, 2)), 2),  # the second began when the first had ended
        (((4, 5), (0, 1)), 2),  # arrival order does not matter
    ],
)
def test_overlapping_calls_are_one_round(intervals: tuple[tuple[float, float], ...], rounds: int) -> None:
    assert log_of(*intervals).rounds() == rounds


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 10)), max_size=12), st.randoms())
def test_rounds_do_not_depend_on_order_and_lie_between_one_and_all(spans: list[tuple[int, int]], random) -> None:
    intervals = [(float(start), float(start + length)) for start, length in spans]
    rounds = log_of(*intervals).rounds()
    random.shuffle(intervals)
    assert log_of(*intervals).rounds() == rounds
    assert bool(spans) <= rounds <= len(spans)
    covered = {tick for start, length in spans for tick in range(start, start + length)}
    touching = {start for start, _ in spans}
    assert rounds >= sum(1 for tick in touching if tick in covered and tick - 1 not in covered)


def test_a_call_that_still_runs_overlaps_all_later_ones() -> None:
    now = time.monotonic()
    log = log_of((now - 5, None), (now - 4, now - 3), (now - 2, now - 1))
    assert log.rounds() == 1
    assert [call.request.number for call in log.unfinished] == [1]


def test_rounds_of_one_kind() -> None:
    log = log_of((0, 1), (4, 5))
    log.restore(Call(request(3, 2, kind="embedding"), 200, 3, 3))
    assert (log.rounds(), log.rounds("chat"), log.rounds("embedding")) == (3, 2, 1)


def test_repeats_are_whole_replies_without_error_to_the_same_messages() -> None:
    twice = log_of((0, 1), (2, 3), (4, 5), texts="aba")
    assert twice.repeated() == [digest(twice.calls[0].request)]
    assert log_of((0, None), (2, 3), texts="aa").repeated() == []
    assert log_of((0, 1), (2, 3), texts="aa", status=500).repeated() == []


def test_a_fingerprint_can_leave_out_what_changes_per_run() -> None:
    log = log_of((0, 1), (2, 3), texts="ab")
    assert log.repeated() == []
    assert log.repeated(lambda request: request.kind) == ["chat"]


def test_the_file_holds_what_the_memory_holds_and_no_headers(tmp_path: Path) -> None:
    log = CallLog(tmp_path / "calls.jsonl")
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "naïve"}]}
    with log.record("chat", body, {"authorization": "Bearer secret"}, 1.5) as call:
        log.update(call, status=200, finished=2.5)
    with log.record("chat", body, {}, 3.0):
        pass
    found = read_log(tmp_path / "calls.jsonl")
    assert [(each.request.body, each.status, each.finished, each.ended) for each in found.calls] == [
        (body, 200, 2.5, log.calls[0].ended),
        (body, None, None, log.calls[1].ended),
    ]
    assert [each.request.number for each in found.unfinished] == [2]
    assert "secret" not in (tmp_path / "calls.jsonl").read_text()


def test_waiting_for_calls_that_do_not_come_says_what_came() -> None:
    with pytest.raises(TimeoutError, match="number=1"):
        log_of((0, 1)).wait_until(lambda calls: len(calls) == 2, timeout=0.01)


def test_messages_in_parts_and_newer_roles_are_read() -> None:
    parts = [{"type": "text", "text": "be "}, {"type": "text", "text": "brief"}]
    messages = [
        {"role": "system", "content": parts},
        {"role": "developer", "content": "and kind"},
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": None},
        {"role": "user", "content": "second"},
    ]
    read = Request("chat", {"messages": messages}, 1, 0.0)
    assert (read.system, read.user) == ("be brief\nand kind", "second")
