"""Finds numbers of a claim that mean something else in a span: what they count, their unit, sign or period.

The rules compare only the place of a number, and the words next to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anabranch.citations.agreement import ReadClaim, is_among, is_same
from anabranch.citations.passage_text import Piece
from anabranch.citations.quantities import CURRENCIES, SCALES, has
from anabranch.citations.tokens import Token
from anabranch.text.function_words import CONJUNCTIONS, PERIODS

# How many words after a number may be its unit.
_UNIT_WITHIN = 3
# Units that no word after a number may mean: kilograms or bytes have many names.
_AMOUNTS = frozenset({*CURRENCIES.values(), "%", "°", "°C", "°F"})
_MONTHS = 12
_CENTURIES = ("17", "18", "19", "20")


def counts_something_else(claim: ReadClaim, piece: Piece) -> bool:
    """Tell whether a number is next to a word of the claim that is next to another number in the span.

    "Within five weeks" is not "within five days", and "3 March" is not "1 March ... three years".
    """
    if piece.rows:
        return False  # in tables, the column decides
    return any(
        _miscounts(claim, at, word, piece.tokens)
        for at, token in enumerate(claim.tokens)
        if token.figure and token in claim.added
        for word in _list_neighbours(claim.tokens, at)
    )


def measures_something_else(claim: ReadClaim, piece: Piece, units: Mapping[str, str]) -> bool:
    """Tell whether a number has a unit on one side and counts something on the other: "£125" for "125 squares"."""
    return _counts_what_has_unit(claim, piece, units) or (
        not piece.rows
        and any(
            token.figure is not None
            and token.figure.unit
            and bool(own := [at for at, other in enumerate(piece.tokens) if other.figure and is_same(token, other)])
            and all(_counts_no(token.figure.unit, piece.tokens[at : at + 1 + _UNIT_WITHIN], units) for at in own)
            for token in claim.added
        )
    )


def _counts_what_has_unit(claim: ReadClaim, piece: Piece, units: Mapping[str, str]) -> bool:
    """Tell whether a claim counts something by a number that is an amount in the span: "190 calories" for "190 °C"."""
    for at, token in enumerate(claim.tokens):
        after = claim.tokens[at + 1 : at + 1 + _UNIT_WITHIN]
        if token.figure is None or token.figure.unit or token not in claim.added or not after:
            continue
        # Years and scales count nothing, nor do numbers before a comma; "5 Canadian dollars" are an amount as well.
        if find_counted(claim.tokens, at) in ("", "year") or after[0].text in SCALES:
            continue
        if after[0].figure or any(each.text in units for each in after):
            continue
        own = [place for place, other in enumerate(piece.tokens) if other.figure and is_same(token, other)]
        near = [other for place in own for other in piece.tokens[place + 1 : place + 1 + _UNIT_WITHIN]]
        amounts = [figure for place in own if (figure := piece.tokens[place].figure) and figure.unit in _AMOUNTS]
        if own and len(amounts) == len(own) and not is_among(after[0], near):
            return True
    return False


def has_another_sign(claim: ReadClaim, piece: Piece) -> bool:
    """Tell whether only one side of a number has a minus, and the claim has no other word that may mean it.

    "Growth was -2.5%" is not "Growth was 2.5%", but it may be "sales fell by 2.5%".
    """
    if any(token.terms and not token.figure and not piece.has(token) for token in claim.added):
        return False
    return any(
        token.figure is not None
        and bool(own := [other for other in piece.figures if has([other], token.figure)])
        and all({other.sign, token.figure.sign} == {"-", ""} for other in own)
        for token in claim.added
    )


def _counts_no(unit: str, read: Sequence[Token], units: Mapping[str, str]) -> bool:
    """Tell whether a number, the first of some words, counts something that is not this unit."""
    figure = read[0].figure
    counts = figure is not None and not figure.unit and find_counted(read, 0) not in ("", "year")
    # "5 Canadian dollars"
    return counts and all(units.get(token.text) != unit for token in read[1:])


def counts_by_another_period(claim: ReadClaim, piece: Piece, language: str) -> bool:
    """Tell whether a claim counts by another period than the span: "£1,250 a year" for "the monthly rent is £1,250"."""
    counted = any(token.figure and find_counted(claim.tokens, at) != "year" for at, token in enumerate(claim.tokens))
    ours, theirs = _find_periods(claim.tokens, language), _find_periods(piece.tokens, language)
    return counted and bool(ours) and bool(theirs) and ours.isdisjoint(theirs)


def _find_periods(read: Sequence[Token], language: str) -> frozenset[int]:
    """Return the named periods; after a number, a period is a length of time: "18 months"."""
    known = PERIODS.get(language, ())
    free = {token.text for at, token in enumerate(read) if not at or not read[at - 1].figure}
    return frozenset(at for at, words in enumerate(known) if not words.isdisjoint(free))


def _miscounts(claim: ReadClaim, at: int, word: Token, read: Sequence[Token]) -> bool:
    token = claim.tokens[at]
    own = [index for index, other in enumerate(read) if other.figure and is_same(token, other)]
    if any(is_same(word, other) for index in own for other in _list_neighbours(read, index)):
        return False
    # Only a number of the same sort next to the word counts: "March 2020" does not contradict "3 March".
    places = [index for index, other in enumerate(read) if is_same(word, other)]
    is_year = find_counted(claim.tokens, at) == "year"
    numbered = any(
        other.figure and (find_counted(read, read.index(other)) == "year") == is_year
        for index in places
        for other in _list_neighbours(read, index)
    )
    # "Ada got 19 votes; Ian received 12": both count votes, and the verb before a number is not counted.
    if own and not is_year and any(_counts_alike(claim.tokens, at, read, index) for index in own):
        return False
    # If the span lacks the word, the number must at least count something else there.
    follows = word is (claim.tokens[at + 1] if at + 1 < len(claim.tokens) else None)
    counted = all(index + 1 < len(read) and read[index + 1].terms and not read[index + 1].opens for index in own)
    return numbered or (bool(own) and not places and follows and counted)


def _counts_alike(claim: Sequence[Token], at: int, read: Sequence[Token], index: int) -> bool:
    """Tell whether two numbers count the same; in a span, perhaps what an earlier number counts."""
    ours, theirs = find_counted(claim, at), find_counted(read, index)
    figure = claim[at].figure
    # An amount counts nothing: many prices have the same currency.
    if not ours or (figure and figure.unit):
        return False
    if theirs:
        return ours == theirs
    ends = index + 1 == len(read) or read[index + 1].opens
    return ends and any(find_counted(read, other) == ours for other in range(index))


def _list_neighbours(read: Sequence[Token], at: int) -> list[Token]:
    """Return the words and numbers before and after a place, unless a comma separates them."""
    before = read[at - 1 : at] if at and not read[at].opens else ()
    after = read[at + 1 : at + 2] if at + 1 < len(read) and not read[at + 1].opens else ()
    return [token for token in (*before, *after) if token.terms or token.figure or token.number]


def find_counted(read: Sequence[Token], at: int) -> str:
    """Return what a number counts: its unit, the word after it, or that it is a year; empty for anything else."""
    figure = read[at].figure
    if figure is None:
        return ""
    if not figure.unit and any(len(value) == 4 and value.startswith(_CENTURIES) for value in figure.values):
        return "year"
    after = read[at + 1] if at + 1 < len(read) else None
    return figure.unit or (after.terms[0] if after and after.terms and not after.opens else "")


def swaps_range(claim: ReadClaim, piece: Piece, language: str) -> bool:
    """Tell whether the ends of a range are swapped: "from November to March" for "from March to November"."""
    ours, theirs = _find_ranges(claim.tokens, language), _find_ranges(piece.tokens, language)
    return any(
        any(is_same(first, end) and is_same(last, start) for start, end in theirs)
        and not any(is_same(first, start) and is_same(last, end) for start, end in theirs)
        for first, last in ours
        if not is_same(first, last)
    )


def _find_ranges(read: Sequence[Token], language: str) -> list[tuple[Token, Token]]:
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
    """Tell whether a month lies in a range of months without other words in it: "1 May to 3 July"."""
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
