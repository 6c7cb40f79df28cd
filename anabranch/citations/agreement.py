"""Looks for what speaks against a span that has the words of a claim: a denial, or another word.

Nothing here knows what words mean. A rule asks only where things stand: whether a word is in the place of another one.
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
# Words in a row that are read as one put in the place of another.
_SWAPPED = 2

Title = tuple[str, ...]
"""A word between two others."""


@dataclass(frozen=True)
class ReadClaim:
    """A claim, taken apart by its question.

    Attributes:
        tokens: All its words.
        added: Those that say something which the question does not.
        repeated: Those of the question.
        is_reply: Whether a "Yes," or "No," stood before it, so that it is about all that was asked.
    """

    tokens: tuple[Token, ...]
    added: tuple[Token, ...]
    repeated: tuple[Token, ...]
    is_reply: bool = False


def same(item: Token, token: Token) -> bool:
    """Tell whether two words are one, in another form or as another spelling of the same number."""
    if item.number or token.number:
        return item.kind == token.kind and item.number == token.number
    if item.figure and token.figure:
        return has([token.figure], item.figure)
    return item.text == token.text or (bool(item.terms) and item.terms == token.terms)


def is_among(item: Token, read: Sequence[Token]) -> bool:
    """Tell whether some words have a word or a number, in whatever form."""
    return any(same(item, token) for token in read)


def denials(read: Sequence[Token], titles: frozenset[Title] = frozenset()) -> int:
    """Return how often something is denied; "No," before an answer is a reply, and the French "ne" is half of one.

    Args:
        read: The words.
        titles: From the question: what is denied in a title denies nothing of the answer.
    """
    reply = len(read) > 1 and read[1].opens
    return sum(
        token.kind == "negation" and token.text not in ("ne", "n") and _around(read, at) not in titles
        for at, token in enumerate(read)
        if at or not reply
    )


def denying_titles(asked: Sequence[Token]) -> frozenset[Title]:
    """Return each denial of a question that is part of a title, with the words around it: "A Man Without Love"."""
    return frozenset(
        _around(asked, at)
        for at, token in enumerate(asked[1:-1], start=1)
        if token.kind == "negation" and all(each.capital for each in asked[at - 1 : at + 2])
    )


def _around(read: Sequence[Token], at: int) -> Title:
    return tuple(token.text for token in read[max(at - 1, 0) : at + 2])


def shortest_run(said: ReadClaim, piece: Piece, language: str) -> list[Token]:
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
    # A denial stands before what it denies; one that is farther off is about something else.
    while first > 0 and not read[first].opens and read[first - 1].kind in ("function", "negation"):
        first -= 1
    # "Die Miete enthält Wasser und Strom nicht." A claim that denies needs its denial nearer.
    end = next((at for at in range(last + 1, len(read)) if read[at].opens), len(read))
    is_denied = read[end - 1].text == NOT.get(language) and not denials(said.tokens)
    return list(read[first : end if is_denied else last + 1])


def is_denied_before(piece: Piece, run: Sequence[Token], language: str) -> bool:
    """Tell whether a denial farther on in the clause reaches a run of a span: "There is no evidence that it works"."""
    at = next((index for index, token in enumerate(piece.tokens) if run and token is run[0]), 0)
    while at > 0 and not piece.tokens[at].opens and piece.tokens[at].text not in CONJUNCTIONS.get(language, ()):
        at -= 1
        if piece.tokens[at].kind == "negation":
            return True
    return False


def replaces(said: ReadClaim, piece: Piece) -> bool:
    """Tell whether a claim is a copy of a span with another word in the place of one of its words.

    Whether that word means the same no comparison of words can tell: "sank" for "rose", "tenant" for "landlord".
    """
    ours, theirs = _as_stems(said.tokens), _as_stems(piece.tokens)
    # Without `autojunk`, which leaves out what is frequent: in a long span that is every small word.
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


def opposed(said: Sequence[Token], there: Sequence[Token], language: str) -> bool:
    """Tell whether a claim has a small word whose opposite stands in its evidence instead: "before" for "after"."""
    ours, theirs = {token.text for token in said}, {token.text for token in there}
    for one, other in OPPOSITES.get(language, ()):
        # A side that has both words, "before and after", says neither.
        for mine, against in ((one, other), (other, one)):
            if ours & mine and not ours & against and theirs & against and not theirs & mine:
                return True
    return False
