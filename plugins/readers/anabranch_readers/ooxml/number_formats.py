"""Write the value of a spreadsheet cell as its number format would, as far as the meaning depends on it."""

from __future__ import annotations

import datetime
import re
from typing import Literal

from openpyxl.styles.numbers import STRIP_RE, is_date_format, is_timedelta_format
from openpyxl.utils.datetime import from_excel

# How a cell looks, as far as its text depends on it; `white` is a plain one in white letters without a ground.
Format = Literal["plain", "date", "duration", "percent", "hidden", "white"]

_WHOLE = re.compile(r"-?\d+")


def format_of(code: str) -> Format:
    """Return what a number format makes of a number; the format `;;;` shows nothing."""
    sections = code.split(";")
    # Empty sections for positive, negative and zero: how people hide a number that only formulas need.
    if len(sections) > 2 and not any(section.strip() for section in sections):
        return "hidden"
    if is_timedelta_format(code):
        return "duration"
    if is_date_format(code):
        return "date"
    # A percent sign in quotation marks is only printed beside the number and does not change it.
    return "percent" if "%" in STRIP_RE.sub("", sections[0]) else "plain"


def format_number(value: str, form: Format, epoch: datetime.datetime) -> str:
    """Return a number as text: a date, a duration, a percentage, or the number to 15 digits as Excel keeps it."""
    try:
        number = float(value)
        if form == "date":
            return _date(number, epoch)
        if form == "duration":
            return _duration(number)
    except (ValueError, OverflowError):
        return value
    if form == "percent":
        return f"{number * 100:.10g}%"
    return value if _WHOLE.fullmatch(value) else f"{number:.15g}"


def _date(number: float, epoch: datetime.datetime) -> str:
    # Excel keeps a moment as days and a fraction of one, which a binary number only comes near to.
    moment = from_excel(round(number * 86_400) / 86_400, epoch)  # to the second
    if isinstance(moment, datetime.datetime) and moment.time() == datetime.time():
        return moment.date().isoformat()
    text = moment.isoformat(" ", "seconds") if isinstance(moment, datetime.datetime) else moment.isoformat("seconds")
    return text.removesuffix(":00")


def _duration(days: float) -> str:
    minutes, seconds = divmod(round(abs(days) * 86_400), 60)
    sign = "-" if days < 0 else ""
    return f"{sign}{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
