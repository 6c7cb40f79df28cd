import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, to_excel

from anabranch_readers.ooxml.number_formats import Format, format_number, format_of


@pytest.mark.parametrize(
    ("code", "form"),
    [
        ("General", "plain"),
        ("0.00", "plain"),
        ("#,##0 [$€-407]", "plain"),
        ('0 "days"', "plain"),
        ("dd.mm.yyyy", "date"),
        ("[$-409]d-mmm-yy;@", "date"),
        ("h:mm AM/PM", "date"),
        ("[h]:mm:ss", "duration"),
        ("0%", "percent"),
        ('0.0"%"', "plain"),
        (";;;", "hidden"),
        ("", "plain"),
    ],
)
def test_formats(code: str, form: Format) -> None:
    assert format_of(code) == form


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        ("45352", "date", "2024-03-01"),
        ("45352.604166666664", "date", "2024-03-01 14:30"),
        ("45352.604178", "date", "2024-03-01 14:30:01"),
        ("0.5", "date", "12:00"),
        ("1.25", "duration", "30:00"),
        ("-0.5", "duration", "-12:00"),
        ("0.256", "percent", "25.6%"),
        ("0.30000000000000004", "plain", "0.3"),
        ("12345678901234567890", "plain", "12345678901234567890"),
        ("1E3", "plain", "1000"),
        ("99999999999", "date", "99999999999"),
        ("nonsense", "date", "nonsense"),
        ("nan", "date", "nan"),
        ("inf", "duration", "inf"),
    ],
)
def test_values(value: str, form: Format, text: str) -> None:
    assert format_number(value, form, WINDOWS_EPOCH) == text


@given(st.dates(datetime.date(1905, 1, 1), datetime.date(2300, 1, 1)), st.sampled_from([WINDOWS_EPOCH, MAC_EPOCH]))
def test_a_day_comes_back(day: datetime.date, epoch: datetime.datetime) -> None:
    assert format_number(str(to_excel(day, epoch)), "date", epoch) == day.isoformat()


@given(st.floats() | st.text(max_size=8).map(str), st.sampled_from(["plain", "date", "duration", "percent"]))
def test_nothing_in_a_cell_is_an_error(value: object, form: Format) -> None:
    assert isinstance(format_number(str(value), form, WINDOWS_EPOCH), str)
