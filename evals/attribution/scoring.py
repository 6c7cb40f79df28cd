"""What the check, and baselines that read less, make of a claim and its evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from anabranch.citations.read_passages import PassageText
from anabranch.citations.verification import verify
from anabranch_evaluation.answer_quality import auc
from evals.attribution.benchmarks import AttributedClaim

_WORD = re.compile(r"\w+")

Scorer = Callable[[AttributedClaim], tuple[float, bool]]
"""Scores a claim, higher for better supported, and says whether it is accepted."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A claim with its label, and the best that came of it over all of its evidence."""

    set: str
    is_supported: bool
    score: float
    accepted: bool


def by_check(claim: AttributedClaim) -> tuple[float, bool]:
    """Return the mean share of words over what a text claims; accepted is a text all of whose claims have evidence."""
    checked = verify(claim.claim, {1: PassageText("evidence", claim.evidence)}, claim.question)
    score = sum(each.score for each in checked.claims) / len(checked.claims) if checked.claims else 0.0
    return score, bool(checked.claims) and not checked.not_confirmed


def by_shared_words(claim: AttributedClaim) -> tuple[float, bool]:
    """Return the share of its words that its evidence has."""
    said, there = (set(_WORD.findall(text.casefold())) for text in (claim.claim, claim.evidence))
    share = len(said & there) / len(said) if said else 0.0
    return share, share >= _SHARED


def by_claim_alone(claim: AttributedClaim) -> tuple[float, bool]:
    """Return how short it is, without a look at the evidence: what a set gives away by itself."""
    words = len(_WORD.findall(claim.claim))
    return -float(words), words <= _SHORT


# As a careless reader would set them; the AUC, which needs none, is what compares.
_SHARED, _SHORT = 0.8, 15

CHECK = "Anabranch"
SCORERS: Mapping[str, Scorer] = MappingProxyType(
    {CHECK: by_check, "shared words": by_shared_words, "length of the claim alone": by_claim_alone}
)


def scored(claims: Iterable[AttributedClaim], scorer: Scorer) -> dict[str, Scored]:
    """Score claims, each by the evidence that supports it best, by their ids."""
    best: dict[str, Scored] = {}
    for claim in claims:
        score, accepted = scorer(claim)
        before = best.get(claim.id)
        if before is not None:
            score, accepted = max(score, before.score), accepted or before.accepted
        best[claim.id] = Scored(claim.set, claim.is_supported, score, accepted)
    return best


def by_others(claims: Iterable[AttributedClaim], scores: Mapping[str, float], threshold: float) -> dict[str, Scored]:
    """Return what others made of those claims that they have a score for; accepted is what is above a threshold."""
    return {
        each.id: Scored(each.set, each.is_supported, scores[each.id], scores[each.id] > threshold)
        for each in claims
        if each.id in scores
    }


def area(found: Sequence[Scored]) -> float | None:
    """Return how often a supported claim has a higher score than another; None without both."""
    return auc(
        [each.score for each in found if each.is_supported], [each.score for each in found if not each.is_supported]
    )


def balanced_accuracy(found: Sequence[Scored]) -> float | None:
    """Return the mean of the shares of both kinds that are dealt with as they should be; None without both."""
    shares = []
    for wanted in (True, False):
        own = [each.accepted is wanted for each in found if each.is_supported is wanted]
        if not own:
            return None
        shares.append(sum(own) / len(own))
    return sum(shares) / 2
