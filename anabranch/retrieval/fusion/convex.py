"""Convex combination of normalised scores."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from anabranch.retrieval.fusion.score_normalization import Normaliser, min_max
from anabranch.store.protocol import RankedList


def convex(
    lists: Sequence[RankedList], weights: Sequence[float], *, normalise: Normaliser = min_max
) -> dict[str, float]:
    """Fuse ranked lists by score: score(d) = sum over lists of weight x normalised score, the weights summing to one.

    Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", ACM TOIS 42(1), 2023. An id that is
    missing from a list gets that list's minimum, which every normaliser maps to 0 or above it.

    Args:
        lists: Ranked lists, best first; larger scores are better.
        weights: One weight >= 0 per list. A list of weight 0 is as if it were absent.
        normalise: Puts the scores of one list on a scale that all share.

    Returns:
        Fused score by chunk id, unordered; in [0, 1] for `min_max` and `dbsf`.
    """
    total = math.fsum(weights)
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for ranking, weight in zip(lists, weights, strict=True):
        # Not added as 0: an id that is in this list alone would then be among the results.
        if weight == 0:
            continue
        for chunk_id, score in zip(ranking["ids"], normalise(ranking["scores"]), strict=True):
            parts[chunk_id].append(weight * score)
    return {chunk_id: math.fsum(values) / total for chunk_id, values in parts.items()}
