"""Checks the citations of an answer against their passages, repairs those that fail, and marks what nothing supports.

Quotes first (ALCE, Gao et al. 2023, asks for support of each sentence by what it cites): a quote has to stand in its
passage, word for word, and has to have words and the numbers of the claim. Then the passage itself, then all passages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anabranch.citations.claims import Claim, claims
from anabranch.citations.evidence_span import (
    OfferedQuote,
    PassageText,
    best_passage,
    quoted_span,
    repaired_span,
)
from anabranch.citations.markers import Cited, mark
from anabranch.safety.link_removal import strip_links

MAX_SEARCHED = 64
"""Claims that are looked for in all passages."""

MAX_REPAIRED = 512
"""Claims whose cited passages are read for a better quote; of those after, only the writer's quotes are checked."""

_MAX_QUOTES = 24

CHECKED = (
    "each quote stands in its passage and shares words with its claim, whose numbers in digits occur there; "
    "whether the claim follows from it, or the quote denies it or speaks of somebody else, was not checked"
)
"""What the program knows of a cited claim, for people: no more than this may be shown."""


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
    span: tuple[int, int]
    repaired: bool


def verify(
    answer: str, quotes: Mapping[int, Sequence[str]], passages: Mapping[int, PassageText], question: str = ""
) -> Verified:
    """Check every claim of an answer.

    Args:
        answer: What the model wrote, with [n] markers.
        quotes: By passage number, the words that the writer says it copied.
        passages: By the number that the model saw.
        question: What was asked; a heading that repeats a number of it claims nothing.

    Returns:
        The answer with its markers set anew, and the citations that hold. Never raises; the work is bounded.
    """
    answer = strip_links(answer)
    stated = claims(answer, question)
    offered = {
        number: [OfferedQuote(words, passage) for words in quotes.get(number, ())[:_MAX_QUOTES]]
        for number, passage in passages.items()
    }
    found = [
        _of_claim(claim, offered, passages, repairs=index < MAX_REPAIRED, searches=index < MAX_SEARCHED)
        for index, claim in enumerate(stated)
    ]
    cited = [Cited(claim, tuple(item.number for item in items)) for claim, items in zip(stated, found, strict=True)]
    text, order = mark(answer, cited)
    given = sum(len(claim.markers) for claim in stated)
    held = sum(len(set(item.claim.markers) & set(item.numbers)) for item in cited)
    supported = sum(bool(items) for items in found)
    return Verified(
        # Markers that went, or came, have other neighbours than the model gave them.
        answer=strip_links(text),
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
    offered: Mapping[int, Sequence[OfferedQuote]],
    passages: Mapping[int, PassageText],
    *,
    repairs: bool,
    searches: bool,
) -> list[_Found]:
    """Return the passages that support a claim: those cited, else the best of all."""
    found: list[_Found] = []
    for number in claim.markers:
        passage = passages.get(number)
        if passage is None:
            continue
        span = quoted_span(claim, offered[number], passage)
        if span:
            found.append(_Found(number, span, repaired=False))
        elif repairs and (span := repaired_span(claim, offered[number], passage)):
            found.append(_Found(number, span, repaired=True))
    if not found and searches and (best := best_passage(claim, passages)):
        found.append(_Found(*best, repaired=True))
    return found
