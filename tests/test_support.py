from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.support import OPPOSITE, numbers_hold, support


@pytest.mark.parametrize(
    ("claim", "text", "least", "most"),
    [
        ("Revenues were rising", "The revenue rises.", 1, 1),
        ("Revenue rose sharply", "Costs fell.", 0, 0),
        ("The bridge was closed", "The bridge was never closed.", 0, OPPOSITE),
        ("The bridge was not closed", "The bridge was closed.", 0, OPPOSITE),
        ("The bridge wasn’t closed", "The bridge was not closed.", 1, 1),
        ("The bridge was closed", "The bridge was closed, and nobody complained.", 1, 1),
        ("No, the bridge was closed", "The bridge was closed.", 1, 1),
        ("The bridge was closed in May", "Not only the bridge was closed in May.", 1, 1),
        ("Costs fell", "Costs did not fall.", 0, OPPOSITE),
        ("the of", "the of", 0, 0),
    ],
)
def test_support(claim: str, text: str, least: float, most: float):
    assert least <= support(claim, text) <= most


@pytest.mark.parametrize(
    ("claim", "text", "holds"),
    [
        ("2,000 cars", "2000 cars", True),
        ("2000 cars", "2,000 cars", True),
        ("2000 cars", "12,000 cars", False),
        ("1.5 million", "1,500,000", True),
        ("$2bn", "2,000 million", True),
        ("3.0", "3", True),
        ("7 people", "Seven people", True),
        ("rose 5% in 2020", "rose 5% in 2021", False),
        ("(1) one thing", "a thing", True),
        ("no number", "", True),
    ],
)
def test_numbers(claim: str, text: str, holds: bool):
    assert numbers_hold(claim, text) is holds


@given(st.text(max_size=100))
def test_a_text_holds_its_own_numbers(text: str):
    assert numbers_hold(text, text)


@given(st.text(max_size=100), st.text(max_size=100))
def test_a_share(claim: str, text: str):
    assert 0 <= support(claim, text) <= 1
