"""Tells whether a claim gives one name what a list says of another: "Ada Stern (chair), Bo Ost (treasurer)".

What stands in brackets directly behind a name belongs to that name, and in "Ada Stern, chair; Bo Ost, treasurer" what
stands behind its comma.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from anabranch.citations.agreement import ReadClaim, same
from anabranch.citations.passage_text import Piece
from anabranch.citations.tokens import Token
from anabranch.text.function_words import CONJUNCTIONS

_BRACKETS = re.compile(r"\s\([^()\n]{1,80}\)")
_LABEL = re.compile(r"[*_ ]{0,4}:")
# Words of a role behind a comma.
_ROLE = 4
# Parts of a sentence that make a list.
_LISTED = 2

_Words = Sequence[Token]
_Owned = tuple[_Words, _Words]


def gives_to_another(said: ReadClaim, asked: Sequence[Token], text: str, piece: Piece, language: str) -> bool:
    """Tell whether a claim gives what a span says of one name to another name of the span.

    Args:
        said: The claim; where it has no name of the span, or nothing that is said of one, its question may.
        asked: The question.
        text: Of the passage.
        piece: The span: one sentence or two.
        language: Of the passage.
    """
    if piece.rows:
        return False
    owned = [
        *_listed(list(_in_brackets(text, piece, language)), piece, language),
        *_behind_commas(text, piece, language),
    ]
    names = _names(text, piece.tokens, owned, language) if owned else []
    roles = [_only(role, [owner, *names, *(each for _, each in owned if each is not role)]) for owner, role in owned]
    events = _events(said.tokens, names, roles) if names else []
    # "Who is the treasurer?" - "Bo Ost"
    kinds = {is_role for is_role, _ in events}
    events = [*(each for each in _events(asked, names, roles) if each[0] not in kinds), *events]
    owner_of = [next((at for at, name in enumerate(names) if name is owner), -1) for owner, _ in owned]
    named = {at for is_role, at in events if not is_role}
    given = [at for is_role, at in events if is_role]
    if not named or not given:
        return False
    if len(events) % 2 == 0 and all(one[0] is not other[0] for one, other in pairwise(events)):
        # Names and roles take turns, each name with its own.
        pairs = [sorted(events[at : at + 2]) for at in range(0, len(events), 2)]
        return any(owner_of[role] != name for (_, name), (_, role) in pairs)
    return any(owner_of[at] not in named for at in given)


def _listed(owned: list[_Owned], piece: Piece, language: str) -> list[_Owned]:
    """Return names with their brackets if they are a list: "born in Bremen (Germany) in 1850" is none."""
    small = CONJUNCTIONS.get(language, ())
    between = [
        token
        for (_, role), (owner, _) in pairwise(owned)
        for token in piece.tokens
        if role[-1].end < token.start < owner[0].start
    ]
    return owned if len(owned) >= _LISTED and all(token.text in small for token in between) else []


def _in_brackets(text: str, piece: Piece, language: str) -> Iterator[_Owned]:
    """Yield each name with brackets behind it, and the words in them; "(HT)" is the name once more."""
    for match in _BRACKETS.finditer(text, piece.start, piece.end):
        before = [token for token in piece.tokens if token.end <= match.start()]
        inside = [token for token in piece.tokens if match.start() < token.start < match.end()]
        if before and before[-1].end == match.start() and (owner := _name_at_end(before, language)) and inside:
            is_short_form = inside[0].kind == "code" and inside[0].text.isalpha() and len(inside) == 1
            if not is_short_form:
                yield owner, inside


def _behind_commas(text: str, piece: Piece, language: str) -> list[_Owned]:
    """Return each name with the words behind its comma, where a sentence lists several between semicolons."""
    if ";" not in text[piece.start : piece.end]:
        return []
    found: list[_Owned] = []
    for _, part in groupby(piece.tokens, lambda token: text.count(";", piece.start, token.start)):
        read = [token for token in part if not _LABEL.match(text, token.end)]
        at = next((at for at, token in enumerate(read) if at and token.opens), 0)
        owner, role = read[:at], read[at:]
        is_list = all(_is_name(token, language) for token in owner) and len(role) <= _ROLE
        if owner and is_list and text[owner[-1].end : role[0].start] == ", ":
            found.append((owner, role))
    return found if len(found) >= _LISTED else []


def _is_name(token: Token, language: str) -> bool:
    return token.capital and bool(token.terms) and (token.kind == "name" or language != "german")


def _name_at_end(read: Sequence[Token], language: str) -> _Words:
    first = len(read)
    while first and _is_name(read[first - 1], language):
        first -= 1
        if read[first].opens:
            break
    return read[first:]


def _names(text: str, read: Sequence[Token], owned: Sequence[_Owned], language: str) -> list[_Words]:
    """Return the names of a span, those that own something as they are; what ends in a colon is none."""
    owners = [owner for owner, _ in owned]
    taken = {token.start for pair in owned for run in pair for token in run}
    found: list[list[Token]] = []
    goes_on = False
    for token in read:
        is_name = _is_name(token, language) and token.kind == "name" and token.start not in taken
        is_name = is_name and not _LABEL.match(text, token.end)
        if is_name and goes_on and not token.opens:
            found[-1].append(token)
        elif is_name:
            found.append([token])
        goes_on = is_name
    return [*owners, *found]


def _only(run: _Words, others: Sequence[_Words]) -> list[Token]:
    """Return the content words of a run that no other one has."""
    words = [token for token in run if token.terms or token.figure or token.number]
    return [token for token in words if not any(same(token, other) for each in others for other in each)]


def _events(read: Sequence[Token], names: Sequence[_Words], roles: Sequence[_Words]) -> list[tuple[bool, int]]:
    """Return which names and roles some words speak of, in their order, as (is a role, its place)."""
    own = [_only(name, [other for other in names if other is not name]) or list(name) for name in names]
    found: list[tuple[bool, int]] = []
    for token in read:
        for is_role, runs in ((False, own), (True, roles)):
            at = next((at for at, run in enumerate(runs) if any(same(token, word) for word in run)), -1)
            # "They were present" names no "Present".
            if at >= 0 and (is_role or token.capital) and (is_role, at) not in found[-1:]:
                found.append((is_role, at))
    return found
