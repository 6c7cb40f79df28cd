"""Tells whether the passage says the claim's words of another subject.

"The kitchen has 12 square metres. The bathroom has 7." - a claim that the kitchen has 7 has all its words there, and is
wrong: the statement about the kitchen has another number. Statements are sentences, or parts of one: "Grey bins are
emptied on Mondays and green bins on Thursdays."
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from anabranch.citations.agreement import ReadClaim, is_among, is_same
from anabranch.citations.counted_numbers import find_counted
from anabranch.citations.passage_text import PassageText, Piece
from anabranch.citations.tokens import Token
from anabranch.text.function_words import CONJUNCTIONS

# Share of words in the same order with which two sentences count as parallel.
_ALIKE = 0.5
# Sentences before and after the one with the value that are compared.
_NEAR = 8


@dataclass(frozen=True)
class _Statement:
    """A sentence, or a part of it up to a semicolon, with its place among the statements of its passage."""

    at: int
    piece: Piece


def is_of_another(claim: ReadClaim, asked: Sequence[Token], passage: PassageText, piece: Piece) -> bool:
    """Tell whether a span says an added word of a claim of another subject than the claim's.

    Args:
        claim: The claim.
        asked: Its question.
        passage: The passage of the span.
        piece: The span: one sentence or two.
    """
    if piece.rows:
        return False  # in tables, the column and the row decide
    prose = (each for each in passage.statements if not each.rows)
    statements = [_Statement(at, each) for at, each in enumerate(prose)]
    return any(_stands_elsewhere(item, claim, asked, passage, piece, statements) for item in claim.added)


def _stands_elsewhere(
    item: Token,
    claim: ReadClaim,
    asked: Sequence[Token],
    passage: PassageText,
    span: Piece,
    statements: Sequence[_Statement],
) -> bool:
    """Tell whether each statement of a span that has an item says it of another subject."""
    holders = [one for one in statements if _overlap(one.piece, span) and one.piece.has(item)]
    value = _find_name(item, claim.tokens)
    stated = [token for token in (*claim.added, *claim.repeated) if not is_among(token, value)]
    words = [*stated, *(token for token in asked if token.is_content and not is_among(token, value))]
    return bool(holders) and all(
        _has_twin(item, words, passage, one, statements) or _is_of_other_part(item, stated, words, passage, one.piece)
        for one in holders
    )


def _find_name(item: Token, read: Sequence[Token]) -> list[Token]:
    """Return the words of the name that an item is part of, such as "Mrs. Lamb"; else the item alone."""
    at = next(index for index, token in enumerate(read) if token is item)
    first = last = at
    while first > 0 and item.kind == "name" and read[first - 1].capital:
        first -= 1
    while last + 1 < len(read) and item.kind == "name" and read[last + 1].capital:
        last += 1
    return list(read[first : last + 1])


def _overlap(one: Piece, span: Piece) -> bool:
    return one.start < span.end and span.start < one.end


def _has_twin(
    item: Token, words: Sequence[Token], passage: PassageText, holder: _Statement, statements: Sequence[_Statement]
) -> bool:
    """Tell whether another sentence says of the claim's subject what `holder` says of a subject of its own."""
    own = [word for word in words if holder.piece.has(word)]
    lacking = [word for word in words if not holder.piece.has(word) and not passage.about.has(word)]
    others = [token for token in holder.piece.tokens if token.is_content and not is_among(token, (*words, item))]
    # Without other words, the sentence is about an earlier subject: "She died in 1990." Without words of the claim,
    # nothing shows that two sentences are about the same matter.
    if not (own and lacking and others):
        return False
    before = statements[holder.at - 1] if holder.at else None
    for one in statements[max(0, holder.at - _NEAR) : holder.at + _NEAR]:
        if one is holder or one.piece.has(item) or not all(map(one.piece.has, own)):
            continue
        # A subject that the previous sentence names is also that of the holder, unless that is the other sentence.
        named = [word for word in lacking if one is before or before is None or not before.piece.has(word)]
        subject = [word for word in named if one.piece.has(word)]
        if subject and (_has_rival(item, words, one.piece, holder.piece) or _replaces(item, subject, one, holder)):
            return True
    return False


def _has_rival(item: Token, words: Sequence[Token], piece: Piece, holder: Piece) -> bool:
    """Tell whether a sentence has another number, name or date of the same kind."""
    if not item.is_hard:
        return False
    kinds = {find_counted(holder.tokens, at) for at, token in enumerate(holder.tokens) if is_same(token, item)}
    return any(
        token.kind == item.kind and not is_among(token, words) and find_counted(piece.tokens, at) in kinds
        for at, token in enumerate(piece.tokens)
    )


def _replaces(item: Token, subject: Sequence[Token], one: _Statement, holder: _Statement) -> bool:
    """Tell whether two sentences are parallel, and differ in the subject and in the item."""
    here, there = one.piece.tokens, holder.piece.tokens
    matcher = SequenceMatcher(None, [token.text for token in here], [token.text for token in there], autojunk=False)
    blocks = matcher.get_opcodes()
    alike = sum(i2 - i1 for tag, i1, i2, _, _ in blocks if tag == "equal")
    if alike < _ALIKE * min(len(here), len(there)):
        return False
    parted = list(_pair_replacements(blocks, here, there))
    of_subject = [at for at, (mine, theirs) in enumerate(parted) if theirs and any(is_among(t, subject) for t in mine)]
    of_item = [at for at, (mine, theirs) in enumerate(parted) if mine and any(is_same(t, item) for t in theirs)]
    return any(block != other for block in of_subject for other in of_item)


def _pair_replacements(
    blocks: Sequence[tuple[str, int, int, int, int]], here: Sequence[Token], there: Sequence[Token]
) -> Iterator[tuple[list[Token], list[Token]]]:
    for tag, i1, i2, j1, j2 in blocks:
        if tag == "replace":
            yield [t for t in here[i1:i2] if t.is_content], [t for t in there[j1:j2] if t.is_content]


def _is_of_other_part(
    item: Token, stated: Sequence[Token], words: Sequence[Token], passage: PassageText, sentence: Piece
) -> bool:
    """Tell whether another part of a sentence is about the claim's subject, and has a value of its own.

    A later part may leave out words of an earlier one: "on Mondays and green bins on Thursdays". So it is enough that
    subject and value are in the same order in both.
    """
    parts = _split_parts(sentence, passage.language)
    places = [(of, at) for of, part in enumerate(parts) for at, token in enumerate(part) if is_same(token, item)]
    # A claim in other words may still say the same.
    copied = all(map(sentence.has, stated))
    return bool(places) and all(
        any(
            _is_rather(_Pair(other, parts[of], at, words, copied), elided=of < place)
            for place, other in enumerate(parts)
            if place != of
        )
        for of, at in places
    )


@dataclass(frozen=True)
class _Pair:
    """Two parts of a sentence, one of which has a value of the claim.

    Attributes:
        other: The part that may be about the claim's subject.
        part: The part that has the value.
        at: The place of the value in it.
        words: The words of the claim and its question.
        copied: Whether all words of the claim are in the sentence.
    """

    other: Sequence[Token]
    part: Sequence[Token]
    at: int
    words: Sequence[Token]
    copied: bool


def _is_rather(pair: _Pair, *, elided: bool) -> bool:
    """Tell whether `other` is about the claim's subject, and `part` about another."""
    item, value = pair.part[pair.at], _find_value(pair.part, pair.at)
    if any(is_same(token, item) for token in pair.other):
        return False
    # Words of the claim that only this part has tie its value to the claim, unless the later part may leave them out.
    if not elided and any(
        is_among(token, pair.words) and not is_among(token, pair.other) for token in pair.part if token.is_content
    ):
        return False
    rivals = [at for at, token in enumerate(pair.other) if _is_like(token, item) and not is_among(token, pair.words)]
    theirs = _find_content(pair.other, pair.part, lambda token: is_among(token, pair.words))
    own = _find_content(pair.part, pair.other, lambda token: not is_among(token, pair.words))
    if not item.is_hard:
        # For plain words, only the first word of a part is its subject.
        theirs, own = theirs[:1], own[:1]
        fronts = [_find_front(pair.other), _find_front(pair.part)]
        if [at for at, _ in (*theirs, *own)] != fronts:
            return False
    return any(
        (subject < rival) == (mine < pair.at) and (pair.copied or (token.is_hard and token.kind == word.kind))
        for rival in rivals
        for subject, word in theirs
        for mine, token in own
        if subject != rival and mine not in value
    )


def _find_content(
    part: Sequence[Token], other: Sequence[Token], wanted: Callable[[Token], bool]
) -> list[tuple[int, Token]]:
    """Return the content words of one part that the other lacks, with their places."""
    return [
        (at, token)
        for at, token in enumerate(part)
        if token.is_content and wanted(token) and not is_among(token, other)
    ]


def _find_value(part: Sequence[Token], at: int) -> range:
    """Return the places of the value that a word is part of: a date, a name of several words."""
    first = last = at
    while first > 0 and part[first - 1].is_hard:
        first -= 1
    while last + 1 < len(part) and part[last + 1].is_hard:
        last += 1
    return range(first, last + 1)


def _is_like(token: Token, item: Token) -> bool:
    """Tell whether a word can be a value of the same sort as another one."""
    # In scripts without blanks, a token is one letter and no word.
    if token.kind != item.kind or (item.kind == "word" and len(item.text) == 1):
        return False
    return not token.figure or not item.figure or _is_year(token) == _is_year(item)


def _is_year(token: Token) -> bool:
    return find_counted((token,), 0) == "year"


def _split_parts(sentence: Piece, language: str) -> list[list[Token]]:
    """Return the words of each part of a sentence, or of two, between commas and conjunctions."""
    parts: list[list[Token]] = [[]]
    for token in sentence.tokens:
        joins = token.text in CONJUNCTIONS.get(language, ())
        if (joins or token.opens) and parts[-1]:
            parts.append([])
        if not joins:
            parts[-1].append(token)
    return [part for part in parts if part]


def _find_front(part: Sequence[Token]) -> int:
    """Return the place of the first word of a part that says something; -1 where none does."""
    return next((at for at, token in enumerate(part) if token.is_content), -1)
