"""Finds the words of a passage that support a claim: the writer's quote, a sentence or two, the row of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from anabranch.citations.contradiction import Ground, agrees, better_elsewhere, possible
from anabranch.citations.lexical_support import support
from anabranch.citations.quantities import is_scaled
from anabranch.citations.quote_matching import find_quote, nearest
from anabranch.citations.table_cells import find_row, rows
from anabranch.text.sentences import spans

ENOUGH = 0.7
"""Share of a claim's words and numbers that a sentence needs to support it by itself."""

RELATED = 0.35
"""Share that a writer's quote needs: the writer chose it, and may have put the claim in other words."""

TOUCHED = 0.2
"""Share that it needs where the passage around it has most of the claim: many quote no more than the point of it."""

_AROUND = 0.6

LONGEST = 400
"""Characters of a quote that is shown."""

_MAX_PIECES = 400
_SAME = 0.85
_PAIR_COSTS = 0.1

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage as the model saw it.

    Attributes:
        id: Id of its chunk.
        text: Its words.
        label: Title, heading and source: what it is about where it does not say so itself.
        names: Words known to be names; `verify` adds those of all passages.
    """

    id: str
    text: str
    label: str = ""
    names: frozenset[str] = frozenset()

    @property
    def ground(self) -> Ground:
        """What its claims are held against."""
        return Ground(self.text, self.label, self.names)


def is_possible(claim: str, passage: PassageText) -> bool:
    """Tell whether a passage can support a claim: it has its numbers and names, or its very words."""
    return possible(claim, passage.ground) or find_quote(claim, passage.text) is not None


def by_quote(claim: str, offered: Iterable[str], passage: PassageText) -> Span | None:
    """Return the span of the writer's quote that supports the claim best, of those that stand in the passage."""
    scaled = is_scaled(passage.text)
    least = TOUCHED if support(claim, passage.text, scaled=scaled) >= _AROUND else RELATED
    scores = [(support(claim, quote, scaled=scaled), -index, quote) for index, quote in enumerate(offered)]
    ranked = sorted(scores, reverse=True)
    for score, _, quote in ranked:
        if score < least:
            break
        span = _place(quote, passage.text, claim)
        if span and (shown := _shown(claim, passage, span)):
            return shown
    return None


@lru_cache(maxsize=1 << 10)
def _place(quote: str, passage: str, claim: str) -> Span | None:
    found = find_quote(quote, passage) or find_row(quote, passage)
    words = quote.split()
    if found or len(quote) > LONGEST or " ".join(words).strip(" .") != claim.strip(" ."):
        return found
    # A short sentence that was copied whole, "Yes we can.", is a quotation all the same.
    whole = re.search(r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)", passage)
    return whole.span() if whole else None


def mended(claim: str, offered: Iterable[str], passage: PassageText) -> Span | None:
    """Return the words of a cited passage that support the claim: itself, the best sentence, a misquoted one."""
    whole = find_quote(claim, passage.text)
    if whole:
        return _trimmed(claim, passage, whole)
    score, span = _best(claim, passage)
    if score >= ENOUGH:
        return span
    for quote in offered:
        if support(claim, quote) >= RELATED:
            likeness, span = nearest(quote, passage.text)
            if likeness >= _SAME and support(claim, passage.text[slice(*span)]) >= RELATED:
                shown = _shown(claim, passage, span)
                if shown:
                    return shown
    return None


def _shown(claim: str, passage: PassageText, span: Span) -> Span | None:
    """Return the part of a quote that is shown, or None where it says something else than the claim."""
    start, end = _trimmed(claim, passage, span)
    if find_quote(claim, passage.text):
        return start, end  # the claim is a quotation itself, perhaps longer than what is shown
    return (start, end) if agrees(claim, passage.text[start:end], passage.ground) else None


def anywhere(claim: str, passages: Mapping[int, PassageText]) -> tuple[int, Span] | None:
    """Return the passage that supports a claim best of all, and the span of its words; None where none does."""
    best = (0.0, 0, (0, 0))
    for number, passage in passages.items():
        if not is_possible(claim, passage):
            continue
        whole = find_quote(claim, passage.text)
        if whole:
            return number, _trimmed(claim, passage, whole)
        score, span = _best(claim, passage)
        if score > best[0]:
            best = (score, number, span)
    score, number, span = best
    return (number, span) if score >= ENOUGH else None


def _says_so(claim: str, words: str, passage: PassageText) -> bool:
    return agrees(claim, words, passage.ground) and not better_elsewhere(claim, words, passage.text)


def _best(claim: str, passage: PassageText) -> tuple[float, Span]:
    """Return the support of the sentence, or the two in a row, that supports the claim best, and its span."""
    best, place = 0.0, (0, 0)
    pieces, scaled = _pieces(passage.text), is_scaled(passage.text)
    for index, (start, end) in enumerate(pieces):
        after = pieces[index + 1][1] if index + 1 < len(pieces) else end
        for last, cost in ((end, 0.0), (after, _PAIR_COSTS)):
            if cost and not end < last <= start + LONGEST:
                continue
            words = passage.text[start:last]
            score = support(claim, words, scaled=scaled)
            if score >= ENOUGH and score - cost > best and _says_so(claim, words, passage):
                best, place = score - cost, (start, last)
    return best, place


@lru_cache(maxsize=256)
def _pieces(passage: str) -> tuple[Span, ...]:
    """Return the sentences of a passage without the blanks around them, a very long one in overlapping parts."""
    found: list[Span] = []
    for first, last in _with_rows(passage):
        piece = passage[first:last]
        found += _parts(passage, first + len(piece) - len(piece.lstrip()), first + len(piece.rstrip()))
        if len(found) >= _MAX_PIECES:
            break
    return tuple(found[:_MAX_PIECES])


def _with_rows(passage: str) -> Iterator[Span]:
    """Yield the sentences of a passage; a table, which has no stops, row by row."""
    cuts = {place for row in rows(passage) for place in (row.start, row.end)}
    for start, end in spans(passage):
        yield from pairwise([start, *sorted(place for place in cuts if start < place < end), end])


def _parts(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > LONGEST:
        cut = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
        yield start, cut if cut > 0 else start + LONGEST
        half = text.find(" ", start + LONGEST // 2, max(cut, 0))
        start = half + 1 if half > 0 else start + LONGEST // 2
    if end > start:
        yield start, end


def _trimmed(claim: str, passage: PassageText, span: Span) -> Span:
    """Cut a quote that is too long to show to the part of it that supports the claim best."""
    start, end = span
    if end - start <= LONGEST:
        return span
    first, last = _best(claim, replace(passage, text=passage.text[start:end]))[1]
    return (start + first, start + last) if last > first else (start, start + LONGEST)
