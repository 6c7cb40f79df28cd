"""Reads lines that begin with the number of a statement: what a model judges of it, or the words it copied for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from anabranch.parsing.reasoning_blocks import drop_thinking
from anabranch.text.function_words import YES, fold_word

Judgement = Literal["entailed", "contradicted", "not_said"]
"""Whether a claim follows from its evidence, is denied by it, or neither."""

_LINE = re.compile(r"[\s*_\-\[(]*(\d{1,4})[\])*_]*\s*[.:)\-–]+(.+)")
_MAX_READ = 50_000
_QUOTES = "\"“”«»„'`*_ "


def read_judgements(reply: str, statements: int) -> list[Judgement]:
    """Return a judgement for each statement, in order; what a reply does not judge is unsaid.

    Args:
        reply: Lines such as "1: entailed"; anything else is passed over.
        statements: How many were judged.
    """
    said: dict[int, Judgement] = {}
    for number, words in _lines(reply):
        # By its beginning: "not entailed" has the word "entailed" in it.
        word = words.casefold().lstrip(_QUOTES)
        for name, begins in _BEGINNINGS.items():
            if word.startswith(begins):
                # The first one counts; a model that explains itself may begin a later line with the number.
                said.setdefault(number, name)
                break
    return [said.get(number, "not_said") for number in range(1, statements + 1)]


_BEGINNINGS: dict[Judgement, tuple[str, ...]] = {
    "entailed": ("entail", "support", "yes", "true"),
    "contradicted": ("contradict", "refut", "false"),
    "not_said": ("unsaid", "not", "neither", "neutral", "no"),
}


def read_yes(reply: str) -> bool:
    """Tell whether a reply to a yes-or-no question begins with a yes, in any of the languages that are known."""
    words = drop_thinking(reply[:_MAX_READ]).split(maxsplit=1)
    return bool(words) and fold_word(words[0].strip(f"{_QUOTES}.,!:")) in YES


def read_quotes(reply: str) -> dict[int, str]:
    """Return the words that were copied for each statement, by its number."""
    found = {number: words.strip(_QUOTES) for number, words in _lines(reply)}
    return {number: words for number, words in found.items() if words and words.casefold() not in ("none", "n/a")}


def _lines(reply: str) -> Iterator[tuple[int, str]]:
    # Line by line: an expression over all of them would try each run of blanks from each of its places.
    for line in drop_thinking(reply[:_MAX_READ]).splitlines():
        if match := _LINE.match(line.strip()):
            yield int(match[1]), match[2].strip()
