"""Finds words in a text, with `*` for any text between them, in time that grows with the text alone.

There are no regular expressions: one could take exponential time, and an engine that cannot is a further dependency.
Each part of a pattern is sought once from where the part before it ended, and `str.find` is linear (the two-way
algorithm of Crochemore and Perrin, 1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.errors import QuestionError
from anabranch.text.normalization import clean

MAX_PATTERN = 200
"""Most characters of a pattern."""

AROUND = 120
"""Characters that a quote has on each side of what was found."""

LONGEST = 600
"""Most characters of a quote."""

_SIGNS = frozenset("\\|[](){}^$+?")


@dataclass(frozen=True, slots=True)
class Wildcards:
    """A pattern: its parts, which have to follow one another.

    Attributes:
        parts: Folded, none of them empty.
        has_other_signs: Whether there are signs that mean something in a regular expression, and nothing here.
    """

    parts: tuple[str, ...]
    has_other_signs: bool = False

    @classmethod
    def parse(cls, pattern: str) -> Wildcards:
        """Return a pattern.

        Raises:
            QuestionError: It is no text, has nothing to look for, or is too long.
        """
        if not isinstance(pattern, str):
            raise QuestionError(f"The pattern is {type(pattern).__name__}, not text.", hint="Give it as a string.")
        if len(pattern) > MAX_PATTERN:
            msg = f"The pattern has {len(pattern):,} characters; {MAX_PATTERN} is the most."
            raise QuestionError(msg, hint="Look for fewer words.")
        parts = tuple(part.strip() for part in fold(clean(pattern)).split("*") if part.strip())
        if not parts:
            msg = f"The pattern {pattern!r} has nothing to look for."
            raise QuestionError(msg, hint="Give words; * stands for any text between them.")
        return cls(parts, not _SIGNS.isdisjoint(pattern))

    def quote_in(self, text: str) -> str:
        """Return the first match in a text with the words around it, verbatim; empty if there is none."""
        span = _find(fold(text), self.parts)
        if span is None:
            return ""
        places = _places(text)
        begin, end = places[span[0]], places[span[1] - 1] + 1
        return _widen(text, begin, min(end, begin + LONGEST - 2 * AROUND))


def fold(text: str) -> str:
    """Return a text without case, on one line, each run of white space as one space."""
    return " ".join(text.split()).casefold()


def _find(text: str, parts: Sequence[str]) -> tuple[int, int] | None:
    begin = end = -1
    for part in parts:
        place = text.find(part, max(end, 0))
        if place < 0:
            return None
        begin, end = (place if begin < 0 else begin), place + len(part)
    return begin, end


def _places(text: str) -> list[int]:
    """Return where each character of `fold(text)` is in the text."""
    places: list[int] = []
    blank = -1
    for place, character in enumerate(text):
        if character.isspace():
            blank = place if blank < 0 else blank
            continue
        if blank >= 0 and places:
            places.append(blank)
        blank = -1
        places.extend([place] * len(character.casefold()))
    return places


def _widen(text: str, begin: int, end: int) -> str:
    """Return [begin, end) with whole words around it."""
    low, high = max(begin - AROUND, 0), min(end + AROUND, len(text))
    before, after = text[low:begin], text[end:high]
    # A word that is cut in two is left out, as far as there is another.
    if low and (cut := before.find(" ")) >= 0:
        before = before[cut + 1 :]
    if high < len(text) and (cut := after.rfind(" ")) >= 0:
        after = after[:cut]
    return f"{before}{text[begin:end]}{after}".strip()
