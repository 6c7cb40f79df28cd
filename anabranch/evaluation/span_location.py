"""Finds evidence in a document as it was ingested, whose characters are not numbered as in the file it came from.

Reading drops blank lines, invisible characters and the white space at the ends of paragraphs, so offsets of the source
are wrong by a little more with every paragraph. Letters stay: a place is known by how many of them lie before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from anabranch.evaluation.references import Reference
from anabranch.text.normalization import clean


class Letters:
    """A text without its white space, and where each of its characters stands."""

    def __init__(self, text: str) -> None:
        """Take a text as a corpus holds it, which is clean."""
        self._places = [place for place, letter in enumerate(text) if not letter.isspace()]
        self._text = squashed(text)

    def nearest(self, words: str, expected: int) -> tuple[int, int, int] | None:
        """Return where words stand, as characters [start, end) of the text, and how many letters off that is.

        Args:
            words: What to look for; white space does not count.
            expected: How many letters lie before it, as far as is known: of several places the nearest is taken.
        """
        needle = squashed(words)
        if not needle:
            return None
        after = self._text.find(needle, max(expected, 0))
        before = self._text.rfind(needle, 0, max(expected, 0) + len(needle) - 1)
        places = [place for place in (before, after) if place >= 0]
        if not places:
            return None
        place = min(places, key=lambda place: (abs(place - expected), place))
        last = self._places[place + len(needle) - 1]
        return self._places[place], last + 1, abs(place - expected)


def squashed(text: str) -> str:
    """Return the letters of a text, and everything else in it that is no white space."""
    return "".join(clean(text).split())


def letters_before(text: str, places: Iterable[int]) -> dict[int, int]:
    """Return how many letters lie before each place of a text as it was before ingest, in one pass over it."""
    counted: dict[int, int] = {}
    before = previous = 0
    for place in sorted(set(places)):
        before += len(squashed(text[previous:place]))
        counted[place], previous = before, place
    return counted


def located(
    references: Sequence[Reference], text: str, original: str
) -> list[tuple[Reference, tuple[int, int] | None, int]]:
    """Find references of one document.

    Args:
        references: Of that document.
        text: Of the document, as the corpus holds it.
        original: As it was before ingest, which the references' places are meant in.

    Returns:
        For each reference its characters [start, end) in `text`, None where its words are not there, and how many
        letters away from where it should be they were found.
    """
    letters = Letters(text)
    before = letters_before(original, [one.start for one in references if one.start is not None])
    found: list[tuple[Reference, tuple[int, int] | None, int]] = []
    for one in references:
        words = one.content or original[one.start : one.end]
        place = letters.nearest(words, before[one.start] if one.start is not None else 0)
        off = place[2] if place is not None and one.start is not None else 0
        found.append((one, place[:2] if place is not None else None, off))
    return found
