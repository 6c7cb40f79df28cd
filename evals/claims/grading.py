"""What a check makes of a claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, get_args

from anabranch.citations.read_passages import PassageText
from anabranch.citations.verification import verify
from anabranch.types import Grade
from evals.claims.claim_set import LabelledClaim

GRADES: tuple[Grade, ...] = get_args(Grade)


class GradedClaim(NamedTuple):
    """One claim that the checker found in a text, and the words of the passages that it shows for it."""

    grade: Grade
    spans: tuple[str, ...]


Checker = Callable[[str, Sequence[PassageText], str], Sequence[GradedClaim]]
"""Grades the claims of a text against the passages, as an answer to a question."""


def by_check(claim: str, passages: Sequence[PassageText], question: str) -> list[GradedClaim]:
    """Return the grades of what a text claims; none where it claims nothing."""
    # The only place that knows how the checker is called.
    checked = verify(claim, dict(enumerate(passages, start=1)), question)
    quotes: dict[str, tuple[str, ...]] = {}
    for record in checked.citations:
        quotes[record.claim] = (*quotes.get(record.claim, ()), record.quote)
    return [GradedClaim(each.grade, quotes.get(each.text, ())) for each in checked.claims]


def graded(row: LabelledClaim, checker: Checker = by_check) -> Grade:
    """Return the lowest grade of what a claim states."""
    found = checker(row.claim, row.passages, row.question)
    return max((each.grade for each in found), key=GRADES.index, default="not_confirmed")
