"""Reads lines that begin with the number of a statement: the words that a model copied for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from anabranch.parsing.reasoning_blocks import drop_thinking

_LINE = re.compile(r"[\s*_\-\[(]*(\d{1,4})[\])*_]*\s*[.:)\-–]+(.+)")
_MAX_READ = 50_000
_QUOTES = "\"“”«»„'`*_ "


def read_quotes(reply: str) -> dict[int, str]:
    """Return the words that were copied for each statement, by its number."""
    found = {number: words.strip(_QUOTES) for number, words in _lines(reply)}
    return {number: words for number, words in found.items() if words and words.casefold() not in ("none", "n/a")}


def _lines(reply: str) -> Iterator[tuple[int, str]]:
    # Line by line: an expression over all of them would try each run of blanks from each of its places.
    for line in drop_thinking(reply[:_MAX_READ]).splitlines():
        if match := _LINE.match(line.strip()):
            yield int(match[1]), match[2].strip()
