"""Weighted reciprocal rank fusion."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from anabranch.store.protocol import RankedList

K = 60
"""Smoothing constant of the paper; the larger, the less the first ranks stand out."""


def reciprocal_rank(lists: Sequence[RankedList], weights: Sequence[float]) -> dict[str, float]:
    """Fuse ranked lists by rank alone: score(d) = sum over lists of weight / (K + rank of d).

    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods",
    SIGIR 2009. Ranks start at 1 and follow the order of the ids as given, never the scores (a distance sorts the other
    way round).

    Args:
        lists: Ranked lists, best first.
        weights: One weight >= 0 per list. A list of weight 0 is as if it were absent.

    Returns:
        Fused score (unit: 1 / rank) by chunk id, unordered.
    """
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for ranking, weight in zip(lists, weights, strict=True):
        if weight == 0:
            continue
        for rank, chunk_id in enumerate(ranking["ids"], start=1):
            shares[chunk_id].append(weight / (K + rank))
    # fsum rounds once, so the order in which the lists came in cannot decide a tie.
    return {chunk_id: math.fsum(parts) for chunk_id, parts in shares.items()}
