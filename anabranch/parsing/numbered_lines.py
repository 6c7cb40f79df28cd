"""Reads lines that begin with the number of a statement: the quotes that a model gives for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from anabranch.parsing.reasoning_blocks import drop_thinking

_LINE = re.compile(r"[\s*_\-\[(]*(\d{1,4})[\])*_]*\s*[.:)\-–]+(.+)")
_MAX_READ = 50_000
_QUOTES = "\"“”«»„'`*_ "


def read_quotes(reply: str) -> dict[int, str]:
    """Return the quote for each statement, by number."""
    found = {number: words.strip(_QUOTES) for number, words in _lines(reply)}
    return {number: words for number, words in found.items() if words and words.casefold() not in ("none", "n/a")}


def _lines(reply: str) -> Iterator[tuple[int, str]]:
    # Line by line, because one expression for all lines would be slow on long runs of blanks.
    for line in drop_thinking(reply[:_MAX_READ]).splitlines():
        if match := _LINE.match(line.strip()):
            yield int(match[1]), match[2].strip()
