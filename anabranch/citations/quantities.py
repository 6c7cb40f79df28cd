"""Reads the numbers of a text: digits, words and scales, with what they count, so that "12 %" is not "12 million".

A claim and its evidence write the same number in many ways; what has to be equal is its value and, where both say it,
its unit.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from anabranch.citations.number_words import WORDS, counted

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_SCALED = re.compile(r"[\s-]?(k|m|mn|bn|thousand|million|billion|trillion)\b", re.IGNORECASE)
_SCALES = {"k": 3, "m": 6, "mn": 6, "bn": 9, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_DOUBTFUL = frozenset({"k", "m"})
"""May as well be a unit: "12 m" is twelve metres or twelve million."""

_ENUMERATION = re.compile(r"\(\d\)")
_LONGEST = 40
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ORDINAL = re.compile(rf"\b({'|'.join(_ORDINALS.split())})\b", re.IGNORECASE)
_MONTHS = "January February March April May June July August September October November December"
_MONTH = re.compile(rf"\b({'|'.join(name[:3] + '(?:' + name[3:] + ')?' for name in _MONTHS.split())})\b")

_RANKS: dict[str, int] = {word: rank for rank, word in enumerate(_ORDINALS.split(), start=1)}
_RANKS |= {name[:3].lower(): rank for rank, name in enumerate(_MONTHS.split(), start=1)}

_UNITS = {
    "%": r"%|per\s?cent\b|pct\b|percentage\b",
    "$": r"dollars?\b|USD\b",
    "€": r"euros?\b|EUR\b",
    "£": r"GBP\b|sterling\b",
    "m": r"met(?:re|er)s?\b",
    "km": r"kilomet(?:re|er)s?\b|km\b",
    "cm": r"centimet(?:re|er)s?\b|cm\b",
    "mm": r"millimet(?:re|er)s?\b|mm\b",
    "ft": r"feet\b|foot\b|ft\b",
    "in": r"inch(?:es)?\b",
    "mi": r"miles?\b",
    "s": r"seconds?\b",
    "min": r"minutes?\b|mins?\b",
    "h": r"hours?\b|hrs?\b",
    "d": r"days?\b",
    "w": r"weeks?\b",
    "mo": r"months?\b",
    "y": r"years?\b",
    "kg": r"kilograms?\b|kilos?\b|kg\b",
    "t": r"tons?\b|tonnes?\b",
    "lb": r"pounds?\b|lbs?\b",
}
_ANY_UNIT = "|".join(f"(?P<u{index}>{written})" for index, written in enumerate(_UNITS.values()))
_UNIT = re.compile(rf"[\s-]?(?:{_ANY_UNIT})", re.IGNORECASE)
_NAMES = tuple(_UNITS)
_CURRENCY = re.compile(r"(?:US)?([$€£¥₹])\s?\(?$")
_RANGE = re.compile(r"\s*(?:[-–—]|to|and|or)\s*(?:US)?[$€£]?\s?", re.IGNORECASE)
_IN_SCALE = re.compile(r"\bin (?:\w+ )?(?:thousands|millions|billions)\b", re.IGNORECASE)
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of a text.

    Attributes:
        start: Where it starts.
        end: Where its digits or words end.
        bare: As written, in plain digits.
        values: What it may be worth, in plain digits: "1.5 million" 1500000, "12" of "12 to 15 million" both.
        unit: What it counts, where that is said and known; else empty.
        kind: What can take its place in a sentence: its unit, `year`, or `number`.
    """

    start: int
    end: int
    bare: str
    values: frozenset[str]
    unit: str = ""
    kind: str = "number"

    def matches(self, other: Figure, *, scaled: bool = False) -> bool:
        """Tell whether this number of a claim is that one of a text.

        Args:
            other: The number of the text.
            scaled: Whether the text may leave out what it counts in, as tables "in millions" do.
        """
        if self.unit and other.unit and self.unit != other.unit:
            return False
        return not self.values.isdisjoint(other.values) or (scaled and self.bare == other.bare in other.values)


@lru_cache(maxsize=1 << 14)
def figures(text: str) -> tuple[Figure, ...]:
    """Return the numbers of a text in order, whether in digits or in words."""
    plain = plain_of(text)
    found = sorted([*_digits(plain), *_in_words(plain)], key=lambda figure: figure.start)
    return tuple(_ranged(plain, found))


def plain_of(text: str) -> str:
    """Return compatible characters for the many digits, blanks and signs of Unicode."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def numbers_hold(claim: str, passage: str) -> bool:
    """Tell whether every number of the claim occurs in the passage, however it is written there.

    "One" is left out: it is a pronoun as often as a number.
    """
    stated = stated_figures(claim)
    if not stated:
        return True
    scaled, there = is_scaled(passage), evidence(passage)
    return all(any(figure.matches(other, scaled=scaled) for other in there) for figure in stated)


@lru_cache(maxsize=256)
def is_scaled(passage: str) -> bool:
    """Tell whether numbers of a passage may stand without their scale."""
    return "|" in passage or _IN_SCALE.search(passage) is not None


@lru_cache(maxsize=1 << 12)
def stated_figures(claim: str) -> tuple[Figure, ...]:
    """Return the numbers that a claim has to answer for: not those of a list, nor "one"."""
    if not any(char.isdigit() for char in claim) and not WORDS.search(claim):
        return ()
    plain = plain_of(claim)
    listed = {match.start() + 1 for match in _ENUMERATION.finditer(plain)}
    return tuple(
        figure
        for figure in figures(plain)
        if figure.start not in listed and plain[figure.start : figure.end].casefold() != "one"
    )


@lru_cache(maxsize=1 << 14)
def evidence(text: str) -> tuple[Figure, ...]:
    """Return the numbers that a text can answer with: "fourth" and "April" stand for 4 as well."""
    plain = plain_of(text)
    said = [(match, _RANKS[match[1].lower()]) for match in _ORDINAL.finditer(plain)]
    said += [(match, _RANKS[match[1][:3].lower()]) for match in _MONTH.finditer(plain)]
    ranks = [Figure(match.start(), match.end(), str(value), frozenset({str(value)})) for match, value in said]
    return (*figures(plain), *ranks)


def _digits(text: str) -> Iterator[Figure]:
    for match in _NUMBER.finditer(text):
        digits = match[0].replace(",", "") if _GROUPED.fullmatch(match[0]) else match[0]
        bare, end, values = _plain(digits), match.end(), {_plain(digits)}
        scale = _SCALED.match(text, end)
        if scale and len(digits) < _LONGEST and digits.count(".") < 2 and "," not in digits:
            word = scale[1].lower()
            whole, _, fraction = digits.partition(".")
            zeros = _SCALES[word]
            scaled = _plain(whole + fraction[:zeros].ljust(zeros, "0"))
            values = {bare, scaled} if word in _DOUBTFUL else {scaled}
            end = end if word in _DOUBTFUL else scale.end()
        unit = _unit(text, match.start(), end)
        kind = unit or ("year" if _YEAR.fullmatch(match[0]) else "number")
        yield Figure(match.start(), match.end(), bare, frozenset(values), unit, kind)


def _unit(text: str, start: int, end: int) -> str:
    currency = _CURRENCY.search(text, max(0, start - 6), start)
    if currency:
        return currency[1]
    found = _UNIT.match(text, end)
    return _NAMES[int((found.lastgroup or "u0")[1:])] if found else ""


def _in_words(text: str) -> Iterator[Figure]:
    for match in WORDS.finditer(text):
        scale = _SCALED.match(match[0])
        if scale and text[: match.start()].rstrip(" -")[-1:].isdigit():
            continue  # the scale of a number in digits
        for value in counted(match[0]):
            unit = _unit(text, match.start(), match.end())
            yield Figure(match.start(), match.end(), str(value), frozenset({str(value)}), unit, unit or "number")


def _ranged(text: str, found: list[Figure]) -> Iterator[Figure]:
    """Let the scale and the unit at the end of a range ("12 to 15 million") count for its beginning as well."""
    for figure, after in pairwise([*found, Figure(len(text), len(text), "", frozenset())]):
        zeros = next((len(value) for value in after.values if value != after.bare), 0)
        if figure.bare in figure.values and _RANGE.fullmatch(text, figure.end, after.start):
            scaled = {figure.bare + "0" * (zeros - len(after.bare))} if zeros and "." not in figure.bare else set()
            unit = figure.unit or after.unit
            yield replace(figure, values=figure.values | scaled, unit=unit, kind=unit or figure.kind)
        else:
            yield figure


def _plain(digits: str) -> str:
    if digits.count(".") == 1 and "," not in digits:
        digits = digits.rstrip("0").rstrip(".")
    return digits.lstrip("0") or "0"
