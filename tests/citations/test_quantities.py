from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.quantities import figures, has


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1.5 million", ["1500000"]),
        ("US$ 3 bn", ["3000000000"]),
        ("$(1,009)", ["1009"]),
        ("a 24-month warranty of 5.50 m", ["24", "5.5"]),
        ("version 2.4.1 of 007", ["2.4.1", "7"]),
        ("1.234,56 € und 0,5 kg", ["1234.56", "0.5"]),
        ("1\u202f234\u202f567,8 habitants, 15 EUR", ["1234567.8", "15"]),
        ("٣٫٥٪ من ١٬٢٠٠", ["3.5", "1200"]),
        ("１２％", ["12"]),
        ("at 14:30 in 2020 412 adults", ["14:30", "2020", "412"]),
        ("zwölf, twelve, 十二", []),
    ],
)
def test_numbers_are_read_with_separators_and_scale(text: str, values: list[str]) -> None:
    found = figures(text)
    assert [value in figure.scaled for value, figure in zip(values, found, strict=True)] == [True] * len(values)


def numbers_hold(claim: str, text: str) -> bool:
    return all(has(figures(text), each) for each in figures(claim))


@pytest.mark.parametrize(
    ("claim", "text", "holds"),
    [
        ("2,000 cars", "2000 cars", True),
        ("2000 cars", "2,000 cars", True),
        ("2000 cars", "12,000 cars", False),
        ("2 cars", "2,000 cars", False),
        ("2.000 Autos", "2000 cars", True),
        ("1,5 Liter", "1.5 litres", True),
        ("1.5 million", "1,500,000", True),
        ("$2bn", "2,000 million", True),
        ("3.0", "3", True),
        ("13 Leute", "dreizehn Leute", False),
        ("rose 5% in 2020", "rose 5% in 2021", False),
        ("12 million", "12 billion", False),
        ("12 million", "Riders | 12", True),
        ("12 million", "12 of 3 million", False),
        ("12", "12 million", False),
        ("12 m", "12 metres", True),
        ("(1) one thing", "a thing", True),
        ("no number", "", True),
    ],
)
def test_numbers_hold(claim: str, text: str, holds: bool) -> None:
    assert numbers_hold(claim, text) is holds


@pytest.mark.parametrize(("claim", "text"), [("12 Millionen", "12 Milliarden"), ("12 millions", "12 milliards")])
def test_scales_are_read_in_english_alone(claim: str, text: str) -> None:
    assert numbers_hold(claim, text)


@given(st.text(max_size=100))
def test_a_text_holds_its_own_numbers(text: str) -> None:
    assert numbers_hold(text, text)


@given(st.integers(0, 10**12), st.text(alphabet=" abc", max_size=20))
def test_a_number_is_found_in_any_grouping(number: int, around: str) -> None:
    assert numbers_hold(f"{number}", f"{around} {number:,} {around}")
    assert not numbers_hold(f"{number}", f"{around} {number + 1:,} {around}")


@pytest.mark.parametrize(
    ("claim", "text", "holds"),
    [
        ("844 million", "843.6 million", True),
        ("843 million", "843.6 million", False),
        ("843.6 million", "844 million", False),
        ("4.2 billion", "4,163 million", True),
        ("4", "3.6", False),
        ("44 %", "43,7 %", True),
        ("1900", "1899", False),
        ("0", "0.4", False),
    ],
)
def test_a_claim_may_round(claim: str, text: str, holds: bool) -> None:
    assert has(figures(text), figures(claim)[0]) is holds


@pytest.mark.work(60)
@pytest.mark.parametrize("unit", ["1,", "1.234,", "1\u202f234 ", "12 to ", "1 million "])
def test_work_is_bounded(unit: str) -> None:
    figures(unit * (100_000 // len(unit)))


def test_a_list_without_blanks_is_no_rounded_number() -> None:
    (port,), (sizes,) = figures("8300"), figures("1024,256,96")
    assert not port.matches(sizes)
    assert not sizes.matches(port)
