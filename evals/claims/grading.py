"""What a check makes of a claim: words alone, or words and then the similarity of sentences, as the program has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, get_args

from anabranch.citations.passage_text import PassageText
from anabranch.citations.similarity import add_similar
from anabranch.citations.verification import Attribution, attribute
from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder
from anabranch.types import Grade
from evals.claims.claim_set import LabelledClaim

GRADES: tuple[Grade, ...] = get_args(Grade)


class GradedClaim(NamedTuple):
    """One claim that the checker found in a text, and the words of the passages that it shows for it."""

    grade: Grade
    spans: tuple[str, ...]


Checker = Callable[[str, Sequence[PassageText], str], Sequence[GradedClaim]]
"""Grades the claims of a text against the passages, as an answer to a question."""


def by_words(claim: str, passages: Sequence[PassageText], question: str) -> list[GradedClaim]:
    """Return the grades of what a text claims, by its words alone; none where it claims nothing."""
    return _grades(_attributed(claim, passages, question))


def by_similarity(claim: str, passages: Sequence[PassageText], question: str) -> list[GradedClaim]:
    """Return the grades that the program gives: by words, and where these are others, by similarity."""
    return _grades(add_similar(_attributed(claim, passages, question), load_embedder(DEFAULT_EMBEDDER)))


CHECKERS: Mapping[str, Checker] = MappingProxyType({"lexical": by_words, "and similarity": by_similarity})
"""The checks that are compared, by name; the last is the program's."""


def _attributed(claim: str, passages: Sequence[PassageText], question: str) -> Attribution:
    """The only place that knows how the checker is called."""
    return attribute(claim, dict(enumerate(passages, start=1)), question)


def _grades(found: Attribution) -> list[GradedClaim]:
    checked = found.set_markers()
    quotes = {record.claim: record.quote for record in checked.citations}
    return [GradedClaim(each.grade, (quotes[each.text],) if each.text in quotes else ()) for each in checked.claims]


def graded(row: LabelledClaim, checker: Checker = by_similarity) -> Grade:
    """Return the lowest grade of what a claim states."""
    found = checker(row.claim, row.passages, row.question)
    return max((each.grade for each in found), key=GRADES.index, default="not_confirmed")
