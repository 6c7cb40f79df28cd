"""What is known of a claim that no passage was matched to: what of it is in none, and the words that are nearest."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.citations.passage_text import Piece
from anabranch.citations.tokens import Token
from anabranch.text.normalization import squeeze

LONGEST_NEAREST = 200
"""Characters of the nearest words."""

MOST_NAMED = 3
"""Words of a claim that are named: a reason is read beside it."""

_LONGEST_WORD = 60


def lack_of(nowhere: Sequence[str]) -> str:
    """Return that some words are in no passage, as a person reads it; empty where there are none."""
    named = [squeeze(word)[:_LONGEST_WORD] for word in nowhere]
    if len(named) < 2:
        return f"{named[0]} is in no passage" if named else ""
    return f"{', '.join(named[:-1])} and {named[-1]} are in no passage"


def nearest_words(text: str, piece: Piece, said: Sequence[Token]) -> str:
    """Return the words of a sentence around those that a claim shares, `LONGEST_NEAREST` characters at most."""
    start, end = piece.start, piece.end
    if end - start > LONGEST_NEAREST:
        places = [(each.start, each.end) for each in piece.tokens if each.is_content and _is_shared(each, said)]
        if places and max(places)[1] - start > LONGEST_NEAREST:
            start = min(min(places)[0], end - LONGEST_NEAREST)
        cut = text.rfind(" ", start, start + LONGEST_NEAREST + 1)
        end = min(end, cut if cut > start else start + LONGEST_NEAREST)
    return squeeze(text[start:end])[:LONGEST_NEAREST]


def _is_shared(token: Token, said: Sequence[Token]) -> bool:
    return any(token.text == each.text or (token.terms and token.terms == each.terms) for each in said)
