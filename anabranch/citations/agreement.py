"""Looks for what speaks against a span that has the words of a claim: another number, name, date, or a denial.

Nothing here knows what words mean. A rule asks only where things stand: what a number stands beside, whether a word is
in the place of another one, which of two names is nearer to the words of the question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from anabranch.citations.passage_text import Piece
from anabranch.citations.quantities import has
from anabranch.citations.tokens import Token

OUTDONE = 3.0
"""How much nearer a rival has to be to the words around a name or number before it takes its place."""

_ACROSS = 4
"""Words that a comma or a stop counts as."""

_COPY = 0.6
"""Share of a claim's words that a span has in their order where the claim is a copy of it."""

_SWAPPED = 2
"""Words in a row that are read as one put in the place of another."""

_CENTURIES = ("17", "18", "19", "20")


@dataclass(frozen=True)
class ReadClaim:
    """A claim, taken apart by its question.

    Attributes:
        tokens: All its words.
        added: Those that say something which the question does not.
        repeated: Those of the question.
    """

    tokens: tuple[Token, ...]
    added: tuple[Token, ...]
    repeated: tuple[Token, ...]


def same(item: Token, token: Token) -> bool:
    """Tell whether two words are one, in another form or as another spelling of the same number."""
    if item.number or token.number:
        return item.kind == token.kind and item.number == token.number
    if item.figure and token.figure:
        return has([token.figure], item.figure)
    return item.text == token.text or (bool(item.terms) and item.terms == token.terms)


def counts_else(said: ReadClaim, piece: Piece) -> bool:
    """Tell whether a number stands beside another word than in the span, where that word stands beside another number.

    "Within five weeks" is not "within five days", and "3 March" is not "1 March ... three years".
    """
    if piece.rows:
        return False  # the column decides there
    return any(
        _miscounts(said, at, word, piece.tokens)
        for at, token in enumerate(said.tokens)
        if token.figure and token in said.added
        for word in _neighbours(said.tokens, at)
    )


def _miscounts(said: ReadClaim, at: int, word: Token, read: Sequence[Token]) -> bool:
    token = said.tokens[at]
    own = [index for index, other in enumerate(read) if other.figure and same(token, other)]
    if any(same(word, other) for index in own for other in _neighbours(read, index)):
        return False
    places = [index for index, other in enumerate(read) if same(word, other)]
    is_year = _counted_as(said.tokens, at) == "year"
    numbered = any(
        other.figure and (_counted_as(read, read.index(other)) == "year") == is_year
        for index in places
        for other in _neighbours(read, index)
    )
    follows = word is (said.tokens[at + 1] if at + 1 < len(said.tokens) else None)
    counted = all(index + 1 < len(read) and read[index + 1].terms and not read[index + 1].opens for index in own)
    return numbered or (bool(own) and not places and follows and counted)


def _neighbours(read: Sequence[Token], at: int) -> list[Token]:
    """Return the words and numbers next to a place, before and after, as far as no comma parts them."""
    before = read[at - 1 : at] if at and not read[at].opens else ()
    after = read[at + 1 : at + 2] if at + 1 < len(read) and not read[at + 1].opens else ()
    return [token for token in (*before, *after) if token.terms or token.figure or token.number]


def _counted_as(read: Sequence[Token], at: int) -> str:
    """Return what a number counts: its unit, the word after it, or that it is a year; empty for anything else."""
    figure = read[at].figure
    if figure is None:
        return ""
    if not figure.unit and any(len(value) == 4 and value.startswith(_CENTURIES) for value in figure.values):
        return "year"
    after = read[at + 1] if at + 1 < len(read) else None
    return figure.unit or (after.terms[0] if after and after.terms and not after.opens else "")


def denials(read: Sequence[Token]) -> int:
    """Return how often something is denied; "No," before an answer is a reply, and the French "ne" is half of one."""
    reply = len(read) > 1 and read[1].opens
    return sum(token.kind == "negation" and token.text not in ("ne", "n") for token in read[1 if reply else 0 :])


def shortest_run(said: ReadClaim, piece: Piece) -> list[Token]:
    """Return the shortest run of a span that has all that it has of a claim, with the small words before it."""
    words, read = [*said.added, *said.repeated], piece.tokens
    held = [{index for index, item in enumerate(words) if same(item, token)} for token in read]
    wanted = set[int]().union(*held)
    best: tuple[int, int] | None = None
    first, inside = 0, Counter[int]()
    for last, found in enumerate(held):
        inside.update(found)
        while wanted and len(+inside) == len(wanted):
            if best is None or last - first < best[1] - best[0]:
                best = first, last
            inside.subtract(held[first])
            first += 1
    if best is None:
        return []
    first, last = best
    while first > 0 and not read[first].opens and read[first - 1].kind in ("function", "negation"):
        first -= 1
    return list(read[first : last + 1])


def replaces(said: ReadClaim, piece: Piece) -> bool:
    """Tell whether a claim is a copy of a span with another word in the place of one of its words.

    Whether that word means the same no comparison of words can tell: "sank" for "rose", "tenant" for "landlord".
    """
    ours, theirs = _as_stems(said.tokens), _as_stems(piece.tokens)
    codes = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    if sum(i2 - i1 for tag, i1, i2, _, _ in codes if tag == "equal") < _COPY * len(ours):
        return False
    for tag, i1, i2, j1, j2 in codes:
        if tag == "replace" and i2 - i1 <= _SWAPPED and j2 - j1 <= _SWAPPED:
            there = piece.tokens[j1:j2]
            # A word of the question is context, unless the claim says nothing else.
            ours_there = [t for t in said.tokens[i1:i2] if t in said.added or not said.added]
            mine = any(t.terms and not any(same(t, other) for other in there) for t in ours_there)
            other = any(t.terms and not any(same(t, one) for one in said.tokens) for t in there)
            if mine and other:
                return True
    return False


def _as_stems(read: Sequence[Token]) -> list[str]:
    return [token.terms[0] if token.terms else token.text for token in read]


def outdone(said: ReadClaim, piece: Piece, question: frozenset[str], rarity: Mapping[str, float]) -> bool:
    """Tell whether a rival of the same kind is nearer to the words around an item than the item itself.

    That gives a wrong name or number of the right sentence away: the words of the question stand by another one.

    Args:
        said: The claim.
        piece: The span.
        question: Stems of the question.
        rarity: How rare each stem is; "" for one that is nowhere.
    """
    if piece.rows:
        return False
    read = piece.tokens
    context = question.union(*(token.terms for token in said.tokens if not token.is_hard))
    words = [(at, token) for at, token in enumerate(read) if not context.isdisjoint(token.terms)]
    for item in said.added if words else ():
        own = [at for at, token in enumerate(read) if same(item, token)]
        if not own or any(_copied(item, said.tokens, read, at) for at in own):
            continue
        rivals = [at for at in range(len(read)) if _is_rival(item, at, own, said, read, question)]
        best = max(_nearness(read, words, rarity, at) for at in own)
        if any(_nearness(read, words, rarity, at) > OUTDONE * best for at in rivals):
            return True
    return False


def _is_rival(
    item: Token, at: int, own: Sequence[int], said: ReadClaim, read: Sequence[Token], question: frozenset[str]
) -> bool:
    """Tell whether a word is of a kind that a claim's word may have been taken for."""
    token = read[at]
    if not item.is_hard or token.kind != item.kind or same(item, token):
        return False
    if any(token.text == one.text for one in said.tokens) or not question.isdisjoint(token.terms):
        return False
    return _counted_as(read, at) in {_counted_as(read, index) for index in own}


def is_anchored(said: ReadClaim, piece: Piece) -> bool:
    """Tell whether each name and number that a claim adds stands beside the same word in a span."""
    hard = [item for item in said.added if item.is_hard]
    return bool(hard) and all(
        any(_copied(item, said.tokens, piece.tokens, at) for at, token in enumerate(piece.tokens) if same(item, token))
        for item in hard
    )


def _copied(item: Token, said: Sequence[Token], read: Sequence[Token], at: int) -> bool:
    """Tell whether a word has a neighbour in the claim that it has in the span too; words of its kind are passed."""
    here = next(index for index, token in enumerate(said) if token is item)
    for step in (-1, 1):
        one, other = _next_to(said, here, step), _next_to(read, at, step)
        if one and other and same(one, other):
            return True
    return False


def _next_to(read: Sequence[Token], at: int, step: int) -> Token | None:
    kind, at = read[at].kind, at + step
    while 0 <= at < len(read) and (read[at].kind == kind or not (read[at].terms or read[at].figure)):
        at += step
    return read[at] if 0 <= at < len(read) else None


def _nearness(read: Sequence[Token], words: Sequence[tuple[int, Token]], rarity: Mapping[str, float], at: int) -> float:
    """Return how near a place is to some words: each stem counts by its rarity over the distance of the nearest."""
    best: dict[str, float] = {}
    for place, token in words:
        first, last = min(place, at), max(place, at)
        distance = last - first + _ACROSS * sum(other.opens for other in read[first + 1 : last + 1])
        for term in token.terms:
            best[term] = max(best.get(term, 0.0), rarity.get(term, rarity[""]) / (1 + distance))
    return sum(best.values())
