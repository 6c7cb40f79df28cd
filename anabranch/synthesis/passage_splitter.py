"""Cuts a text that is too large into pieces that are not: at its parts, else at sentences, else at words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from anabranch.text.sentences import spans

Holds = Callable[[str], bool]
"""Whether a text is small enough; what a text that it holds begins with, it holds as well."""

Cut = tuple[int, int, bool]
"""Start and end of a piece, and whether it is of whole sentences."""


def cut(text: str, inner: Sequence[int], holds: Holds, *, longest: int) -> Iterator[Cut]:
    """Yield spans that cover the text, as few as its parts and sentences allow.

    Args:
        text: What is too large, or may be.
        inner: Where its parts begin; a part that is still too large is cut by itself.
        holds: Whether a piece is small enough.
        longest: Characters that no piece has more of.

    Yields:
        Spans in order, each small enough if a single character is.
    """
    begin = 0
    for start, end in pairwise([0, *sorted({one for one in inner if 0 < one < len(text)}), len(text)]):
        if begin < start and not holds(text[begin:end]):
            yield from _sentences(text, begin, start, holds, longest)
            begin = start
    yield from _sentences(text, begin, len(text), holds, longest)


def _sentences(text: str, begin: int, stop: int, holds: Holds, longest: int) -> Iterator[Cut]:
    """Yield spans that cover text[begin:stop], as few as sentence ends allow."""
    if holds(text[begin:stop]):
        yield begin, stop, True
        return
    first, whole = begin, True
    for start, end in ((first + start, first + end) for start, end in spans(text[first:stop])):
        if begin < start and not holds(text[begin:end]):
            yield begin, start, whole
            begin, whole = start, True
        while not holds(text[begin:end]) and end - begin > 1:
            middle, whole = _word_end(text, begin, end, holds, longest), False
            yield begin, middle, whole
            begin = middle
    if begin < stop:
        yield begin, stop, whole


def _word_end(text: str, begin: int, end: int, holds: Holds, longest: int) -> int:
    """Return where the longest fitting beginning of text[begin:end] ends, at a word if there is one."""
    low, high = begin + 1, min(end, begin + longest)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(text[begin:middle]) else (low, middle)
    word = text.rfind(" ", begin + 1, low) + 1
    return word if word and holds(text[begin:word]) else low
