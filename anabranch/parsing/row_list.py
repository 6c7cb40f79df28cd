"""Reads rows from a model's reply: the name of a hit, the number of its passage, and the words that show it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from anabranch.parsing.json_repair import MAX_REPLY
from anabranch.parsing.reasoning_blocks import drop_thinking

MAX_ITEM = 300
MAX_WORDS = 1_000
MAX_LINES = 2_000

_NUMBER = re.compile(r"\[(\d{1,6})\]")
_BULLET = re.compile(r"^\s*(?:[-*+•]\s+|\d{1,4}[.)]\s+)?")
_AROUND = " \t|:–—\"“”«»„'`*"


class ListedHit(NamedTuple):
    """One line of a reply: the hit's name, the number of its passage, and the words that are to stand there."""

    item: str
    number: int
    words: str


NO_HIT = "NONE"
"""What the prompt asks for where there is no hit."""


def is_row_list(reply: str) -> bool:
    """Tell whether a reply is what was asked for: it has a row, or a line that is only `NO_HIT`, in any case."""
    lines = drop_thinking(reply[:MAX_REPLY]).splitlines()[:MAX_LINES]
    bare = ("".join(filter(str.isalnum, line)).casefold() for line in lines)
    return any(True for _ in read_rows(reply)) or NO_HIT.casefold() in bare


def read_rows(reply: str) -> Iterator[ListedHit]:
    """Yield the hit of each line that has a name, a number in brackets, and words; other lines are none."""
    for line in drop_thinking(reply[:MAX_REPLY]).splitlines()[:MAX_LINES]:
        found = _NUMBER.search(line)
        if found is None:
            continue
        item = " ".join(_BULLET.sub("", line[: found.start()]).strip(_AROUND).split())[:MAX_ITEM]
        words = line[found.end() :].strip(_AROUND)[:MAX_WORDS]
        if item and words:
            yield ListedHit(item, int(found[1]), words)
