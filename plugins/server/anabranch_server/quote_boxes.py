"""Finds a quote on a page by comparing letters.

Only letters are compared, because the text that was read differs from what is drawn: words are joined over the ends of
lines, ligatures are spelt out, spaces and punctuation are guesses. A wrong mark is worse than none, so repeated words
are told apart by their context, and nothing is marked where the context does not decide.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from anabranch.readers.mupdf import Box, PdfWord

SURROUNDINGS = 80
"""Letters of context before and after a quote."""

SPEAKS_FOR_ITSELF = 24
"""Letters from which a quote that occurs once needs no context."""

ENOUGH = 8
"""Letters of context that have to agree for a shorter quote."""


@dataclass
class _Letters:
    """The letters of some pages: `owners` has the page and word of each; `begins` and `ends` mark runs of letters."""

    text: list[str] = field(default_factory=list)
    owners: list[tuple[int, int]] = field(default_factory=list)
    begins: list[bool] = field(default_factory=list)
    ends: list[bool] = field(default_factory=list)

    def add(self, page: int, word: int, text: str) -> None:
        """Add a word's letters."""
        for run in _runs(text):
            for at, letter in enumerate(run):
                self.text.append(letter)
                self.owners.append((page, word))
                self.begins.append(at == 0)
                self.ends.append(at == len(run) - 1)


def boxes_of(pages: Sequence[Sequence[PdfWord]], before: str, quote: str, after: str) -> list[list[Box]]:
    """Return the boxes of a quote on each of several consecutive pages, one box a line.

    Args:
        pages: The words of each page, in reading order.
        before: The document's text before the quote.
        quote: The words.
        after: The text after them.

    Returns:
        The boxes of each page in points; none at all if the quote is not found in exactly one place.
    """
    letters = _Letters()
    for number, words in enumerate(pages):
        for place, word in enumerate(words):
            letters.add(number, place, word[4])
    wanted = _letters_of(quote)
    at = _place(letters, _letters_of(before)[-SURROUNDINGS:], wanted, _letters_of(after)[:SURROUNDINGS])
    if at is None:
        return [[] for _ in pages]
    owners = dict.fromkeys(letters.owners[at : at + len(wanted)])
    return [_lines([words[place] for page, place in owners if page == number]) for number, words in enumerate(pages)]


def _place(letters: _Letters, before: str, wanted: str, after: str) -> int | None:
    """Return the index of the quote's first letter; None if the quote is missing or ambiguous."""
    text = "".join(letters.text)
    found = [at for at in _occurrences(text, wanted) if letters.begins[at] and letters.ends[at + len(wanted) - 1]]
    agreeing = {
        at: _shared_length(text[max(at - len(before), 0) : at][::-1], before[::-1])
        + _shared_length(text[at + len(wanted) : at + len(wanted) + len(after)], after)
        for at in found
    }
    if not agreeing:
        return None
    best = max(agreeing, key=lambda at: agreeing[at])
    if sum(score == agreeing[best] for score in agreeing.values()) > 1:
        return None
    needed = min(ENOUGH, len(before) + len(after)) if len(wanted) < SPEAKS_FOR_ITSELF else 0
    return best if agreeing[best] >= needed else None


def _occurrences(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _shared_length(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _letters_of(text: str) -> str:
    return "".join(_runs(text))


def _runs(text: str) -> Iterator[str]:
    """Yield the runs of letters and digits of a text, normalised to one spelling."""
    run = ""
    for letter in unicodedata.normalize("NFKD", text).casefold():
        # Combining marks may be drawn as separate letters or be lost; a soft hyphen does not end a run.
        if letter.isalnum():
            run += letter
        elif unicodedata.category(letter) not in ("Mn", "Mc", "Cf") and run:
            yield run
            run = ""
    if run:
        yield run


def _lines(words: Sequence[PdfWord]) -> list[Box]:
    """Return one box for the words of each line."""
    lines: dict[tuple[int, int], Box] = {}
    for left, top, right, bottom, _, block, line, _ in words:
        x0, y0, x1, y1 = lines.get((block, line), (left, top, right, bottom))
        lines[block, line] = (min(x0, left), min(y0, top), max(x1, right), max(y1, bottom))
    return list(lines.values())
