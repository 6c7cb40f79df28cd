"""Chooses the weight of the two retrievers for one question, from the evidence in their scores.

Normalisation by minimum and maximum makes the best passage of every list worth 1, whether it answers the question or is
the least bad of nothing. Here each list keeps the span that it has on a scale of its own which no list can stretch:

- BM25 in words: a span of two words that no other passage holds counts as full evidence. A question whose words the
  corpus does not use, or uses everywhere, spans little.
- Cosine as the share of the way from the mean cosine of the corpus, where a passage is by chance, to 1. A list is
  trusted as far as its best passage stands out from the corpus more than the best of as many random ones would. An
  embedder that cannot read the language of the question finds all passages alike near, and none of them stands out.

docs/adr/0010-fusion.md tells how the two constants were calibrated, and what else was tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from anabranch.retrieval.fusion.score_normalization import finite
from anabranch.store.protocol import Background

RARE_WORDS = 2.0
"""Words of the question, in one passage and no other, that weigh as much as a cosine of 1."""

DISTRUST = 8
"""Power of the ratio between how far a best passage stands out and how far the best by chance would."""

_NOTHING_TO_CHOOSE = 0.5
_MOST = 1e6
# Among fewer, nothing stands out.
_FEW = 5


@dataclass(frozen=True, slots=True)
class QuestionEvidence:
    """A weight, and what it rests on.

    Attributes:
        alpha: Weight of the dense list against the BM25 list, both normalised by minimum and maximum; 0 to 1.
        words: Span of the BM25 list, in words that no other passage holds.
        nearness: Span of the dense list, as a share of the way from chance to a cosine of 1.
        prominence: How far the best cosine stands out, over how far the best of as many random ones would.
    """

    alpha: float
    words: float
    nearness: float
    prominence: float


def weigh(bm25: Sequence[float | None], cosines: Sequence[float | None], background: Background) -> QuestionEvidence:
    """Weigh the two retrievers for one question.

    With these weights and min-max normalisation, score(d) is proportional to trust x (cosine - mean) / (1 - mean) +
    BM25 / (2 x what BM25 gives for a word that one passage holds): theoretical instead of empirical bounds, as Bruch,
    Gai and Ingber (TOIS 2023) recommend, the one for BM25 known from its formula.

    Args:
        bm25: Scores of all candidates, 0 for what shares no term.
        cosines: Scores of all candidates; nothing needs to be in order.
        background: How the question relates to the corpus at large.

    Returns:
        The weight. One half where neither list can tell its passages apart.
    """
    words = _share(_span(bm25), background.rare)
    nearness = _share(_span(cosines), 1 - background.mean)
    prominence = _prominence(max(finite(cosines), default=0.0), background)
    # Capped at 1: standing out more than chance would is no reason to trust the list more than fully.
    lexical, semantic = words / RARE_WORDS, min(1.0, prominence) ** DISTRUST * nearness
    total = lexical + semantic
    return QuestionEvidence(semantic / total if total else _NOTHING_TO_CHOOSE, words, nearness, prominence)


def _span(scores: Sequence[float | None]) -> float:
    values = finite(scores)
    return max(values, default=0.0) - min(values, default=0.0)


def _share(span: float, whole: float) -> float:
    """Return a span in another unit; bounded, since a unit near 0 says nothing about anything."""
    return min(span / whole if whole > 0 else span, _MOST)


def _prominence(best: float, background: Background) -> float:
    """Return how far the best stands out, over the expected maximum of as many normal draws (Blom 1958)."""
    if background.passages < _FEW or background.deviation <= 0:
        return 1.0
    chance = NormalDist().inv_cdf((background.passages - 0.375) / (background.passages + 0.25))
    return min(max(0.0, (best - background.mean) / (background.deviation * chance)), _MOST)
