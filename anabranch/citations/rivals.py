"""Tells whether a name or number of a claim was taken from the place of another one of its kind, its rival.

A rival is told by where it stands alone: nearer to the words of the question, or followed by one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from anabranch.citations.agreement import ReadClaim, same
from anabranch.citations.counted_numbers import counted_as
from anabranch.citations.passage_text import Piece
from anabranch.citations.tokens import Token

# How much nearer a rival has to be to the words around a name or number before it takes its place.
OUTDONE = 3.0
# Words that a comma or a stop counts as.
_ACROSS = 4
# Words that the end of a sentence counts as beside its stop.
_OTHER_SENTENCE = 8
# Words after a name or number that say what it is of.
_FOLLOWING = 3
# Names with a number each that make a list.
_LISTED = 2
_NO_LABEL = Piece(0, 0, ())


def outdone(
    said: ReadClaim, piece: Piece, asked: Sequence[Token], rarity: Mapping[str, float], about: Piece = _NO_LABEL
) -> bool:
    """Tell whether a rival of the same kind is nearer to the words around an item than the item itself.

    That gives a wrong name or number of the right sentence away: the words of the question stand by another one, or
    follow another one: "$4.2 billion in 2023 from $3.9 billion in 2022". `about` is what the passage is headed by.
    """
    if piece.rows:
        return False  # in a row distance says nothing: the column decides there
    read = piece.tokens
    question = frozenset(term for token in asked for term in token.terms)
    # Names and numbers of the claim are what is in doubt, so they vouch for nothing.
    context = question.union(*(token.terms for token in said.tokens if not token.is_hard))
    words = [(at, token) for at, token in enumerate(read) if not context.isdisjoint(token.terms)]
    for item in said.added if words else ():
        own = [at for at, token in enumerate(read) if same(item, token)]
        # A sentence that begins with what its passage is headed by is about that, however far from it a rival stands.
        if not own or all(map(about.has, read[: own[0] + 1])):
            continue
        rivals = [at for at in range(len(read)) if _is_rival(item, at, own, said, read, question)]
        if any(_copied(item, said.tokens, read, at) for at in own):
            # A neighbour that the rival has as well, such as what both count, tells nothing.
            rivals = [at for at in rivals if _copied(item, said.tokens, read, at)]
        best = max(_nearness(piece, words, rarity, at) for at in own)
        for rival in rivals:
            if any(_follows_rather(read, at, rival, asked) for at in own):
                continue
            if _nearness(piece, words, rarity, rival) > OUTDONE * best:
                return True
            if all(_follows_rather(read, rival, at, asked) for at in own):
                return True
    return False


def listed_as(said: ReadClaim, piece: Piece, asked: Sequence[Token]) -> Literal["own", "other", ""]:
    """Tell whose number a claim gives, in a sentence that lists names with a number each; empty where none does.

    "Ada paid 5 euros, Bo 7 euros and Cem 9": seven is not what Ada paid, nor what Cem did.
    """
    listed = {} if piece.rows else _listed(piece.tokens)
    named = {name for name in listed if any(name == token.text for token in (*said.tokens, *asked))}
    stated = [token for token in said.added if token.figure]
    owners = {name for name, number in listed.items() if any(same(token, number) for token in stated)}
    if not named or not owners:
        return ""
    return "other" if named.isdisjoint(owners) else "own"


def _listed(read: Sequence[Token]) -> dict[str, Token]:
    """Return the numbers of a list by their names; empty where names and numbers do not take turns alike."""
    places: list[int] = []
    for at, token in enumerate(read):
        is_name = token.capital and bool(token.terms)
        # The words of one name stand side by side.
        if token.figure or (is_name and not (places and places[-1] == at - 1 and read[at - 1].capital)):
            places.append(at)
    pairs = [(places[at], places[at + 1]) for at in range(0, len(places) - 1, 2)]
    between = [[token.text for token in read[one + 1 : other]] for one, other in pairs]
    if len(pairs) < _LISTED or len(places) % 2:
        return {}
    # The first pair may have the verb: "Ada paid 5 euros, Bo 7".
    if not all(word in rest for rest in map(iter, between) for word in between[-1]):
        return {}
    sorts = {(read[one].figure is None, read[other].figure is None) for one, other in pairs}
    if sorts == {(True, False)}:
        return {read[one].text: read[other] for one, other in pairs}
    return {read[other].text: read[one] for one, other in pairs} if sorts == {(False, True)} else {}


def _follows_rather(read: Sequence[Token], one: int, other: int, asked: Sequence[Token]) -> bool:
    """Tell whether a word of the question follows one item, where other words follow the other: "40 for students"."""
    here, there = _followers(read, one, other), _followers(read, other, one)
    while here and there and same(here[0], there[0]):  # what both count
        here, there = here[1:], there[1:]
    told = [any(same(token, word) for word in asked) for token in (*here[:1], *there)]
    return bool(here and there) and told[0] and not any(told[1:])


def _followers(read: Sequence[Token], at: int, until: int) -> list[Token]:
    """Return the content words after a place, up to a comma or another place; the rest of a name is passed."""
    kind, at = read[at].kind, at + 1
    while kind == "name" and at < len(read) and read[at].kind == kind and not read[at].opens:
        at += 1
    found: list[Token] = []
    while at < len(read) and at != until and not read[at].opens and len(found) < _FOLLOWING:
        if read[at].terms or read[at].figure or read[at].number:
            found.append(read[at])
        at += 1
    return found


def _is_rival(
    item: Token, at: int, own: Sequence[int], said: ReadClaim, read: Sequence[Token], question: frozenset[str]
) -> bool:
    """Tell whether a word is of a kind that a claim's word may have been taken for."""
    token = read[at]
    if not item.is_hard or token.kind != item.kind or same(item, token):
        return False
    if any(token.text == one.text for one in said.tokens) or not question.isdisjoint(token.terms):
        return False
    return counted_as(read, at) in {counted_as(read, index) for index in own}


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


def _nearness(piece: Piece, words: Sequence[tuple[int, Token]], rarity: Mapping[str, float], at: int) -> float:
    """Return how near a place is to some words: each stem counts by its rarity over the distance of the nearest."""
    best: dict[str, float] = {}
    read = piece.tokens
    for place, token in words:
        first, last = min(place, at), max(place, at)
        distance = last - first + _ACROSS * sum(other.opens for other in read[first + 1 : last + 1])
        distance += _OTHER_SENTENCE if first < piece.first <= last else 0
        for term in token.terms:
            best[term] = max(best.get(term, 0.0), rarity.get(term, rarity[""]) / (1 + distance))
    return sum(best.values())
