"""Reads numbers that are written in words."""

from __future__ import annotations

import re

_ONES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_ONES.split())}
_ROUND = {word: 10 * value for value, word in enumerate(_TENS.split(), start=2)}
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "dozen": 12}
_THOUSAND = 1_000
_NEXT_TO_TENS = 10
_WORD = "|".join([*_SMALL, *_ROUND, *_LARGE])
_SINGLE = re.compile(rf"\b(?:{_WORD})\b")
WORDS = re.compile(rf"\b(?:{_WORD})\b(?:(?:[\s-]|\sand\s)(?:{_WORD})\b){{0,8}}", re.IGNORECASE)
"""Number words in a row."""


def counted(run: str) -> list[int]:
    """Return the numbers that number words in a row say: "two hundred and six" is one, "five six" two."""
    done: list[int] = []
    total = part = 0
    room: int | None = None  # what may still be added is less than this; None before the first word
    for word in _SINGLE.findall(run.lower()):
        if word in _LARGE:
            room = _LARGE[word]
            part = (part or 1) * room
            if room >= _THOUSAND:
                total, part = total + part, 0
            continue
        value = _SMALL.get(word, _ROUND.get(word, 0))
        if room is not None and (value >= room or value == 0):
            done.append(total + part)
            total = part = 0
        part += value
        room = _NEXT_TO_TENS if word in _ROUND else 1
    return [*done, total + part]
