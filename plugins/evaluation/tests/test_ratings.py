from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch_evaluation.ratings import read_choice, read_rating


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("4", 4), (" 4.\n", 4), ("**4**", 4), ("Score: 4/5", 4), ("4 out of 5", 4), ('{"score": 4}', 4), ("4.5", 4.5),
        ("<think>5? No, 2.</think>3", 3), ("On a scale of 1 to 5, I give it 4", 4), ("Rating (1-5): 2", 2),
        ("Score: 4\nIt names three of the facts, and 3 are enough.", 4), ("Comparing the 2 answers:\n\n5", 5),
        ("1 of 5", 1), ("1/5", 1), ("5/5", 5),
        # German, French, Spanish, Russian, Arabic, Chinese, Japanese
        ("Bewertung: 4 von 5", 4), ("Ich gebe eine 4.", 4), ("Auf einer Skala von 1 bis 5: 3", 3), ("4,5", 4.5),
        ("Note : 4 sur 5", 4), ("Entre 1 y 5: 2", 2), ("Оценка от 1 до 5: 4", 4), ("التقييم: ٤", 4), ("評価：４", 4),
        ("我给4分", 4), ("1 von 5", 1),
    ],
)  # fmt: skip
def test_the_number_is_read_whatever_stands_around_it(reply: str, value: float) -> None:
    assert read_rating(reply, 1, 5) == value


@pytest.mark.parametrize(
    "reply",
    ["", "I cannot say.", "Keine Bewertung.", "0", "7", "8/10", "80 %", "3 or 4", "Between 2 and 4", "1-5", "-1 bis 9"],
)
def test_what_cannot_be_read_is_no_number(reply: str) -> None:
    assert read_rating(reply, 1, 5) is None


@pytest.mark.parametrize(
    ("reply", "value"),
    [("2", 2), ("Answer 1", 1), ("Antwort 2", 2), ("回答２", 2), ("0", 0), ("1 is better than 2", None), ("3", None),
     ("First: good\nSecond: better\n2", 2), ("neither", None)],
)  # fmt: skip
def test_the_better_of_two_is_named_by_its_number(reply: str, value: float | None) -> None:
    assert read_choice(reply, 0, 2) == value


@given(st.text(max_size=300))
def test_anything_may_be_written(reply: str) -> None:
    for value in (read_rating(reply, 1, 5), read_choice(reply, 0, 2)):
        assert value is None or 0 <= value <= 5
