"""Describes an unconfirmed claim: which of its words are in no passage, and the nearest words of the passages."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.citations.passage_text import Piece
from anabranch.citations.tokens import Token
from anabranch.text.normalization import squeeze

LONGEST_NEAREST = 200
"""Most characters of the nearest words."""

MOST_NAMED = 3
"""Most words of a claim that a reason names."""

_LONGEST_WORD = 60


def describe_lack(nowhere: Sequence[str]) -> str:
    """Return a reason that names words which are in no passage; empty without such words."""
    named = [squeeze(word)[:_LONGEST_WORD] for word in nowhere]
    if len(named) < 2:
        return f"{named[0]} is in no passage" if named else ""
    return f"{', '.join(named[:-1])} and {named[-1]} are in no passage"


def cut_nearest(text: str, piece: Piece, words: Sequence[Token]) -> str:
    """Return the part of a sentence around the words of a claim, at most `LONGEST_NEAREST` characters."""
    start, end = piece.start, piece.end
    if end - start > LONGEST_NEAREST:
        places = [(each.start, each.end) for each in piece.tokens if each.is_content and _is_shared(each, words)]
        if places and max(places)[1] - start > LONGEST_NEAREST:
            start = min(min(places)[0], end - LONGEST_NEAREST)
        cut = text.rfind(" ", start, start + LONGEST_NEAREST + 1)
        end = min(end, cut if cut > start else start + LONGEST_NEAREST)
    return squeeze(text[start:end])[:LONGEST_NEAREST]


def _is_shared(token: Token, words: Sequence[Token]) -> bool:
    return any(token.text == each.text or (token.terms and token.terms == each.terms) for each in words)
