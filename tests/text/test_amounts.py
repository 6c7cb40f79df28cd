"""What a model of meaning is given of a table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.text.amounts import without_amounts


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ("| Net loss | $(1,009,359) | — | 14 % |", "Net loss"),
        ("|  | 2021 | Year Ended December 31, 2020 |", "2021 | Year Ended December 31, 2020"),
        ("| Wärme | 2.272.140 | 1 682 118 € |", "Wärme"),
        ("| MMLU (5-shot) | 70.0 | GPT-4 |", "MMLU (5-shot) | GPT-4"),
        (r"| a \| b | 7 |", r"a \| b"),
    ],
)
def test_rows_keep_their_names_and_years(row: str, named: str) -> None:
    assert without_amounts(f"Title\n{row}\nprose of 4,453 workers") == f"Title\n{named}\nprose of 4,453 workers"


def test_a_text_of_amounts_alone_stays() -> None:
    assert without_amounts("| 12 | 34 |") == "| 12 | 34 |"


@given(st.text())
def test_text_without_rows_stays_as_it_is(text: str) -> None:
    prose = text.replace("|", "")
    assert without_amounts(prose) == prose
