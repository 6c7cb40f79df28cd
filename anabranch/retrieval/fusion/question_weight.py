"""Chooses the weight of the two retrievers for one question, from the evidence in their scores.

Normalisation by minimum and maximum makes the best passage of every list worth 1, whether it answers the question or is
the least bad of nothing. Here each list keeps the span that it has on a scale of its own which no list can stretch:

- BM25 in words: a span of one and a half words that no other passage holds counts as full evidence. A question whose
  words the corpus does not use, or uses everywhere, spans little.
- Cosine as the share of the way from the last passage that the dense retriever found to 1, for embedders differ in
  where their cosines lie. The list is trusted as far as its best passage stands out from the rest of it.

Everything is read off the head of the two lists. So documents about something else, which are in neither list, do not
change the weight: the folder of one subject and the same folder beside others are searched alike.

docs/adr/0010-fusion.md tells how the constant was chosen, and what else was tried.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.retrieval.fusion.score_normalization import finite

# Words of the question, in one passage and no other, that weigh as much as the way from the last cosine to 1.
RARE_WORDS = 1.5
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
        nearness: Span of the dense list, as a share of the way from the last passage that was found to a cosine of 1.
        trust: How far the best cosine stands out of the list, 0 to 1; 1 where it does as much as by chance or more.
    """

    alpha: float
    words: float
    nearness: float
    trust: float


def weigh(
    bm25: Sequence[float | None], cosines: Sequence[float | None], *, found: Sequence[float | None], rare: float
) -> QuestionEvidence:
    """Weigh the two retrievers for one question.

    With these weights and min-max normalisation, score(d) is proportional to trust x cosine / (1 - last cosine) +
    BM25 / (1.5 x what BM25 gives for a word that one passage holds): theoretical instead of empirical bounds, as Bruch,
    Gai and Ingber (TOIS 2023) recommend, the one for BM25 known from its formula.

    Args:
        bm25: Scores of all candidates, 0 for what shares no term.
        cosines: Scores of all candidates; nothing needs to be in order.
        found: Those of the candidates that the dense retriever found itself.
        rare: What BM25 gives at most for a word that a single passage holds.

    Returns:
        The weight. One half where neither list can tell its passages apart.
    """
    near = sorted(finite(found), reverse=True)
    words = _share(_span(bm25), rare)
    nearness = _share(_span(cosines), 1 - near[-1]) if near else 0.0
    trust = _trust(near)
    lexical, semantic = words / RARE_WORDS, trust * nearness
    total = lexical + semantic
    return QuestionEvidence(semantic / total if total else _NOTHING_TO_CHOOSE, words, nearness, trust)


def _span(scores: Sequence[float | None]) -> float:
    values = finite(scores)
    return max(values, default=0.0) - min(values, default=0.0)


def _share(span: float, whole: float) -> float:
    """Return a span in another unit; bounded, since a unit near 0 says nothing about anything."""
    return min(span / whole if whole > 0 else span, _MOST)


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
