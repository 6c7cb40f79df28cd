"""Reads the numbers of a text that are written in digits, with their signs or symbols of units.

Digits, separators and symbols are the same in most languages; words are not, so "twelve" and "metres" are plain words
here. Names of exceptions contain the language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Literal

_CLOCK = re.compile(r"(\d{1,2})(?::|\s?h\s?)(\d{2})(:\d{2})?")
_NUMBER = re.compile(rf"(?<!\w){_CLOCK.pattern}(?![\w:])|\d+(?:[.,']\d+)*")
# The half of the day of an English hour. With it, or with the German "Uhr", an hour may have a stop: "9.30 Uhr".
_ENGLISH_HALF_OF_DAY = re.compile(r"\s?([ap])(?:\.m\.|m\b)", re.IGNORECASE)
_GERMAN_HOUR = re.compile(r"\s?Uhr\b")
_DOTTED_CLOCK = re.compile(r"(\d{1,2})\.(\d{2})()")
_NOON = 12
# A minus belongs to the number after it, unless it stands between two numbers: "5-10", "5 -10".
_MINUS = re.compile(r"(?<![^\s(\[|])(?<!\d\s)[-−](?:[$€£¥₹]\s?)?$|(?<![^\s(\[|])(?<!\d\s)[$€£¥₹]\s?[-−]$")
_GROUPED = re.compile(r"(\d{1,3}(?:([.,'])\d{3})(?:\2\d{3})*)(?:(?!\2)[.,](\d+))?")
_DECIMAL = re.compile(r"(\d+)[.,](\d+)")
# Only a no-break blank joins groups of three digits: other blanks separate two numbers.
_BLANK_IN_NUMBER = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_GROUPED_BY_BLANKS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?: \d{3})+(?![\d])")
_SIGNS = str.maketrans({"٪": "%", "٫": ".", "٬": ",", "’": "'"})

_ENGLISH_SCALE = re.compile(r"[\s-]?(mn|bn|thousand|million|billion|trillion)\b", re.IGNORECASE)
# Not in other languages: "billion" is a thousand million in English, and a million million in French and German.
_ENGLISH_ZEROS = {"thousand": 3, "mn": 6, "million": 6, "bn": 9, "billion": 9, "trillion": 12}

CURRENCIES = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹"}
# English words that multiply the number before them.
SCALES = frozenset(_ENGLISH_ZEROS)
_CURRENCY = rf"[$€£¥₹]|\b(?:{'|'.join(CURRENCIES)})\b"
_BEFORE = re.compile(rf"({_CURRENCY})[\s(]{{0,2}}$")
# Symbols of the International System of Units (SI brochure, 9th edition) and a few that are as common beside it.
_SYMBOLS = r"[kcmµn]?m[²³]?|[kmµ]?g|[mc]?l|[mµn]?s|min|h|[kMG]?Hz|[kMGT]?Wh?|[kMGT]i?B|[km]?V|ft|lb|mi|t"
_AFTER = re.compile(rf"\s?({_CURRENCY}|[%‰]|°[CF]?|(?:{_SYMBOLS})(?![\w-]))")
# The unit in the name of a column: "Price (EUR)", "price_eur", "Weight [kg]", "Share %".
_OF_COLUMN = re.compile(rf"(?:^|[\s_(\[/])([$€£¥₹%‰]|(?i:{'|'.join(CURRENCIES)})|(?<=[_(\[])(?:{_SYMBOLS}))[)\]]?$")
_ENUMERATION = re.compile(r"\(\d\)")
# Most digits of a number that is rounded; a longer one is compared as it is written.
_LONGEST = 40
# Most share by which rounding may change a number: "4" is not 3.6.
_ROUNDED = Decimal("0.02")
# In most languages, running text has numbers up to this one as words.
_AS_A_WORD = 12
# Most digits of an hour, or of such a number; Python refuses numbers of thousands of digits.
_DAY_DIGITS = 2


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of a text.

    Attributes:
        values: Its possible values, in plain digits: "1.234" is 1234 or 1.234, depending on the language.
        scaled: The values with an English scale after it, such as 1500000 for "1.5 million"; else `values`.
        unit: Its unit's symbol, or the half of the day, "am" or "pm"; else empty.
        sign: "-" after a minus, "(" alone in brackets, the minus of accounts; else empty. `matches` ignores it, because
            words may replace it.
    """

    values: frozenset[str]
    scaled: frozenset[str]
    unit: str = ""
    sign: Literal["", "-", "("] = ""

    @property
    def is_scaled(self) -> bool:
        """Whether a scale follows it."""
        return self.scaled != self.values

    @property
    def may_be_a_word(self) -> bool:
        """Whether another text may have it as a word: a small whole number without a symbol."""
        return not self.unit and all(
            len(value) <= _DAY_DIGITS and value.isdigit() and int(value) <= _AS_A_WORD for value in self.scaled
        )

    def matches(self, other: Figure) -> bool:
        """Tell whether two numbers are the same; a unit that only one of them has does not count."""
        differ = self.unit and other.unit and self.unit != other.unit
        return not differ and not self.scaled.isdisjoint(other.scaled)

    def rounds(self, other: Figure) -> bool:
        """Tell whether this is the other number with fewer digits, as "844 million" is 843.6 million."""
        if self.unit and other.unit and self.unit != other.unit:
            return False
        return any(
            max(len(value), len(exact)) <= _LONGEST and _is_near(value, exact, is_scaled=self.is_scaled)
            for value in self.scaled
            for exact in other.scaled
        )


# The check of an answer compares the same few numbers thousands of times.
@lru_cache(maxsize=4096)
def _is_near(rounded: str, exact: str, *, is_scaled: bool) -> bool:
    try:
        here, there = Decimal(rounded), Decimal(exact)
    except InvalidOperation:  # digits of a version or a date
        return False
    whole, _, fraction = rounded.partition(".")
    zeros = len(whole) - len(whole.rstrip("0")) if is_scaled else 0
    # The value of the last written digit.
    step = Decimal(1).scaleb(-len(fraction) if fraction else zeros)
    return 0 < abs(here - there) <= min(step / 2, _ROUNDED * here)


def figures(text: str) -> tuple[Figure, ...]:
    """Return the numbers of a text in order, without the numbering of an enumeration, "(1)"."""
    return tuple(figure for _, _, figure in figure_spans(text))


def figure_spans(text: str, *, blanks: bool = False) -> list[tuple[int, int, Figure]]:
    """Return the numbers of a text with where they start and end, without their units.

    Args:
        text: Any text.
        blanks: Whether a blank may separate groups of three digits, as in "22 700".
    """
    if not any(map(str.isdigit, text)):
        return []
    if not text.isascii():
        # Character by character, so that each number keeps its place.
        text = _BLANK_IN_NUMBER.sub("'", text)
        text = text.translate({ord(char): _compatible(char) for char in set(text) if not char.isascii()})
        text = text.translate(_SIGNS)
    if blanks:
        text = _GROUPED_BY_BLANKS.sub(lambda match: match[0].replace(" ", "'"), text)
    listed = {match.start() + 1 for match in _ENUMERATION.finditer(text)}
    return [
        (match.start(), match.end(), _figure(text, match))
        for match in _NUMBER.finditer(text)
        if match.start() not in listed
    ]


def _compatible(char: str) -> str:
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 else char


def has(there: Sequence[Figure], figure: Figure) -> bool:
    """Tell whether a text has a number of a claim, or one that the claim rounds.

    A text without any scale, such as a table, may count in the claim's scale.
    """
    if any(map(figure.matches, there)) or any(figure.rounds(other) for other in there):
        return True
    if not figure.is_scaled or any(other.is_scaled for other in there):
        return False
    unscaled = replace(figure, scaled=figure.values)
    return any(unscaled.matches(other) or unscaled.rounds(other) for other in there)


def in_terms_of(figure: Figure, named: str) -> Figure:
    """Return a number with the currency and the English scale in a name, such as "Revenue ($ million)"."""
    unit, scale = re.search(_CURRENCY, named), _ENGLISH_SCALE.search(named)
    if unit and not figure.unit:
        figure = replace(figure, unit=CURRENCIES.get(unit[0], unit[0]))
    if scale and not figure.is_scaled:
        zeros = _ENGLISH_ZEROS[scale[1].lower()]
        scaled = frozenset(_times_ten(value, zeros) for value in figure.values if value.count(".") < 2)
        figure = replace(figure, scaled=scaled)
    return figure


def unit_of_column(name: str) -> str:
    """Return the unit or currency in the name of a column; empty without one."""
    found = _OF_COLUMN.search(name.strip())
    return CURRENCIES.get(found[1].upper(), found[1]) if found else ""


def lacking(stated: Sequence[Figure], there: Sequence[Figure]) -> list[Figure]:
    """Return the numbers of a claim that a text does not have.

    A text that has no number in digits may have a small one as a word.
    """
    missing = [figure for figure in stated if not has(there, figure)]
    return missing if there else [figure for figure in missing if not figure.may_be_a_word]


def _figure(text: str, match: re.Match[str]) -> Figure:
    if clock := _clock(text, match):
        return Figure(clock[0], clock[0], clock[1])
    values = _values(_ascii(match[0]))
    scale = _ENGLISH_SCALE.match(text, match.end())
    scaled = values
    if scale and len(match[0]) < _LONGEST:
        zeros = _ENGLISH_ZEROS[scale[1].lower()]
        scaled = frozenset(_times_ten(value, zeros) for value in values if value.count(".") < 2)
    unit = _unit(text, match.start(), scale.end() if scale else match.end())
    return Figure(values, scaled, unit, _sign(text, match.start(), match.end()))


def _sign(text: str, start: int, end: int) -> Literal["", "-", "("]:
    if _MINUS.search(text, max(0, start - 4), start):
        return "-"
    return "(" if text[max(0, start - 2) : start].endswith(("(", "($")) and text[end : end + 1] in (")", "%") else ""


def _clock(text: str, match: re.Match[str]) -> tuple[frozenset[str], str] | None:
    """Return the forms of a time of day, and its half of the day; None for any other number."""
    written, half = _ascii(match[0]), _ENGLISH_HALF_OF_DAY.match(text, match.end())
    read = _CLOCK.fullmatch(written)
    if read is None and (half or _GERMAN_HOUR.match(text, match.end())):
        read = _DOTTED_CLOCK.fullmatch(written)
    if read is None and not (half and len(written) <= _DAY_DIGITS and written.isdigit() and 1 <= int(written) <= _NOON):
        return None
    hour, minutes = (int(read[1]), read[2] + (read[3] or "")) if read else (int(written), "00")
    hours = {hour}
    if half and half[1] in "pP":
        hours.add(hour % _NOON + _NOON)
    elif half:
        hours = {hour % _NOON, hour}
    found = {f"{each}:{minutes}" for each in hours}
    if minutes == "00":
        found |= set(map(str, hours))
    if read and "." in written:
        found |= _values(written)
    return frozenset(found), f"{half[1].lower()}m" if half else ""


def _ascii(digits: str) -> str:
    """Return the digits of any script as those of ASCII."""
    return digits if digits.isascii() else re.sub(r"\d", lambda digit: str(unicodedata.decimal(digit[0])), digits)


def _values(written: str) -> frozenset[str]:
    """Return the possible values of digits with separators: "1,234" is 1234, or in some languages a fraction."""
    found = set()
    if grouped := _GROUPED.fullmatch(written):
        found.add(_plain(re.sub(r"\D", "", grouped[1]), grouped[3] or ""))
    if decimal := _DECIMAL.fullmatch(written):
        # The zeros of "2,000" stay: as a fraction, it must not be equal to 2.
        found.add(f"{decimal[1]}.{decimal[2]}" if found else _plain(decimal[1], decimal[2]))
    return frozenset(found or {written.lstrip("0") or "0"})


def _plain(whole: str, fraction: str) -> str:
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _times_ten(value: str, zeros: int) -> str:
    whole, _, fraction = value.partition(".")
    return _plain(whole + fraction[:zeros].ljust(zeros, "0"), fraction[zeros:])


def _unit(text: str, start: int, end: int) -> str:
    found = _BEFORE.search(text, max(0, start - 6), start) or _AFTER.match(text, end)
    return CURRENCIES.get(found[1], found[1]) if found else ""
