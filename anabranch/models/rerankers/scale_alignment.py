"""Puts judgements of several replies on one scale: a judge that sees only weak passages praises the least weak."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from anabranch.parsing.relevance_scores import BEST

# Scores of one passage that differ by more than this differ for another reason than the scale.
MOST_SHIFT = 3.0

Bend = Callable[[float], float]

_CEILING = BEST - 0.5


def aligned(batches: Sequence[Mapping[int, float]], anchors: Sequence[int]) -> dict[int, float]:
    """Join the judgements of several replies, each put on the scale of the first by the passages that both judged.

    The mean score of the shared passages is moved to what it is in the first reply that judged one; 0 and 10 stay
    where they are, and scores between them move in proportion. So the order within a reply is kept, and "does not
    help" stays that. (Several replies that see the same passage calibrate each other as overlapping windows do in
    RankGPT, Sun et al. 2023, arXiv 2304.09542, and all of them at the same time.)

    Args:
        batches: Relevance in [0, 10] by index, one mapping per reply; empty for a reply that could not be read.
        anchors: Indices that every reply was shown.

    Returns:
        Relevance in [0, 10] by index; for a passage in several replies that of the first of them.
    """
    # The first whose reply can be read: a failed batch must not decide.
    reference = next((batch for batch in batches if _helpful(batch, anchors)), {})
    joined: dict[int, float] = {}
    for batch in batches:
        shared = [index for index in _helpful(batch, anchors) if index in _helpful(reference, anchors)]
        bend: Bend = _identity
        if shared and batch is not reference:
            bend = _bend(fmean(batch[index] for index in shared), fmean(reference[index] for index in shared))
        for index, score in batch.items():
            joined.setdefault(index, bend(score))
    return joined


def _helpful(batch: Mapping[int, float], anchors: Sequence[int]) -> list[int]:
    return [index for index in anchors if batch.get(index, 0.0) > 0]


def _identity(score: float) -> float:
    return score


def _bend(here: float, there: float) -> Bend:
    """Return the map of [0, 10] onto itself that is made of two lines and takes `here` to `there`."""
    # Further apart, the two replies disagree about the passage: that is no matter of scale.
    target = min(max(there, here - MOST_SHIFT), here + MOST_SHIFT)
    if here < BEST:
        target = min(target, max(here, _CEILING))

    def bend(score: float) -> float:
        if score <= here:
            return score * target / here
        return target + (score - here) * (BEST - target) / (BEST - here)

    return bend
