"""What is said to be read was read: a passage of which a part is missing does not count."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch.synthesis.budget import Prices, Spending
from anabranch.synthesis.coverage import (
    CUT,
    FAILED,
    GONE,
    REVIEWED,
    count_read,
    describe_coverage,
    describe_excess,
    is_whole,
    make_coverage,
    wants_whole,
)
from anabranch.text.phrases import phrases_for
from anabranch.types import NO_COVERAGE, Coverage, Excerpt, Passage

PASSAGES = [
    Passage(id=name, score=1.0, leaves=[f"{name}{n}" for n in range(size)], source="s", page=None, preview="")
    for name, size in (("a", 4), ("b", 3), ("c", 2))
]
WINDOWS = [
    [Excerpt(number=1, id="a", start=0, end=9)],
    [Excerpt(number=2, id="a", start=9, end=12), Excerpt(number=3, id="b", start=0, end=9)],
    [Excerpt(number=4, id="c", start=0, end=9)],
]
WHOLE: Coverage = {**NO_COVERAGE, "reach": "corpus", "documents": 2, "leaves": 9}


@pytest.mark.parametrize(
    ("missing", "read", "unread"),
    [
        ({}, 9, {}),
        # Window 1 holds the end of `a`, so `a` was not read as a whole.
        ({"failed": [1]}, 2, {FAILED: 7}),
        ({"removed": ["b"]}, 6, {GONE: 3}),
        ({"cut": ["c"]}, 7, {CUT: 2}),
        ({"failed": [0, 1, 2]}, 0, {FAILED: 9}),
        ({"failed": [0], "unusable": ["a", "c"]}, 3, {FAILED: 6}),
    ],
)
def test_what_was_not_read_is_counted_by_reason(missing: Any, read: int, unread: dict[str, int]) -> None:
    counted = count_read(WHOLE, PASSAGES, WINDOWS, **missing)
    assert (counted["read"], counted["unread"]) == (read, unread)
    assert counted["read"] + sum(counted["unread"].values()) == counted["leaves"]


def test_passages_that_a_person_left_out_are_not_read() -> None:
    counted = count_read({**WHOLE, "leaves": 12, "unread": {GONE: 1}}, PASSAGES, WINDOWS)
    assert (counted["read"], counted["unread"]) == (9, {GONE: 1, REVIEWED: 2})


def test_what_was_counted_is_not_counted_again() -> None:
    """A model that refused is asked once more, so its answer is cited twice."""
    counted = count_read({**WHOLE, "leaves": 12}, PASSAGES, WINDOWS, removed=["b"])
    assert counted["unread"] == {GONE: 3, REVIEWED: 3}
    assert count_read(counted, PASSAGES, WINDOWS, removed=["b"]) == counted


def test_a_passage_in_no_window_is_not_read() -> None:
    assert count_read(WHOLE, PASSAGES, WINDOWS[:2])["read"] == 7


@pytest.mark.parametrize("question", ["How many pumps are there in all?", "Wie viele Pumpen gibt es in den Berichten?"])
def test_the_line_has_the_numbers_and_the_reasons(question: str) -> None:
    line = describe_coverage(count_read(WHOLE, PASSAGES, WINDOWS, failed=[2]), phrases_for(question))
    assert "7" in line
    assert "9" in line
    assert FAILED in line
    english = describe_coverage(count_read(WHOLE, PASSAGES, WINDOWS), phrases_for("How many are there?"))
    assert english == "Read 9 of 9 passages of 2 documents."
    one = {**count_read(WHOLE, PASSAGES, WINDOWS), "source": "[x](http://evil.example) log.md"}
    assert "](" not in describe_coverage(one, phrases_for("How many are there?"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("planned", "setting", "synthesis", "expected"),
    [
        (("", False), "auto", "auto", ("passages", False)),
        (("corpus", True), "auto", "auto", ("corpus", True)),
        (("corpus", True), "passages", "auto", ("passages", False)),
        (("", False), "document", "auto", ("document", False)),
        (("passages", True), "corpus", "auto", ("corpus", True)),
        (("", False), "auto", "rows", ("passages", True)),
    ],
)
def test_a_setting_wins_over_the_plan(planned: Any, setting: str, synthesis: str, expected: Any) -> None:
    made = make_coverage({**NO_COVERAGE, "reach": planned[0], "rows": planned[1]}, setting, synthesis)
    assert (made["reach"], made["rows"]) == expected
    assert not is_whole(None)
    assert wants_whole(made) == (expected[0] != "passages")
    # Only the survey puts whole documents in the place of what was found.
    assert not is_whole(made)
    assert is_whole({**made, "leaves": 3}) == wants_whole(made)


class _Limits:
    max_model_calls = 10
    max_tokens = 100_000
    window_tokens = 1_000
    answer_tokens = 100
    fan_in = 4


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (Spending(8, 100_000), "max_model_calls leaves 8: set it to 32 or more. 8 of 30 windows would fit"),
        (Spending(100, 5_000), "max_tokens leaves 5,000: set it to"),
        (Spending(0, 100_000), "0 of 30 windows would fit"),
        (Spending(10, 100_000, too_slow=True), "ran out of time"),
    ],
)
def test_what_is_too_expensive_says_what_would_fit(left: Spending, said: str) -> None:
    prices = Prices(windows=[1_000] * 30, frame=50, reply=100, fan_in=4)
    assert said in describe_excess(WHOLE, prices, left, "rows", _Limits())
