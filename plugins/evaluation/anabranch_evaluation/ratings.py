"""Reads the number in a judge's reply, with any words around it, in any language.

Digits of any script count; if several numbers are possible, none is read.
"""

from __future__ import annotations

import re
import unicodedata

from anabranch.parsing.reasoning_blocks import drop_thinking

MAX_REPLY = 4_000

_NUMBER = r"(?<![\w.,/])(?:\d{1,4}(?:[.,]\d{1,3})?)(?![\d/%])"
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)?")
# A line that ends in its number, with at most four words before it: "Score: 4", "Ich gebe eine 4."
_LINE = re.compile(rf"\W*(?:[^\W\d]+\W*){{0,4}}?({_NUMBER})\W*")


def read_rating(reply: str, least: int, most: int) -> float | None:
    """Return the number of a reply, `least` to `most`; None where there is none, or several that differ.

    "4", "Score: 4/5", "4 von 5", "On a scale of 1 to 5: **4**" and '{"score": 4}' are all 4.
    """
    text = unicodedata.normalize("NFKC", drop_thinking(reply[:MAX_REPLY]))
    text = _without_scale(re.sub(r"[*_`]", "", text), least, most)
    return read_choice(text, least, most)


def read_choice(reply: str, least: int, most: int) -> float | None:
    """Return the number of a reply like `read_rating`, for numbers that are choices and not a scale."""
    text = unicodedata.normalize("NFKC", drop_thinking(reply[:MAX_REPLY]))
    alone = [match[1] for line in text.splitlines() if (match := _LINE.fullmatch(line.strip()))]
    # A number on its own line takes precedence, because reasons may name other numbers.
    for numbers in (alone, _NUMBERS.findall(text)):
        values = {float(number.replace(",", ".")) for number in numbers}
        if values:
            # With several different numbers, any choice would be a guess.
            value = values.pop()
            return value if not values and least <= value <= most else None
    return None


def _without_scale(text: str, least: int, most: int) -> str:
    """Remove the scale: "1-5" and "1 to 5" before the number, "/5" and "out of 5" after it."""
    between = r"\s*(?:[-–—~〜]|[^\W\d]{1,5}|\.\.+|…)\s*"
    behind = rf"(?<=\d)\s*(?:/|[^\W\d]+(?:\s+[^\W\d]+)?)\s*{most}(?![\d.,]*\d)"
    # A reply of only "1 of 5" is a number with its scale, not the scale alone.
    scale = re.compile(rf"(?<![\d.,]){least}{between}{most}(?![\d.,]*\d)")
    rest = scale.sub(" ", text)
    return re.sub(behind, "", rest if _NUMBERS.search(rest) else text)
