"""Chooses the weight of the two retrievers for one question, from how far the dense list stands out.

An embedder that cannot read the question finds many passages equally near, and min-max normalisation still gives the
best of them 1. So the dense list weighs as much as BM25's if its best passage stands out as far as by chance, and less
if it does not. BM25 needs no such measure: it finds nothing if no passage has the words.

Unless the question is in another language than the documents, and the embedder reads both: then names, numbers and
chance are all that BM25 finds. The share of the question's words that the documents have at all tells how far it can be
trusted.

Only the head of the dense list counts, so documents about other subjects do not change the weight.

docs/adr/0010-fusion.md lists what else was tried.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.retrieval.fusion.score_normalization import replace_non_finite

# Among fewer, nothing stands out.
_FEW = 5


@dataclass(frozen=True, slots=True)
class QuestionEvidence:
    """A weight and its reason.

    Attributes:
        alpha: Weight of the dense list against the BM25 list, both normalised by minimum and maximum; 0 to 1, and at
            most one half where the documents have all words of the question.
        trust: How far the best cosine stands out of the list, 0 to 1; 1 where it does as much as by chance or more.
        known: The share of the question's words that the documents have; None where it does not count.
    """

    alpha: float
    trust: float
    known: float | None = None


def weigh(found: Sequence[float | None], known: float | None = None) -> QuestionEvidence:
    """Weigh the two retrievers for one question.

    Args:
        found: Cosines of what the dense retriever found itself; they need not be in order.
        known: Share of the question's words that the documents have, 0 to 1, for an embedder that reads many languages;
            None for another one, which finds no more than BM25 in a language that is not that of the documents.
    """
    trust = _trust(sorted(replace_non_finite(found), reverse=True))
    # One list is weak evidence about an embedder, so take the geometric mean of its trust and 1.
    dense = math.sqrt(trust) / 2
    # The square, because a question in the documents' language has words that they lack, too.
    bm25 = (1 - dense) * (1.0 if known is None or not found else known**2)
    return QuestionEvidence(dense / (dense + bm25) if dense else 0.0, trust, known)


def _trust(near: Sequence[float]) -> float:
    """Return how far the best of a descending list stands out of it, over what chance gives; at most 1.

    The k highest of many draws from a distribution with an exponential tail span the mean excess over the k-th times
    1 + 1/2 + ... + 1/(k - 1) on average (Renyi 1953). An embedder that cannot read the question finds many passages
    alike near: its list begins flat, and spans less.
    """
    span = near[0] - near[-1] if len(near) >= _FEW else 0.0
    # Scores beyond any cosine, as a broken store may give them, have no end of the scale.
    if not 0 < span < math.inf:
        return 1.0
    excess = math.fsum((score - near[-1]) / span for score in near[:-1]) / (len(near) - 1)
    by_chance = math.fsum(1 / rank for rank in range(1, len(near)))
    return min(1.0, 1 / (excess * by_chance))
