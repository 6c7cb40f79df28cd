from __future__ import annotations

import pytest

from anabranch.citations.antonyms import opposed


@pytest.mark.parametrize(
    ("one", "other", "result"),
    [
        ("Costs rose", "Costs fell", True),
        ("Costs rose", "Costs were rising", False),
        ("Costs rose", "Costs rose while sales fell", False),
        ("a profit", "a loss", True),
        ("the offer was accepted", "they rejected the offer", True),
        ("the highest bridge", "the lowest bridge", True),
        ("north of it", "south of it", True),
        ("without a licence", "with a licence", True),
        ("a red door", "a blue door", False),
    ],
)
def test_opposite_words(one: str, other: str, result: bool) -> None:
    assert opposed(one, other) is result
    assert opposed(other, one) is result
    assert not opposed(one, one)
