"""Tells whether a claim has a name or number where another one of its kind, a rival, belongs.

A rival is recognised by its place alone: nearer to the words of the question, or followed by one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from anabranch.citations.agreement import ReadClaim, is_same
from anabranch.citations.counted_numbers import find_counted
from anabranch.citations.passage_text import Piece
from anabranch.citations.tokens import Token

# How many times nearer a rival must be.
OUTDONE = 3.0
# A comma or a stop counts as so many words.
_ACROSS = 4
# The end of a sentence counts as so many words more.
_OTHER_SENTENCE = 8
# How many words after a name or number may say what it belongs to.
_FOLLOWING = 3
# Least number of names with a number that make a list.
_LISTED = 2
_NO_LABEL = Piece(0, 0, ())


def has_nearer_rival(
    claim: ReadClaim, piece: Piece, asked: Sequence[Token], rarity: Mapping[str, float], about: Piece = _NO_LABEL
) -> bool:
    """Tell whether a rival of the same kind is nearer to the words around an item than the item itself.

    That reveals a wrong name or number from the right sentence: the words of the question are near another one, or
    follow it: "$4.2 billion in 2023 from $3.9 billion in 2022". `about` is the passage's label.
    """
    if piece.rows:
        return False  # in tables, the column decides
    read = piece.tokens
    question = frozenset(term for token in asked for term in token.terms)
    # Without the claim's names and numbers, which are in doubt.
    context = question.union(*(token.terms for token in claim.tokens if not token.is_hard))
    words = [(at, token) for at, token in enumerate(read) if not context.isdisjoint(token.terms)]
    for item in claim.added if words else ():
        own = [at for at, token in enumerate(read) if is_same(item, token)]
        # A sentence that begins with its passage's heading is about that, however near a rival is.
        if not own or all(map(about.has, read[: own[0] + 1])):
            continue
        rivals = [at for at in range(len(read)) if _is_rival(item, at, own, claim, read, question)]
        if any(_has_common_neighbour(item, claim.tokens, read, at) for at in own):
            # A neighbour that the rival has too, such as what both count, does not count.
            rivals = [at for at in rivals if _has_common_neighbour(item, claim.tokens, read, at)]
        best = max(_measure_nearness(piece, words, rarity, at) for at in own)
        for rival in rivals:
            if any(_follows_rather(read, at, rival, asked) for at in own):
                continue
            if _measure_nearness(piece, words, rarity, rival) > OUTDONE * best:
                return True
            if all(_follows_rather(read, rival, at, asked) for at in own):
                return True
    return False


def find_list_owner(claim: ReadClaim, piece: Piece, asked: Sequence[Token]) -> Literal["own", "other", ""]:
    """Tell whose number a claim has, in a sentence that lists names with a number each; empty without such a list.

    In "Ada paid 5 euros, Bo 7 euros and Cem 9", seven belongs to Bo alone.
    """
    listed = {} if piece.rows else _read_list(piece.tokens)
    named = {name for name in listed if any(name == token.text for token in (*claim.tokens, *asked))}
    stated = [token for token in claim.added if token.figure]
    owners = {name for name, number in listed.items() if any(is_same(token, number) for token in stated)}
    if not named or not owners:
        return ""
    return "other" if named.isdisjoint(owners) else "own"


def _read_list(read: Sequence[Token]) -> dict[str, Token]:
    """Return the numbers of a list by name; empty if names and numbers do not alternate."""
    places: list[int] = []
    for at, token in enumerate(read):
        is_name = token.capital and bool(token.terms)
        # Adjacent words with capitals are one name.
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
    """Tell whether a word of the question follows only the first of two items: "40 for students"."""
    here, there = _list_followers(read, one, other), _list_followers(read, other, one)
    while here and there and is_same(here[0], there[0]):  # what both count
        here, there = here[1:], there[1:]
    told = [any(is_same(token, word) for word in asked) for token in (*here[:1], *there)]
    return bool(here and there) and told[0] and not any(told[1:])


def _list_followers(read: Sequence[Token], at: int, until: int) -> list[Token]:
    """Return the content words after a place, up to a comma or another place; the rest of a name is skipped."""
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
    item: Token, at: int, own: Sequence[int], claim: ReadClaim, read: Sequence[Token], question: frozenset[str]
) -> bool:
    """Tell whether a word may be the right one in the place of a claim's word."""
    token = read[at]
    if not item.is_hard or token.kind != item.kind or is_same(item, token):
        return False
    if any(token.text == one.text for one in claim.tokens) or not question.isdisjoint(token.terms):
        return False
    return find_counted(read, at) in {find_counted(read, index) for index in own}


def is_anchored(claim: ReadClaim, piece: Piece) -> bool:
    """Tell whether each name and number that a claim adds is next to the same word in a span."""
    hard = [item for item in claim.added if item.is_hard]
    return bool(hard) and all(
        any(
            _has_common_neighbour(item, claim.tokens, piece.tokens, at)
            for at, token in enumerate(piece.tokens)
            if is_same(item, token)
        )
        for item in hard
    )


def _has_common_neighbour(item: Token, claim: Sequence[Token], read: Sequence[Token], at: int) -> bool:
    """Tell whether a word has the same neighbour in the claim and in the span; words of its kind are skipped."""
    here = next(index for index, token in enumerate(claim) if token is item)
    for step in (-1, 1):
        one, other = _find_next(claim, here, step), _find_next(read, at, step)
        if one and other and is_same(one, other):
            return True
    return False


def _find_next(read: Sequence[Token], at: int, step: int) -> Token | None:
    kind, at = read[at].kind, at + step
    while 0 <= at < len(read) and (read[at].kind == kind or not (read[at].terms or read[at].figure)):
        at += step
    return read[at] if 0 <= at < len(read) else None


def _measure_nearness(piece: Piece, words: Sequence[tuple[int, Token]], rarity: Mapping[str, float], at: int) -> float:
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
