"""Finds what speaks against a span that has the words of a claim: a denial, or another word.

The rules do not know what words mean. They compare positions: whether a word is in the place of another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from anabranch.citations.passage_text import Piece
from anabranch.citations.quantities import has
from anabranch.citations.tokens import Token
from anabranch.text.function_words import CONJUNCTIONS, NOT, OPPOSITES

# Share of a claim's words that a span has in their order where the claim is a copy of it.
_COPY = 0.6
# Most words in a row that count as one word in the place of another.
_SWAPPED = 2

Title = tuple[str, ...]
"""A word between two others."""


@dataclass(frozen=True)
class ReadClaim:
    """The words of a claim, compared with its question.

    Attributes:
        tokens: All its words.
        added: Content words that the question does not have.
        repeated: Content words of the question.
        is_reply: Whether it begins with "Yes," or "No,", so that it is about all of the question.
    """

    tokens: tuple[Token, ...]
    added: tuple[Token, ...]
    repeated: tuple[Token, ...]
    is_reply: bool = False


def is_same(item: Token, token: Token) -> bool:
    """Tell whether two words are the same, also in another form, or another spelling of a number."""
    if item.number or token.number:
        return item.kind == token.kind and item.number == token.number
    if item.figure and token.figure:
        return has([token.figure], item.figure)
    return item.text == token.text or (bool(item.terms) and item.terms == token.terms)


def is_among(item: Token, read: Sequence[Token]) -> bool:
    """Tell whether some words include a word or a number, in any form."""
    return any(is_same(item, token) for token in read)


def count_denials(read: Sequence[Token], titles: frozenset[Title] = frozenset()) -> int:
    """Return the number of denials; "No," before an answer is a reply, and the French "ne" is half a denial.

    Args:
        read: The words.
        titles: Titles in the question, whose denials deny nothing in the answer.
    """
    reply = len(read) > 1 and read[1].opens
    return sum(
        token.kind == "negation" and token.text not in ("ne", "n") and _join_neighbours(read, at) not in titles
        for at, token in enumerate(read)
        if at or not reply
    )


def find_denying_titles(asked: Sequence[Token]) -> frozenset[Title]:
    """Return each denial of a question that is part of a title, with the words around it: "A Man Without Love"."""
    return frozenset(
        _join_neighbours(asked, at)
        for at, token in enumerate(asked[1:-1], start=1)
        if token.kind == "negation" and all(each.capital for each in asked[at - 1 : at + 2])
    )


def _join_neighbours(read: Sequence[Token], at: int) -> Title:
    return tuple(token.text for token in read[max(at - 1, 0) : at + 2])


def shortest_run(claim: ReadClaim, piece: Piece, language: str) -> list[Token]:
    """Return the shortest run of a span with all words of the claim that it has, and the small words before it."""
    words, read = [*claim.added, *claim.repeated], piece.tokens
    held = [{index for index, item in enumerate(words) if is_same(item, token)} for token in read]
    wanted = set[int]().union(*held)
    best: tuple[int, int] | None = None
    first, inside = 0, Counter[int]()
    for last, found in enumerate(held):
        inside.update(found)
        while wanted and all(inside[index] > 0 for index in wanted):
            if best is None or last - first < best[1] - best[0]:
                best = first, last
            inside.subtract(held[first])
            first += 1
    if best is None:
        return []
    first, last = best
    # A denial stands right before what it denies.
    while first > 0 and not read[first].opens and read[first - 1].kind in ("function", "negation"):
        first -= 1
    # "Die Miete enthält Wasser und Strom nicht." A claim that denies needs its denial nearer.
    end = next((at for at in range(last + 1, len(read)) if read[at].opens), len(read))
    is_denied = read[end - 1].text == NOT.get(language) and not count_denials(claim.tokens)
    return list(read[first : end if is_denied else last + 1])


def is_denied_before(piece: Piece, run: Sequence[Token], language: str) -> bool:
    """Tell whether an earlier denial in the clause applies to a run of a span: "There is no evidence that it works"."""
    at = next((index for index, token in enumerate(piece.tokens) if run and token is run[0]), 0)
    while at > 0 and not piece.tokens[at].opens and piece.tokens[at].text not in CONJUNCTIONS.get(language, ()):
        at -= 1
        if piece.tokens[at].kind == "negation":
            return True
    return False


def has_replaced_word(claim: ReadClaim, piece: Piece) -> bool:
    """Tell whether a claim is a copy of a span with another word in the place of one of its words.

    No comparison of words can tell whether that word means the same: "sank" for "rose", "tenant" for "landlord".
    """
    ours, theirs = _list_stems(claim.tokens), _list_stems(piece.tokens)
    # Without `autojunk`, which would leave out frequent words.
    codes = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    if sum(i2 - i1 for tag, i1, i2, _, _ in codes if tag == "equal") < _COPY * len(ours):
        return False
    for tag, i1, i2, j1, j2 in codes:
        if tag == "replace" and i2 - i1 <= _SWAPPED and j2 - j1 <= _SWAPPED:
            there = piece.tokens[j1:j2]
            # Words of the question are context, unless the claim has no others.
            ours_there = [t for t in claim.tokens[i1:i2] if t in claim.added or not claim.added]
            mine = any(t.terms and not any(is_same(t, other) for other in there) for t in ours_there)
            other = any(t.terms and not any(is_same(t, one) for one in claim.tokens) for t in there)
            if mine and other:
                return True
    return False


def _list_stems(read: Sequence[Token]) -> list[str]:
    return [token.terms[0] if token.terms else token.text for token in read]


def has_opposite_word(claim: Sequence[Token], there: Sequence[Token], language: str) -> bool:
    """Tell whether the evidence has the opposite of a small word of the claim instead: "before" for "after"."""
    ours, theirs = {token.text for token in claim}, {token.text for token in there}
    for one, other in OPPOSITES.get(language, ()):
        # A side with both words, "before and after", does not count.
        for mine, against in ((one, other), (other, one)):
            if ours & mine and not ours & against and theirs & against and not theirs & mine:
                return True
    return False
