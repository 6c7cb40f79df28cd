from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.quantities import figures, numbers_hold


@pytest.mark.parametrize(
    ("text", "values", "units"),
    [
        ("two hundred and six cars", ["206"], [""]),
        ("twenty-one years", ["21"], ["y"]),
        ("five six", ["5", "6"], ["", ""]),
        ("one million two hundred thousand", ["1200000"], [""]),
        ("1.5 million", ["1500000"], [""]),
        ("US$ 3 bn", ["3000000000"], ["$"]),
        ("$(1,009)", ["1009"], ["$"]),
        ("12 %", ["12"], ["%"]),
        ("a 24-month warranty of 5.50 metres", ["24", "5.5"], ["mo", "m"]),
        ("a dozen", ["12"], [""]),
        ("version 2.4.1 of 007", ["2.4.1", "7"], ["", ""]),
    ],
)
def test_numbers_are_read_with_scale_and_unit(text: str, values: list[str], units: list[str]) -> None:
    found = figures(text)
    assert [figure.unit for figure in found] == units
    assert [value in figure.values for value, figure in zip(values, found, strict=True)] == [True] * len(values)


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
        ("300 bags", "three hundred bags", True),
        ("rose 5% in 2020", "rose 5% in 2021", False),
        ("12 million", "12 billion", False),
        ("12 million", "12 of them", False),
        ("12 million", "in millions: 12", True),
        ("12 million", "| Riders | 12 |", True),
        ("12", "12 million", False),
        ("12%", "12 million", False),
        ("12 metres", "12 feet", False),
        ("from 12 million to 15 million", "from 12 to 15 million", True),
        ("in Q4", "in the fourth quarter", True),
        ("2020-03-12", "March 12, 2020", True),
        ("(1) one thing", "a thing", True),
        ("no number", "", True),
    ],
)
def test_numbers_hold(claim: str, text: str, holds: bool) -> None:
    assert numbers_hold(claim, text) is holds


@given(st.text(max_size=100))
def test_a_text_holds_its_own_numbers(text: str) -> None:
    assert numbers_hold(text, text)


@given(st.integers(0, 10**12), st.text(alphabet=" abc", max_size=20))
def test_a_number_is_found_in_any_grouping(number: int, around: str) -> None:
    assert numbers_hold(f"{number}", f"{around} {number:,} {around}")
    assert not numbers_hold(f"{number}", f"{around} {number + 1:,} {around}")


@pytest.mark.work(60)
@pytest.mark.parametrize("unit", ["1,", "two ", "hundred and ", "12 to ", "1 million "])
def test_work_is_bounded(unit: str) -> None:
    figures(unit * (100_000 // len(unit)))
