"""Checks the citations of an answer against their passages, repairs those that fail, and marks what nothing supports.

Quotes first (ALCE, Gao et al. 2023, asks for support of each sentence by what it cites): a quote has to stand in its
passage, word for word, and has to do with the claim. Then the passage itself, then all passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from anabranch.claims import Claim, claims
from anabranch.corpus.sentences import spans
from anabranch.links import strip_links
from anabranch.marking import Cited, mark
from anabranch.quotes import find_quote, nearest
from anabranch.support import numbers_hold, support

ENOUGH = 0.5
"""Share of a claim's content words that a sentence needs to support it by itself."""

RELATED = 0.2
"""Share that a writer's quote needs: the writer chose it, and may have put the claim in other words."""

LONGEST = 400
"""Characters of a quote that is shown."""

MAX_SEARCHED = 64
"""Claims that are looked for in all passages."""

MAX_REPAIRED = 512
"""Claims whose cited passages are read for a better quote; of those after, only the writer's quotes are checked."""

_MAX_QUOTES = 24
_MAX_PIECES = 400
_SAME = 0.85
_PAIR_COSTS = 0.1

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage as the model saw it, and the id of its chunk."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class CitationRecord:
    """A verified citation.

    Attributes:
        marker: Its number in the answer, from 1.
        number: Number of the passage in the windows.
        chunk_id: Id of the passage.
        claim: The claim, without markers.
        quote: The characters [start, end) of the passage.
        start: Start of the quote in the passage.
        end: End of the quote in the passage.
        verified: Always true: what cannot be verified is not recorded.
        repaired: Whether the quote is ours, for want of one by the writer that holds.
    """

    marker: int
    number: int
    chunk_id: str
    claim: str
    quote: str
    start: int
    end: int
    verified: bool
    repaired: bool


@dataclass(frozen=True, slots=True)
class Verified:
    """An answer whose markers all stand for a verified citation.

    Attributes:
        answer: The answer with markers 1 to m by first use, and [?] after each unsupported claim.
        citations: One for each claim and passage, in the order of the answer.
        unsupported: Claims that nothing supports.
        claims: How many claims the answer makes.
        coverage: Supported claims over claims; 0 where there are none.
        precision: Citations by the writer that held over those given; 1 where there are none.
    """

    answer: str
    citations: tuple[CitationRecord, ...]
    unsupported: tuple[str, ...]
    claims: int
    coverage: float
    precision: float


@dataclass(frozen=True, slots=True)
class _Found:
    number: int
    span: Span
    repaired: bool


def verify(answer: str, quotes: Mapping[int, Sequence[str]], passages: Mapping[int, PassageText]) -> Verified:
    """Check every claim of an answer.

    Args:
        answer: What the model wrote, with [n] markers.
        quotes: By passage number, the words that the writer says it copied.
        passages: By the number that the model saw.

    Returns:
        The answer with its markers set anew, and the citations that hold. Never raises; the work is bounded.
    """
    answer = strip_links(answer)
    stated = claims(answer)
    found = [
        _of_claim(claim, quotes, passages, repairs=index < MAX_REPAIRED, searches=index < MAX_SEARCHED)
        for index, claim in enumerate(stated)
    ]
    cited = [Cited(claim, tuple(item.number for item in items)) for claim, items in zip(stated, found, strict=True)]
    text, order = mark(answer, cited)
    given = sum(len(claim.markers) for claim in stated)
    held = sum(len(set(item.claim.markers) & set(item.numbers)) for item in cited)
    supported = sum(bool(items) for items in found)
    return Verified(
        answer=text,
        citations=tuple(
            _record(claim, item, order[item.number], passages[item.number])
            for claim, items in zip(stated, found, strict=True)
            for item in items
        ),
        unsupported=tuple(claim.text for claim, items in zip(stated, found, strict=True) if not items),
        claims=len(stated),
        coverage=supported / len(stated) if stated else 0.0,
        precision=held / given if given else 1.0,
    )


def _record(claim: Claim, item: _Found, marker: int, passage: PassageText) -> CitationRecord:
    start, end = item.span
    return CitationRecord(
        marker=marker,
        number=item.number,
        chunk_id=passage.id,
        claim=claim.text,
        quote=passage.text[start:end],
        start=start,
        end=end,
        verified=True,
        repaired=item.repaired,
    )


def _of_claim(
    claim: Claim,
    quotes: Mapping[int, Sequence[str]],
    passages: Mapping[int, PassageText],
    *,
    repairs: bool,
    searches: bool,
) -> list[_Found]:
    """Return the passages that support a claim: those cited, else the best of all."""
    found: list[_Found] = []
    for number in claim.markers:
        passage = passages.get(number)
        if passage is None or not numbers_hold(claim.text, passage.text):
            continue
        offered = quotes.get(number, ())[:_MAX_QUOTES]
        span = _by_quote(claim.text, offered, passage.text)
        if span:
            found.append(_Found(number, span, repaired=False))
        elif repairs and (span := _mended(claim.text, offered, passage.text)):
            found.append(_Found(number, span, repaired=True))
    return found if found or not searches else _anywhere(claim.text, passages)


def _by_quote(claim: str, offered: Iterable[str], passage: str) -> Span | None:
    """Return the span of the writer's quote that supports the claim best, of those that stand in the passage."""
    ranked = sorted(((support(claim, quote), -index, quote) for index, quote in enumerate(offered)), reverse=True)
    for score, _, quote in ranked:
        if score < RELATED:
            break
        span = _place(quote, passage, claim)
        if span:
            return _trimmed(claim, passage, span)
    return None


@lru_cache(maxsize=1 << 10)
def _place(quote: str, passage: str, claim: str) -> Span | None:
    found = find_quote(quote, passage)
    words = quote.split()
    if found or len(quote) > LONGEST or " ".join(words).strip(" .") != claim.strip(" ."):
        return found
    # A short sentence that was copied whole, "Yes we can.", is a quotation all the same.
    whole = re.search(r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)", passage)
    return whole.span() if whole else None


def _mended(claim: str, offered: Iterable[str], passage: str) -> Span | None:
    """Return the words of a cited passage that support the claim: itself, the best sentence, a misquoted one."""
    whole = find_quote(claim, passage)
    if whole:
        return _trimmed(claim, passage, whole)
    score, span = _best(claim, passage)
    if score >= ENOUGH:
        return span
    for quote in offered:
        if support(claim, quote) >= RELATED:
            likeness, span = nearest(quote, passage)
            if likeness >= _SAME and support(claim, passage[slice(*span)]) >= RELATED:
                return _trimmed(claim, passage, span)
    return None


def _anywhere(claim: str, passages: Mapping[int, PassageText]) -> list[_Found]:
    best = (0.0, 0, (0, 0))
    for number, passage in passages.items():
        if not numbers_hold(claim, passage.text):
            continue
        whole = find_quote(claim, passage.text)
        if whole:
            return [_Found(number, _trimmed(claim, passage.text, whole), repaired=True)]
        score, span = _best(claim, passage.text)
        if score > best[0]:
            best = (score, number, span)
    score, number, span = best
    return [_Found(number, span, repaired=True)] if score >= ENOUGH else []


def _best(claim: str, passage: str) -> tuple[float, Span]:
    """Return the support of the sentence, or the two in a row, that supports the claim best, and its span."""
    best, place = 0.0, (0, 0)
    pieces = _pieces(passage)
    for index, (start, end) in enumerate(pieces):
        score = support(claim, passage[start:end])
        if score > best:
            best, place = score, (start, end)
        after = pieces[index + 1][1] if index + 1 < len(pieces) else end
        if end < after <= start + LONGEST:
            both = support(claim, passage[start:after])
            if both >= ENOUGH and both - _PAIR_COSTS > best:
                best, place = both - _PAIR_COSTS, (start, after)
    return best, place


@lru_cache(maxsize=256)
def _pieces(passage: str) -> tuple[Span, ...]:
    """Return the sentences of a passage without the blanks around them, a very long one in overlapping parts."""
    found: list[Span] = []
    for first, last in spans(passage):
        piece = passage[first:last]
        found += _parts(passage, first + len(piece) - len(piece.lstrip()), first + len(piece.rstrip()))
        if len(found) >= _MAX_PIECES:
            break
    return tuple(found[:_MAX_PIECES])


def _parts(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > LONGEST:
        cut = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
        yield start, cut if cut > 0 else start + LONGEST
        half = text.find(" ", start + LONGEST // 2, max(cut, 0))
        start = half + 1 if half > 0 else start + LONGEST // 2
    if end > start:
        yield start, end


def _trimmed(claim: str, passage: str, span: Span) -> Span:
    """Cut a quote that is too long to show to the part of it that supports the claim best."""
    start, end = span
    if end - start <= LONGEST:
        return span
    first, last = _best(claim, passage[start:end])[1]
    return (start + first, start + last) if last > first else (start, start + LONGEST)
