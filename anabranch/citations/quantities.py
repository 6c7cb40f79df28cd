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

_NUMBER = re.compile(r"\d+(?:[.,':]\d+)*")
_GROUPED = re.compile(r"(\d{1,3}(?:([.,'])\d{3})(?:\2\d{3})*)(?:(?!\2)[.,](\d+))?")
_DECIMAL = re.compile(r"(\d+)[.,](\d+)")
# Only a no-break blank joins groups of three digits: other blanks separate two numbers.
_BLANK_IN_NUMBER = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_SIGNS = str.maketrans({"٪": "%", "٫": ".", "٬": ",", "’": "'"})

_ENGLISH_SCALE = re.compile(r"[\s-]?(mn|bn|thousand|million|billion|trillion)\b", re.IGNORECASE)
# Not in other languages: "billion" is a thousand million in English, and a million million in French and German.
_ENGLISH_ZEROS = {"thousand": 3, "mn": 6, "million": 6, "bn": 9, "billion": 9, "trillion": 12}

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
    """

    values: frozenset[str]
    scaled: frozenset[str]

    @property
    def is_scaled(self) -> bool:
        """Whether a scale follows it."""
        return self.scaled != self.values

    @property
    def may_be_a_word(self) -> bool:
        """Whether another text may have it as a word: a small whole number."""
        return all(len(value) <= _DAY_DIGITS and value.isdigit() and int(value) <= _AS_A_WORD for value in self.scaled)

    def matches(self, other: Figure) -> bool:
        """Tell whether this is the other number, or the same with fewer digits, as "844 million" is 843.6 million."""
        return not self.scaled.isdisjoint(other.scaled) or any(
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
    if not any(map(str.isdigit, text)):
        return ()
    if not text.isascii():
        text = _BLANK_IN_NUMBER.sub("'", text)
        text = text.translate({ord(char): _compatible(char) for char in set(text) if not char.isascii()})
        text = text.translate(_SIGNS)
    listed = {match.start() + 1 for match in _ENUMERATION.finditer(text)}
    return tuple(_figure(text, match) for match in _NUMBER.finditer(text) if match.start() not in listed)


def _compatible(char: str) -> str:
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 else char


def has(there: Sequence[Figure], figure: Figure) -> bool:
    """Tell whether a text has a number of a claim, or one that the claim rounds.

    A text without any scale, such as a table, may count in the claim's scale.
    """
    if any(map(figure.matches, there)):
        return True
    if not figure.is_scaled or any(other.is_scaled for other in there):
        return False
    return any(map(replace(figure, scaled=figure.values).matches, there))


def _figure(text: str, match: re.Match[str]) -> Figure:
    values = _values(_ascii(match[0]))
    scale = _ENGLISH_SCALE.match(text, match.end())
    if scale is None or len(match[0]) >= _LONGEST:
        return Figure(values, values)
    zeros = _ENGLISH_ZEROS[scale[1].lower()]
    return Figure(values, frozenset(_times_ten(value, zeros) for value in values if value.count(".") < 2))


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
