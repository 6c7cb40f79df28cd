from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing.numbered_lines import read_quotes


@pytest.mark.parametrize(
    ("reply", "quotes"),
    [
        ('1: "The weir was built in 1850."\n3: “It holds”', {1: "The weir was built in 1850.", 3: "It holds"}),
        ("[2]: «Das Wehr hält»\n1. none\n3: N/A\n4:", {2: "Das Wehr hält"}),
        ("Here:\n\n- **1**: „Es hält“\n2) `it holds`", {1: "Es hält", 2: "it holds"}),
        ("none", {}),
    ],
)
def test_quotes_are_read_without_their_marks(reply: str, quotes: dict[int, str]) -> None:
    assert read_quotes(reply) == quotes


@pytest.mark.work(5)
@pytest.mark.parametrize("unit", ["\n", " ", "1: a ", "1", "1: a\n", "*", "- [", "1 :", "\u2028"])
def test_work_is_bounded(unit: str) -> None:
    long = unit * (200_000 // len(unit))
    read_quotes(long)
    read_quotes(f"1: a{long}x")


@given(st.text(alphabet="123 :.-*[]\nentailed\u0661", max_size=200))
def test_any_text_is_read(reply: str) -> None:
    assert all(read_quotes(reply).values())
