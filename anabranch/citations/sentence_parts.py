"""Holds the parts of a sentence against each other: what one says of one thing is not said of another.

"The violin is covered worldwide; the watch is covered only in Spain." - a claim that the watch is covered worldwide has
all its words there, and is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from anabranch.citations.agreement import ReadClaim, is_among
from anabranch.citations.passage_text import Piece
from anabranch.citations.tokens import Token
from anabranch.text.function_words import BACK, CONJUNCTIONS, INTERROGATIVES, ONES

# Words of a short answer; its question says what they are of.
_BRIEF = 3
# Parts of a span that are compared with each other.
_MOST = 32


def parts_of(sentence: Piece, language: str) -> list[list[Token]]:
    """Return the words of each part of a sentence, or of two, between commas and conjunctions."""
    parts: list[list[Token]] = [[]]
    for token in sentence.tokens:
        joins = token.text in CONJUNCTIONS.get(language, ())
        if (joins or token.opens) and parts[-1]:
            parts.append([])
        if not joins:
            parts[-1].append(token)
    return [part for part in parts if part]


def front_of(part: Sequence[Token]) -> int:
    """Return the place of the first word of a part that says something; -1 where none does."""
    return next((at for at, token in enumerate(part) if token.is_content), -1)


def mixes_parts(said: ReadClaim, asked: Sequence[Token], piece: Piece, language: str) -> bool:
    """Tell whether a claim says of what one part of a span is about what another part says of something else.

    "The violin is covered worldwide; the watch is covered in Spain." does not hold "the watch is covered worldwide". A
    part that begins with a pronoun, or of which the claim says something, may go on about the same.
    """
    if piece.rows:
        return False
    parts = [part for part in parts_of(piece, language) if any(token.is_content for token in part)][:_MOST]
    is_short = len(said.tokens) <= 2 * _BRIEF and len(said.added) <= _BRIEF
    words = [*said.added, *said.repeated, *(asked if is_short else ())]
    return any(
        _takes_from(parts[other], parts[about], said, words, language, elides=about < other)
        for about, other in permutations(range(len(parts)), 2)
        # "It includes the pool and costs 24 euros": the second part may be about the same.
        if not other or parts[other][0].opens
    )


def _takes_from(
    other: Sequence[Token],
    about: Sequence[Token],
    said: ReadClaim,
    words: Sequence[Token],
    language: str,
    *,
    elides: bool,
) -> bool:
    """Tell whether a claim has the subject of one part, `about`, and of what else it could say of it what `other` says.

    Args:
        other: A part with a subject of its own, which the claim does not name.
        about: A part about the claim's subject, which says something that the claim does not say.
        said: The claim.
        words: Those of the claim, and of its question where it is short.
        language: Of the passage.
        elides: Whether `other` comes later, and may leave out what `about` has said.
    """
    own, theirs = _without(about, other), _without(other, about)
    # Two parts are held against each other where they speak of the same matter, or have a number each.
    is_shared = any(token.is_content and is_among(token, other) for token in about)
    if not is_shared and not all(any(token.figure for token in part) for part in (about, other)):
        return False
    subject, another = _subject(about, own, language), _subject(other, theirs, language)
    if not (subject and another) or not all(is_among(token, words) for token in subject):
        return False
    rest = _without(own, subject)
    used = [token for token in rest if is_among(token, words)]
    denied = _denies(about) and not _denies(said.tokens)
    taken = [token for token in _without(theirs, another) if is_among(token, said.added)]
    # What is left out is no number or name that both parts have one of.
    kinds = {token.kind for token in rest if token.is_hard and token not in used}
    is_elided = elides and not any(token.is_hard for token in used) and any(token.kind in kinds for token in taken)
    names_another = any(is_among(token, words) for token in another)
    return bool(taken) and (is_elided or not used) and (bool(rest) or denied) and not names_another


def _denies(read: Sequence[Token]) -> bool:
    return any(token.kind == "negation" for token in read)


def _without(part: Sequence[Token], other: Sequence[Token]) -> list[Token]:
    """Return the content words of a part that another one has not."""
    return [token for token in part if token.is_content and not is_among(token, other)]


def _subject(part: Sequence[Token], own: Sequence[Token], language: str) -> list[Token]:
    """Return the word or the name that a part begins with, if no other part has it."""
    at = front_of(part)
    # "It", "which": about what was named before.
    pronouns = BACK.get(language, (frozenset[str](),))[0] | INTERROGATIVES.get(language, frozenset())
    if any(token.text in pronouns for token in part[:at]):
        return []
    last = at
    while part[at].kind == "name" and last + 1 < len(part) and part[last + 1].kind == "name":
        last += 1
    front = list(part[at : last + 1])
    # A letter of a writing without blanks is no word, "between 1788 and 1794" has one part, and "the one" is no name.
    if len(front[0].text) == 1 or front[0].figure or front[0].number or front[0].text in ONES:
        return []
    return front if all(any(token is one for one in own) for token in front) else []
