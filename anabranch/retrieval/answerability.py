"""Judges from retrieved scores alone whether there is evidence; may ask for a second search but refuses no question.

Two features complement each other: the best cosine of the question (a question on another subject has no near passage),
and how much of what the question asks about occurs together in one passage, weighted by how rare each word is. A
logistic model turns them into one confidence; `evals/calibration.md` has its weights and its quality on each
collection when fitted on the others. Neither feature separates well an unanswerable question on the corpus's own
topic from an answerable one; that is what `grade: llm` is for.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Verdict = Literal["enough", "thin", "nothing"]

# Embedders that the weights were fitted for; cosines of other models have another scale and are ignored.
CALIBRATED = frozenset({"onnx:all-MiniLM-L6-v2-int8-dynamic"})
BIAS = -4.64
# Log-odds that there is evidence: the best cosine, and the share of the question's words in one passage.
WEIGHTS: Mapping[str, float] = {"dense": 5.16, "covered": 4.37}
# The same without a cosine.
WORDS_BIAS, WORDS_WEIGHT = -3.37, 7.04
# From this confidence on, there is no second search.
SURE = 0.3
# Below this confidence, the answer says that the passages match weakly: an answer is unlikely.
WEAK = 0.5
# Idf of a term that the corpus does not hold: that of a very rare one.
RARE = 6.0
# Coverage of a question of stop words alone: neither for nor against.
WORDLESS = 0.5


@dataclass(frozen=True, slots=True)
class EvidenceJudgement:
    """Verdict with its reasons.

    Attributes:
        verdict: 'enough' to answer, 'thin' where another search may find more, 'nothing' where no passage was found.
        reasons: The reasons, for people.
        missing: The question's terms that no passage has.
        confidence: Probability that there is evidence, 0 to 1.
        covered: Share of the question's words in one passage, weighted by rarity.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    missing: tuple[str, ...]
    confidence: float = 0.0
    covered: float = 0.0


def term_coverage(
    terms: Sequence[str], found: Collection[str], idf: Mapping[str, float], light: Collection[str] = ()
) -> float:
    """Return the idf-weighted share of `terms` that occur in `found`, 1.0 where there are no terms to look for.

    Those that are `light` count only where they are found, unless there are no others.
    """
    needed = [term for term in terms if term in found or term not in light]
    terms = needed if any(term not in light for term in terms) else terms
    # In a small corpus no term is very rare, and an unknown one must not outweigh all others together.
    unknown = min(RARE, max((idf[term] for term in terms if term in idf), default=RARE))
    weights = {term: max(idf.get(term, unknown), 0.1) for term in terms}
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in found) / total if total else 1.0


def confidence(*, cosine: float | None, covered: float) -> float:
    """Return how likely it is that the passages hold an answer, 0 to 1, by logistic regression on the two features.

    Args:
        cosine: Best cosine between the question and a passage, by an embedder of `CALIBRATED`; None without one.
        covered: Share of the question's words in one passage, weighted by rarity.
    """
    if cosine is None:
        odds = WORDS_BIAS + WORDS_WEIGHT * covered
    else:
        odds = BIAS + WEIGHTS["dense"] * cosine + WEIGHTS["covered"] * covered
    return 1.0 / (1.0 + math.exp(-odds))


def judge(
    *,
    passages: Sequence[Collection[str]],
    cosine: float | None,
    terms: Sequence[str],
    idf: Mapping[str, float],
    light: Collection[str] = (),
) -> EvidenceJudgement:
    """Judge whether the passages can answer; those of the terms that are `light` may be missing."""
    anywhere = set().union(*passages, light)
    missing = tuple(dict.fromkeys(term for term in terms if term not in anywhere))
    if not passages:
        return EvidenceJudgement("nothing", ("no passage was found",), missing)
    # Words scattered over unrelated passages are no evidence; together in one passage they are.
    covered = max(term_coverage(terms, passage, idf, light) for passage in passages) if terms else WORDLESS
    said = [f"one passage holds {covered:.0%} of the question's words, weighted by rarity"] if terms else []
    if cosine is not None:
        said.append(f"closest passage: cosine {cosine:.2f}")
    sure = confidence(cosine=cosine, covered=covered)
    said.append(f"confidence {sure:.2f}")
    return EvidenceJudgement("enough" if sure >= SURE else "thin", tuple(said), missing, sure, covered)


def judge_either(alone: EvidenceJudgement, together: EvidenceJudgement) -> EvidenceJudgement:
    """Judge a question that may or may not continue the previous one.

    The evidence is that of the question alone or, if higher, the mean of both in log-odds: the previous question was
    answered, so its words alone are no evidence for this one.
    """
    odds = [math.log(each.confidence / (1 - each.confidence)) for each in (alone, together) if each.confidence]
    sure = 1.0 / (1.0 + math.exp(-sum(odds) / 2)) if len(odds) == 2 else 0.0
    if sure <= alone.confidence:
        return alone
    return replace(together, verdict="enough" if sure >= SURE else "thin", confidence=sure)
