"""Finds a quote in its passage as a reader would: typography, line breaks and emphasis marks do not count.

Both sides are folded to a plain form; a map from folded characters to the original gives the span in the passage.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from anabranch.text.analyzer import UNSPACED, analyser
from anabranch.text.normalization import clean

# Most characters of a quote that is looked up.
LONGEST_QUOTE = 4_000
# A passage of "a a a a" has a match at every second character.
_MAX_TRIES = 200

_DASHES = "\\-\u2010-\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d"
_LETTER = r"[^\W\d_]"
_SPECIAL = re.compile(
    # A hyphen inside a word, with or without a line end after it.
    rf"(?P<drop>(?<={_LETTER})[-\u2010\u2011\u00ad](?:[ \t]*\r?\n[ \t]*)?(?={_LETTER})"
    rf"|(?<!\w)[*_`~]+|[*_`~]+(?!\w)"  # emphasis; not snake_case, not 2*3
    r"|(?<!\w)['\u2018-\u201b\u2032]|['\u2018-\u201b\u2032](?!\w)"  # single quotes, not apostrophes
    r"|[\"\u201c-\u201f\u00ab\u00bb\u2033\uff02])"
    rf"|(?P<range>(?<=\d)\s{{0,20}}[{_DASHES}]\s{{0,20}}(?=\d))"
    rf"|(?P<space>(?<!\s)\s*(?:[\u2014\u2015]|--+)\s*|(?<!\s)\s+[{_DASHES}]\s+"
    rf"|(?<!\s)(?! [^\s{_DASHES}])\s+)"  # one blank stays as it is
    rf"|(?P<dash>[{_DASHES}])"
    r"|(?P<apostrophe>[\u2018-\u201b\u2032])"
)
_REPLACED = {"drop": "", "range": "-", "space": " ", "dash": "-", "apostrophe": "'"}
_ACCENTS = re.compile("[\u0300-\u036f]")
_ELLIPSIS = re.compile(r"[\[(]?(?:\.{3,}|(?:\.\s){2,5}\.|\u2026+)[\])]?")
_ENDS = ".,;:!?\u2026\u3002\uff01\uff1f"
_UNSPACED = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in comparable form; character i of `text` came from [starts[i], ends[i]) of the original."""

    original: str
    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def fold(text: str) -> Folded:
    """Fold case, compatibility forms, accents, quotes, dashes, white space, hyphenation and emphasis marks."""
    chars: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for piece, start, end in _pieces(text):
        if piece.startswith(" ") and (not chars or chars[-1].endswith(" ")):
            # One blank is enough. Several characters for one (U+FC5E) keep its place.
            piece, start = piece[1:], start + (len(piece) == end - start)  # noqa: PLW2901
        if not piece:
            continue
        chars.append(piece)
        if len(piece) == end - start:
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
        else:
            starts.extend([start] * len(piece))
            ends.extend([end] * len(piece))
    return Folded(text, "".join(chars), tuple(starts), tuple(ends))


def _pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield folded pieces with their spans: of the same length, or replacing the whole span."""
    done = 0
    for match in _SPECIAL.finditer(text):
        yield from _plain(text, done, match.start())
        yield _REPLACED[match.lastgroup or "drop"], match.start(), match.end()
        done = match.end()
    yield from _plain(text, done, len(text))


def _plain(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    piece = text[start:end]
    if piece.isascii() and piece.isprintable():
        yield piece.lower(), start, end
        return
    yield from ((_folded_char(text[index]), index, index + 1) for index in range(start, end))


@lru_cache(maxsize=1 << 14)
def _folded_char(char: str) -> str:
    if char.isspace():
        return " "
    visible = unicodedata.normalize("NFKD", clean(char))
    return unicodedata.normalize("NFC", _ACCENTS.sub("", visible)).casefold().replace("\u00a0", " ")


def find_quote(quote: str, passage: Folded) -> tuple[int, int] | None:
    """Return the [start, end) span of a quote in the passage.

    Args:
        quote: The quoted words; "a ... b" means both, in this order.
        passage: The text, folded; the span counts the characters of the original.

    Returns:
        The span; None if the passage lacks it, or it has fewer than two content words and no number.
    """
    return locate(quote, passage) if _proves(quote) else None


def locate(quote: str, passage: Folded) -> tuple[int, int] | None:
    """Find a quote as `find_quote` does, however short it is."""
    if len(quote) > LONGEST_QUOTE:
        return None
    whole = _find(fold(quote).text.strip(" " + _ENDS), passage.text, 0)
    # Models shorten quotes; an ellipsis in the passage itself was found as it is.
    halves = [half.strip() for half in _ELLIPSIS.split(quote)]
    found = whole or _find_halves([half for half in halves if analyser().terms(half)], passage.text)
    if found is None:
        return None
    start, end = passage.starts[found[0]], passage.ends[found[1] - 1]
    text = passage.original
    last = quote.rstrip(" \n\"'*_`\u201d\u2019")[-1:]
    # The stop is not compared, but a whole sentence should end with it.
    return (start, end + 1) if last and last in _ENDS and text[end : end + 1] == last else (start, end)


def _proves(quote: str) -> bool:
    terms = set(analyser().terms(quote[:LONGEST_QUOTE]))
    return len(terms) > 1 or any(char.isdigit() for term in terms for char in term)


def _find_halves(halves: list[str], passage: str) -> tuple[int, int] | None:
    if len(halves) < 2:
        halves = halves or [""]
    first, after = -1, 0
    for half in halves:
        found = _find(fold(half).text.strip(" " + _ENDS), passage, after)
        if found is None:
            return None
        first, after = (found[0] if first < 0 else first), found[1]
    return first, after


def _find(words: str, passage: str, start: int) -> tuple[int, int] | None:
    """Find whole words: "5 cars" is neither in "15 cars" nor in "1.5 cars"."""
    if not words:
        return None
    for _ in range(_MAX_TRIES):
        start = passage.find(words, start)
        if start < 0:
            return None
        end = start + len(words)
        if not _cuts(passage, start) and not _cuts(passage, end):
            return start, end
        start += 1
    return None


def _cuts(text: str, at: int) -> bool:
    """Tell whether a cut here would go through a word or a number."""
    left, right = text[max(0, at - 1) : at], text[at : at + 1]
    if left.isalnum() and right.isalnum():
        return not (_UNSPACED.match(left) or _UNSPACED.match(right))
    if left in {".", ","} and right.isdigit():
        return text[max(0, at - 2) : at - 1].isdigit()
    return left.isdigit() and right in {".", ","} and text[at + 1 : at + 2].isdigit()
