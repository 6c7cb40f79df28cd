"""The time of a check: counted in its own thread, and over at once where nobody waits."""

from __future__ import annotations

import threading
import time

import pytest

from anabranch.citations.read_passages import PassageText
from anabranch.citations.time_limit import TimeIsUp, TimeLimit
from anabranch.citations.verification import attribute

PASSAGES = {1: PassageText("a", "Ida lives in Bonn. Anna has 12 cats and no dog.")}
ANSWER = "Ida lives in Bonn. Anna has 12 cats."


def _work(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_time_that_is_left_is_spent() -> None:
    limit = TimeLimit(60)
    limit.spend()
    limit.spend()


def test_time_that_is_used_up_ends_the_check() -> None:
    limit = TimeLimit(0.01)
    limit.spend()
    _work(0.02)
    with pytest.raises(TimeIsUp):
        limit.spend()


def test_what_other_threads_work_is_not_counted() -> None:
    limit = TimeLimit(0.2)
    limit.spend()
    other = threading.Thread(target=_work, args=(0.4,))
    other.start()
    other.join()
    limit.spend()


def test_a_check_that_is_stopped_ends_at_once() -> None:
    limit = TimeLimit(60)
    limit.stop()
    with pytest.raises(TimeIsUp):
        limit.spend()


class _After(TimeLimit):
    """Ends after so many calls, whatever the machine."""

    def __init__(self, calls: int) -> None:
        super().__init__(60)
        self._calls = calls

    def spend(self) -> None:
        self._calls -= 1
        if self._calls < 0:
            raise TimeIsUp


def test_claims_that_no_time_is_left_for_are_not_checked_and_counted() -> None:
    whole = attribute(ANSWER, PASSAGES).set_markers()
    assert (whole.share, whole.unchecked) == (1, 0)
    seen = set()
    for calls in range(60):
        found = attribute(ANSWER, PASSAGES, limit=_After(calls)).set_markers()
        assert len(found.claims) == 2
        assert 2 * found.share + found.unchecked == 2
        seen.add(found.unchecked)
    assert seen == {0, 1, 2}
