"""Tells whether the words that are to support a claim say the same of the same: numbers, names, direction, columns.

Shared words alone let through what is wrong in one place ("grew 12 %" for "grew 21 %"). Each check looks for a
contradiction and passes where it finds none, so that a claim in other words still holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from anabranch.citations.antonyms import opposed
from anabranch.citations.entity_mismatch import other_name, unknown_names
from anabranch.citations.lexical_support import meaning
from anabranch.citations.quantities import Figure, evidence, figures, is_scaled, numbers_hold, stated_figures
from anabranch.citations.table_cells import wrong_column
from anabranch.text.analyzer import analyser
from anabranch.text.sentences import spans

_CLAUSE = re.compile(
    r"(?:[;:]|,(?!\d))\s+|\s(?:and|but|while|whereas|although|though)\s|\sthan\s(?=(?:in|for|with|among|at|on)\b)",
    re.IGNORECASE,
)
_FEWEST = 3
_PAIRED = re.compile(r"\brespectively\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a claim is held against.

    Attributes:
        text: The passage.
        label: Its title, heading and source, which say what it is about.
        names: Words that are names, as the question and all passages write them.
    """

    text: str
    label: str = ""
    names: frozenset[str] = frozenset()


def possible(claim: str, ground: Ground) -> bool:
    """Tell whether a passage can support a claim at all: the claim's numbers and names are all in it or its label."""
    if not numbers_hold(claim, f"{ground.text}\n{ground.label}"):
        return False
    return not unknown_names(claim, ground.text, ground.label, ground.names)


def agrees(claim: str, quote: str, ground: Ground) -> bool:
    """Tell whether a quote contradicts a claim nowhere that can be seen.

    Args:
        claim: One statement of an answer, `possible` by this passage.
        quote: Words of the passage; its subject, or the head of its table, may stand before it.
        ground: The passage.
    """
    stated = stated_figures(claim)
    scaled = is_scaled(ground.text)
    # A sentence more must not excuse what the one that the claim is from says otherwise.
    return not any(
        _other_figure(stated, words, scaled=scaled)
        or _number_in_place(claim, stated, words, scaled=scaled)
        or _crossed(claim, stated, words)
        or _opposite(claim, words)
        or _swapped(claim, words, ground.text)
        or wrong_column(stated, claim, words, ground.text)
        or other_name(claim, words, ground.text, ground.label, ground.names)
        for words in {quote, _closest(claim, [quote[start:end].strip() for start, end in spans(quote)], quote)}
    )


def better_elsewhere(claim: str, quote: str, passage: str) -> bool:
    """Tell whether another sentence is more about the claim, and has another number than the claim's.

    Only for words that nobody quoted: a year of the mill is no proof of when the weir was built.
    """
    stated = stated_figures(claim)
    if not stated:
        return False
    about, mine = meaning(claim).words, len(meaning(claim).words & meaning(quote).words)
    for start, end in spans(passage):
        sentence = passage[start:end].strip()
        if sentence not in quote and len(about & meaning(sentence).words) > mine and _other_figure(stated, sentence):
            return True
    return False


def _other_figure(stated: Sequence[Figure], quote: str, *, scaled: bool = False) -> bool:
    """Tell whether a number of the claim is not in the quote, which has another one in its place."""
    there = evidence(quote)
    lacking = [figure for figure in stated if not any(figure.matches(other, scaled=scaled) for other in there)]
    kinds = {other.kind for other in _free(stated, quote, scaled=scaled)}
    return any(figure.kind in kinds for figure in lacking)


def _number_in_place(claim: str, stated: Sequence[Figure], quote: str, *, scaled: bool) -> bool:
    """Tell whether, where the two run alike, the quote has another number than the claim."""
    there = evidence(quote)
    lacking = {figure.bare for figure in stated if not any(figure.matches(other, scaled=scaled) for other in there)}
    if not lacking or "|" in quote:  # the cells of a row are in no sentence's order, see `wrong_column`
        return False
    mine, its = analyser().terms(claim), analyser().terms(quote)
    return any(
        tag == "replace" and lacking & set(mine[first:last]) and any(term[0].isdigit() for term in its[start:end])
        for tag, first, last, start, end in SequenceMatcher(None, mine, its, autojunk=False).get_opcodes()
        if last - first <= _FEWEST and end - start <= _FEWEST
    )


def _free(stated: Sequence[Figure], text: str, *, scaled: bool = False) -> list[Figure]:
    """Return the numbers of a text that the claim does not have."""
    return [other for other in figures(text) if not any(figure.matches(other, scaled=scaled) for figure in stated)]


def _crossed(claim: str, stated: Sequence[Figure], quote: str) -> bool:
    """Tell whether the claim takes a number from one clause or sentence of the quote and all the rest from another."""
    if not stated or _PAIRED.search(quote):
        return False
    about = meaning(claim).words
    sentences = [quote[start:end] for start, end in spans(quote)]
    return any(
        _taken(figure, stated, about, parts)
        for parts in (_clauses(quote), sentences)
        if len(parts) > 1
        for figure in stated
    )


def _taken(figure: Figure, stated: Sequence[Figure], about: frozenset[str], clauses: Sequence[str]) -> bool:
    having = [clause for clause in clauses if any(figure.matches(other) for other in evidence(clause))]
    rivals = [
        clause
        for clause in clauses
        if clause not in having and any(other.kind == figure.kind for other in _free(stated, clause))
    ]
    shared = max((len(about & meaning(clause).words) for clause in having if meaning(clause).words), default=-1)
    return shared >= 0 and any(len(about & meaning(clause).words) > shared for clause in rivals)


def _opposite(claim: str, quote: str) -> bool:
    """Tell whether the part of the quote that is about the claim says the opposite by its words, not by a negation."""
    clauses = _clauses(quote)
    if not opposed(claim, quote) and len(clauses) < 2:
        return False
    part = _closest(claim, clauses, quote)
    return opposed(claim, part) and meaning(claim).negates == meaning(part).negates


def _swapped(claim: str, quote: str, passage: str) -> bool:
    """Tell whether the claim puts one thing in the place of another that the passage keeps apart from it.

    "The landlord repairs the fence" for "the landlord repairs the roof; the tenant repairs the fence".
    """
    mine, its = analyser().terms(claim), analyser().terms(_closest(claim, _clauses(quote), quote))
    edits = [edit for edit in SequenceMatcher(None, mine, its, autojunk=False).get_opcodes() if edit[0] != "equal"]
    swaps = [edit for edit in edits if edit[0] == "replace" and edit[2] - edit[1] == edit[4] - edit[3] == 1]
    if len(swaps) != 1 or any(edit[0] == "delete" for edit in edits) or len(mine) < _FEWEST:
        return False
    word, other = mine[swaps[0][1]], its[swaps[0][3]]
    rest = set(mine) & set(its)
    return any(
        word in said and other not in said and said & rest
        for said in (set(analyser().terms(clause)) for clause in _clauses(passage))
    )


def _closest(claim: str, parts: Sequence[str], whole: str) -> str:
    """Return the part that shares clearly most with the claim, else the whole."""
    about = meaning(claim).terms
    ranked = sorted(((len(about & meaning(part).terms), part) for part in parts), reverse=True)
    return ranked[0][1] if len(ranked) > 1 and ranked[0][0] > ranked[1][0] else whole


def _clauses(quote: str) -> list[str]:
    return [clause for clause in _CLAUSE.split(quote) if clause.strip()]
