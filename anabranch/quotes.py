"""Looks a quotation up in a passage, past everything in which a copy may differ without saying anything else.

Case, accents, ligatures, white space, line-end hyphens, dashes between words, kinds of quotation marks, emphasis and
invisible characters do not count; letters, digits and the punctuation that tells numbers apart do. What is returned is
always a span of the original, so what is shown as a quotation is what the passage says, to the character.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from anabranch.corpus.analysis import analyser
from anabranch.corpus.sentences import spans

Span = tuple[int, int]

FEWEST_WORDS = 2
"""Content words that a quotation needs; a single one is found in too many places to prove anything."""

MAX_GAP = 1000
"""Characters that an ellipsis may stand for."""

_MAX_PASSAGE = 100_000
_MAX_TRIES = 20
_WINDOW = 3
_IGNORED = "\"'“”‘’«»„‚‹›`´*_~"
_SPACING = "|•‣◦▪●■·"
_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.{3,}|…)\s*\]|\(\s*(?:\.{3,}|…)\s*\)|\.{3,}|…)\s*")
_EDGES = re.compile(r"^[\s.,;:!?\-–—(\[]+|[\s.,;:!?\-–—)\]]+$")
_NUMBER = re.compile(r"\d\d|\d\s*[%€$£]|[€$£]\s*\d")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text reduced to what counts in a comparison.

    Attributes:
        original: The text itself.
        text: Its folded form.
        places: For each folded character, its place in the original.
    """

    original: str
    text: str
    places: Sequence[int]


@lru_cache(maxsize=128)
def fold(text: str) -> Folded:
    """Reduce a text to what counts in a comparison; no more than 100,000 characters of it."""
    folded: list[str] = []
    places: list[int] = []
    spaced = False
    original = text[:_MAX_PASSAGE]
    for place, char in enumerate(original):
        counted = _counted(char, original[place + 1 : place + 2])
        if counted == " ":
            spaced = True
            continue
        for one in counted:
            # White space counts between two digits alone: there it makes another number.
            if spaced and folded and one.isdigit() and folded[-1].isdigit():
                folded.append(" ")
                places.append(place)
            spaced = False
            folded.append(one)
            places.append(place)
    return Folded(original, "".join(folded), places)


def _counted(char: str, following: str) -> str:
    """Return what of a character counts: nothing, a space, or its folded letters."""
    if char.isascii() and char.isalnum():
        return char.lower()
    if char.isspace() or char in _SPACING:
        return " "
    if char in _IGNORED:
        return ""
    kind = unicodedata.category(char)
    if kind == "Pd" or char == "\u2212":
        return "-" if following.isdigit() else " "
    if kind in {"Cf", "Cc", "Mn"}:
        return ""
    letters = unicodedata.normalize("NFKD", char).casefold()
    return "".join(one for one in letters if unicodedata.category(one) != "Mn" and not one.isspace())


def is_telling(quote: str) -> bool:
    """Tell whether a quotation says enough to prove something: two content words, or a number of two digits."""
    return len(set(analyser().terms(quote))) >= FEWEST_WORDS or _NUMBER.search(quote) is not None


def find_quote(quote: str, passage: str) -> Span | None:
    """Find a quotation in a passage.

    Args:
        quote: What was copied; "..." or "[...]" may leave out up to `MAX_GAP` characters, quotation marks and
            punctuation around it do not matter.
        passage: Where it should be.

    Returns:
        The span of the original words, both halves and what lies between where there is an ellipsis; None where the
        quotation is not there, or says too little (see `is_telling`). Never raises.
    """
    if not is_telling(quote):
        return None
    hay = fold(passage)
    whole = _needle(quote)
    if found := next(_occurrences(whole, hay, 0), None):
        return _span(found, hay)
    parts = [needle for part in _ELLIPSIS.split(quote) if (needle := _needle(part))]
    return _joined(parts, hay) if parts and all(len(part) > 2 for part in parts) else None


def _needle(quote: str) -> str:
    return fold(_EDGES.sub("", quote.strip("\"'“”‘’«» \n"))).text


def _joined(parts: list[str], hay: Folded) -> Span | None:
    """Find the parts one after the other, none too far from the one before."""
    for start, end in islice(_occurrences(parts[0], hay, 0), _MAX_TRIES):
        last: int | None = end
        for part in parts[1:]:
            last = None if last is None else _next_end(part, hay, last)
        if last is not None:
            return _span((start, last), hay)
    return None


def _next_end(part: str, hay: Folded, after: int) -> int | None:
    found = next(_occurrences(part, hay, after), None)
    return found[1] if found and hay.places[found[0]] - hay.places[after - 1] <= MAX_GAP else None


def _occurrences(needle: str, hay: Folded, start: int) -> Iterator[Span]:
    """Yield the folded spans of a needle that begin and end with whole words and numbers."""
    while needle and (start := hay.text.find(needle, start)) >= 0:
        end = start + len(needle)
        if not _inside_word(hay, start) and not _inside_word(hay, end):
            yield start, end
        start += 1


def _inside_word(hay: Folded, place: int) -> bool:
    """Tell whether a cut before folded character `place` would part a word or a number."""
    if not 0 < place < len(hay.text):
        return False
    left, right = hay.places[place - 1], hay.places[place]
    between = hay.original[left + 1 : right]
    before, after = hay.text[place - 1], hay.text[place]
    if between.strip(_IGNORED):
        return False
    if before.isdigit() and after in ".," and not between:
        return hay.text[place + 1 : place + 2].isdigit() and not _spaced(hay, place + 1)
    if before in ".," and after.isdigit() and not between:
        return hay.text[max(place - 2, 0) : place - 1].isdigit() and not _spaced(hay, place - 1)
    return before.isalnum() and after.isalnum() and not (_unspaced(before) or _unspaced(after))


def _spaced(hay: Folded, place: int) -> bool:
    return hay.places[place] - hay.places[place - 1] > 1


def _unspaced(char: str) -> bool:
    """Tell whether a letter is of a script that writes no spaces between words (Thai to Khmer, kana, Han)."""
    return (
        "\u0e00" <= char <= "\u17ff"
        or "\u2e80" <= char <= "\u9fff"
        or "\uf900" <= char <= "\ufaff"
        or char > "\U0001ffff"
    )


def _span(found: Span, hay: Folded) -> Span:
    """Return the span of the original, with the accents that belong to its last letter."""
    end = hay.places[found[1] - 1] + 1
    while end < len(hay.original) and unicodedata.category(hay.original[end]) == "Mn":
        end += 1
    return hay.places[found[0]], end


def nearest(quote: str, passage: str) -> tuple[float, Span]:
    """Find the sentences of a passage that are most like a quotation that is not in it.

    Args:
        quote: What should have been copied.
        passage: Where to look; its windows of one to three sentences are compared by the F1 of their content words.

    Returns:
        Likeness in [0, 1] and the span of those sentences without the white space around them; (0.0, (0, 0)) where
        no word is shared.
    """
    wanted = set(analyser().terms(quote))
    cuts = spans(passage[:_MAX_PASSAGE])
    words = [set(analyser().terms(passage[start:end])) for start, end in cuts]
    best: tuple[float, Span] = (0.0, (0, 0))
    for first in range(len(cuts)):
        held: set[str] = set()
        for last in range(first, min(first + _WINDOW, len(cuts))):
            held |= words[last]
            likeness = 2 * len(wanted & held) / max(len(wanted) + len(held), 1)
            if likeness > best[0]:
                best = (likeness, trimmed(passage, cuts[first][0], cuts[last][1]))
    return best


def trimmed(text: str, start: int, end: int) -> Span:
    """Return a span without the white space at its ends."""
    inside = text[start:end]
    return start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip())
