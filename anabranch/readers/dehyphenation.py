"""Undo the line breaks that a page width forced: wrapped lines become one, split words become whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

_BREAK = re.compile(r"([^\W\d_][\w'’]*)[-\u00ad\u2010]$")
_FIRST = re.compile(r"([^\W\d_][\w'’]*)")
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_LONGEST_WORD = 80  # keeps the search for the cut word at the end of a line short
_SUSPENDED = frozenset({"and", "or", "to", "und", "oder", "et", "ou", "y"})  # "pre- and post-war"
_WIDE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]")

# What to do with a hyphen at a line end when the document uses neither spelling: drop it, or keep it.
Doubt = Literal["join", "keep"]


def vocabulary(lines: Iterable[str]) -> frozenset[str]:
    """Return the words of a text, lower case, compounds whole, without those that a line end cut."""
    words: set[str] = set()
    for line in lines:
        found = _WORD.findall(line.rstrip("-\u00ad\u2010"))
        words.update(word.lower() for word in (found[:-1] if line.endswith(("-", "\u00ad", "\u2010")) else found))
    return frozenset(words)


def join(left: str, right: str, words: frozenset[str], doubt: Doubt = "join") -> str:
    """Return two lines of one paragraph as one.

    A hyphen at the end of `left` goes when it only split a word and stays when it belongs to a compound; `words`, the
    vocabulary of the document, decides, then `doubt`. Chinese and Japanese lines join without a space.
    """
    if not left or not right:
        return left or right
    if _WIDE.match(left[-1]) and _WIDE.match(right[0]):
        return left + right
    if not left.endswith(("-", "—", "\u00ad", "\u2010")) or left.endswith((" -", " —")):
        return f"{left} {right}"
    before = _BREAK.search(left[-_LONGEST_WORD:])
    if not before:
        return left + right
    return _join_word(left, right, before.group(1), words, doubt)


def join_all(lines: Sequence[str], words: frozenset[str], doubt: Doubt = "join") -> str:
    """Return the lines of one paragraph as one, in time linear in their length; see `join`."""
    pieces: list[str] = []
    last = ""
    for line in filter(None, lines):
        joined = join(last, line, words, doubt)
        pieces.append(joined[: len(joined) - len(line)])
        last = line
    return "".join([*pieces, last])


def _join_word(left: str, right: str, head: str, words: frozenset[str], doubt: Doubt) -> str:
    after = _FIRST.match(right)
    if not after or not after.group(1)[0].islower():
        return left + right
    tail = after.group(1).lower()
    # A soft hyphen says by itself that it only parts a word.
    if left[-1] == "\u00ad" or f"{head}{tail}".lower() in words:
        return left[:-1] + right
    if tail in _SUSPENDED:
        return f"{left} {right}"
    # One letter before a hyphen is no syllable: e-mail, T-shirt.
    compound = len(head) == 1 or f"{head}-{tail}".lower() in words or {head.lower(), tail} <= words
    return left + right if compound or doubt == "keep" else left[:-1] + right
