from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.lexical_support import OPPOSITE, support


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
        ("Pets are allowed without consent", "Pets are not allowed without consent.", 0, OPPOSITE),
        ("The firm failed to meet its target", "The firm did not meet its target.", 0.5, 1),
        ("The firm met its target", "The firm failed to meet its target.", 0, OPPOSITE),
        ("The drug does not work in children", "The drug was not effective in children.", 0.5, 1),
        ("It came to 2,400 million dollars", "It came to $2.4 billion.", 1, 1),
        ("the of", "the of", 0, 0),
    ],
)
def test_support(claim: str, text: str, least: float, most: float):
    assert least <= support(claim, text) <= most


@given(st.text(max_size=100), st.text(max_size=100))
def test_a_share(claim: str, text: str):
    assert 0 <= support(claim, text) <= 1
