"""What a check makes of a claim: the checker of citations alone, or with a judge after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, get_args

from anabranch.citations.alignment import Grade
from anabranch.citations.passage_text import PassageText
from anabranch.citations.verification import verify
from evals.claims.claim_set import LabelledClaim

GRADES: tuple[Grade, ...] = get_args(Grade)
Verdict = Literal["entailed", "contradicted", "not said"]

Judge = Callable[[str, Sequence[str]], Verdict]
"""Says what follows from words of the passages (verbatim spans) about a claim."""


class GradedClaim(NamedTuple):
    """One claim that the checker found in a text, and the words of the passages that it shows for it."""

    grade: Grade
    spans: tuple[str, ...]


Checker = Callable[[str, Sequence[PassageText], str], Sequence[GradedClaim]]
"""Grades the claims of a text against the passages, as an answer to a question."""


def grades(claim: str, passages: Sequence[PassageText], question: str) -> list[GradedClaim]:
    """Return the grades of what a text claims; none where it claims nothing.

    The only place that knows how the checker is called.
    """
    checked = verify(claim, dict(enumerate(passages, start=1)), question)
    quotes = {record.claim: record.quote for record in checked.citations}
    return [GradedClaim(each.grade, (quotes[each.text],) if each.text in quotes else ()) for each in checked.claims]


def graded(row: LabelledClaim, checker: Checker = grades, judge: Judge | None = None) -> Grade:
    """Return the lowest grade of what a claim states; a judge can only take a grade away."""
    found = checker(row.claim, row.passages, row.question)
    if not found:
        return "unsupported"
    if judge and any(each.spans and judge(row.claim, each.spans) != "entailed" for each in found):
        return "unsupported"
    return max((each.grade for each in found), key=GRADES.index)
