from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.number_words import WORDS, counted


@pytest.mark.parametrize(
    ("run", "numbers"),
    [
        ("two", [2]),
        ("twenty-one", [21]),
        ("two hundred and six", [206]),
        ("hundred five", [105]),
        ("two dozen", [24]),
        ("one hundred thousand and five", [100_005]),
        ("one million two hundred thousand", [1_200_000]),
        ("five six", [5, 6]),
        ("five zero", [5, 0]),
        ("five six million", [5, 6_000_000]),
        ("nineteen eighty-four", [19, 84]),
    ],
)
def test_number_words(run: str, numbers: list[int]) -> None:
    assert WORDS.fullmatch(run)
    assert counted(run) == numbers


@given(
    st.lists(st.sampled_from(["two", "ten", "forty", "hundred", "thousand", "million", "dozen", "zero"]), min_size=1)
)
def test_any_row_of_number_words_is_counted(words: list[str]) -> None:
    numbers = counted(" ".join(words))
    assert 1 <= len(numbers) <= len(words)
    assert all(number >= 0 for number in numbers)
