"""Looks for numbers of a claim that stand for something else in a span: what they count, their unit, sign or period.

A rule asks only where a number stands, and beside which word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anabranch.citations.agreement import ReadClaim, is_among, same
from anabranch.citations.passage_text import Piece
from anabranch.citations.quantities import CURRENCIES, SCALES, has
from anabranch.citations.tokens import Token
from anabranch.text.function_words import CONJUNCTIONS, PERIODS

# Words after a number that may be its unit.
_UNIT_WITHIN = 3
# Units that stand for no word after a number: of kilograms or bytes there are many names.
_AMOUNTS = frozenset({*CURRENCIES.values(), "%", "°", "°C", "°F"})
_MONTHS = 12
_CENTURIES = ("17", "18", "19", "20")


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


def measures_else(said: ReadClaim, piece: Piece, units: Mapping[str, str]) -> bool:
    """Tell whether a number has a unit on one side and counts something on the other: "£125" for "125 squares"."""
    return (
        _counts_what_has_unit(said, piece, units)
        or (
            not piece.rows
            and any(  # what a cell counts stands elsewhere
                token.figure is not None
                and token.figure.unit
                and bool(own := [at for at, other in enumerate(piece.tokens) if other.figure and same(token, other)])
                and all(_counts_no(token.figure.unit, piece.tokens[at : at + 1 + _UNIT_WITHIN], units) for at in own)
                for token in said.added
            )
        )
    )


def _counts_what_has_unit(said: ReadClaim, piece: Piece, units: Mapping[str, str]) -> bool:
    """Tell whether a claim counts something by a number that is an amount in the span: "190 calories" for "190 °C"."""
    for at, token in enumerate(said.tokens):
        after = said.tokens[at + 1 : at + 1 + _UNIT_WITHIN]
        if token.figure is None or token.figure.unit or token not in said.added or not after:
            continue
        # A year, a scale and what stands behind a comma count nothing; "5 Canadian dollars" are an amount as well.
        if counted_as(said.tokens, at) in ("", "year") or after[0].text in SCALES:
            continue
        if after[0].figure or any(each.text in units for each in after):
            continue
        own = [place for place, other in enumerate(piece.tokens) if other.figure and same(token, other)]
        near = [other for place in own for other in piece.tokens[place + 1 : place + 1 + _UNIT_WITHIN]]
        amounts = [figure for place in own if (figure := piece.tokens[place].figure) and figure.unit in _AMOUNTS]
        if own and len(amounts) == len(own) and not is_among(after[0], near):
            return True
    return False


def signed_else(said: ReadClaim, piece: Piece) -> bool:
    """Tell whether a number has a minus on one side alone, and no word of the claim can say the same.

    "Growth was -2.5%" is not "Growth was 2.5%"; "sales fell by 2.5%" may well be said by it.
    """
    if any(token.terms and not token.figure and not piece.has(token) for token in said.added):
        return False
    return any(
        token.figure is not None
        and bool(own := [other for other in piece.figures if has([other], token.figure)])
        and all({other.sign, token.figure.sign} == {"-", ""} for other in own)
        for token in said.added
    )


def _counts_no(unit: str, read: Sequence[Token], units: Mapping[str, str]) -> bool:
    """Tell whether a number, the first of some words, counts what follows it and that is no such unit."""
    figure = read[0].figure
    counts = figure is not None and not figure.unit and counted_as(read, 0) not in ("", "year")
    # "5 Canadian dollars"
    return counts and all(units.get(token.text) != unit for token in read[1:])


def per_another_period(said: ReadClaim, piece: Piece, language: str) -> bool:
    """Tell whether a claim counts by another period than the span: "£1,250 a year" for "the monthly rent is £1,250"."""
    counted = any(token.figure and counted_as(said.tokens, at) != "year" for at, token in enumerate(said.tokens))
    ours, theirs = _periods(said.tokens, language), _periods(piece.tokens, language)
    return counted and bool(ours) and bool(theirs) and ours.isdisjoint(theirs)


def _periods(read: Sequence[Token], language: str) -> frozenset[int]:
    """Return which periods are named; one that a number stands before is a length of time: "18 months"."""
    known = PERIODS.get(language, ())
    free = {token.text for at, token in enumerate(read) if not at or not read[at - 1].figure}
    return frozenset(at for at, words in enumerate(known) if not words.isdisjoint(free))


def _miscounts(said: ReadClaim, at: int, word: Token, read: Sequence[Token]) -> bool:
    token = said.tokens[at]
    own = [index for index, other in enumerate(read) if other.figure and same(token, other)]
    if any(same(word, other) for index in own for other in _neighbours(read, index)):
        return False
    # Only a number of the same sort beside the word tells something: "March 2020" says nothing of "3 March".
    places = [index for index, other in enumerate(read) if same(word, other)]
    is_year = counted_as(said.tokens, at) == "year"
    numbered = any(
        other.figure and (counted_as(read, read.index(other)) == "year") == is_year
        for index in places
        for other in _neighbours(read, index)
    )
    # "Ada got 19 votes; Ian received 12": what both count is said once, and the verb before a number counts nothing.
    if own and not is_year and any(_counts_alike(said.tokens, at, read, index) for index in own):
        return False
    # Where the word is nowhere in the span, the number must at least count something else there.
    follows = word is (said.tokens[at + 1] if at + 1 < len(said.tokens) else None)
    counted = all(index + 1 < len(read) and read[index + 1].terms and not read[index + 1].opens for index in own)
    return numbered or (bool(own) and not places and follows and counted)


def _counts_alike(said: Sequence[Token], at: int, read: Sequence[Token], index: int) -> bool:
    """Tell whether two numbers count the same, in a span perhaps what an earlier number of its counts."""
    ours, theirs = counted_as(said, at), counted_as(read, index)
    figure = said[at].figure
    # An amount counts nothing: of many prices each has the same currency.
    if not ours or (figure and figure.unit):
        return False
    if theirs:
        return ours == theirs
    ends = index + 1 == len(read) or read[index + 1].opens
    return ends and any(counted_as(read, other) == ours for other in range(index))


def _neighbours(read: Sequence[Token], at: int) -> list[Token]:
    """Return the words and numbers next to a place, before and after, as far as no comma parts them."""
    before = read[at - 1 : at] if at and not read[at].opens else ()
    after = read[at + 1 : at + 2] if at + 1 < len(read) and not read[at + 1].opens else ()
    return [token for token in (*before, *after) if token.terms or token.figure or token.number]


def counted_as(read: Sequence[Token], at: int) -> str:
    """Return what a number counts: its unit, the word after it, or that it is a year; empty for anything else."""
    figure = read[at].figure
    if figure is None:
        return ""
    if not figure.unit and any(len(value) == 4 and value.startswith(_CENTURIES) for value in figure.values):
        return "year"
    after = read[at + 1] if at + 1 < len(read) else None
    return figure.unit or (after.terms[0] if after and after.terms and not after.opens else "")


def turns_round(said: ReadClaim, piece: Piece, language: str) -> bool:
    """Tell whether the ends of a range have changed places: "from November to March" for "from March to November"."""
    ours, theirs = _ranges(said.tokens, language), _ranges(piece.tokens, language)
    return any(
        any(same(first, end) and same(last, start) for start, end in theirs)
        and not any(same(first, start) and same(last, end) for start, end in theirs)
        for first, last in ours
        if not same(first, last)
    )


def _ranges(read: Sequence[Token], language: str) -> list[tuple[Token, Token]]:
    """Return numbers, months and weekdays that follow one another with only small words between, and no "and"."""
    found: list[tuple[Token, Token]] = []
    start: Token | None = None
    for token in read:
        is_end = token.kind in ("figure", "month", "weekday")
        if start and is_end and token.kind == start.kind and not token.opens:
            found.append((start, token))
        if is_end:
            start = token
        elif token.kind != "function" or token.opens or token.text in CONJUNCTIONS.get(language, ()):
            start = None
    return found


def lies_between(month: Token, read: Sequence[Token]) -> bool:
    """Tell whether a month lies between two that follow one another with no other words between: "1 May to 3 July"."""
    ends: list[Token] = []
    for token in read:
        if token.kind == "month" and month.kind == "month":
            ends.append(token)
        elif token.terms or token.opens or token.kind == "negation":
            ends = []
        if (
            len(ends) > 1
            and (month.number - ends[-2].number) % _MONTHS <= (ends[-1].number - ends[-2].number) % _MONTHS
        ):
            return True
    return False
