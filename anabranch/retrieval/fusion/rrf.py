"""Weighted reciprocal rank fusion."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from anabranch.errors import SettingsError
from anabranch.retrieval.fusion.list_weights import checked_weights
from anabranch.store.protocol import RankedList


def reciprocal_rank(
    lists: Sequence[RankedList], weights: Sequence[float] | None = None, *, k: float = 60
) -> dict[str, float]:
    """Fuse ranked lists by rank alone: score(d) = sum over lists of weight / (k + rank of d).

    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods",
    SIGIR 2009. Ranks start at 1 and follow the order of the ids as given, never the scores (a distance sorts the other
    way round). An id that stands in one list twice counts once, at its best rank, and takes no rank from the others.

    Args:
        lists: Ranked lists, best first.
        weights: One weight >= 0 per list, None for equal weights. A list of weight 0 is as if it were absent.
        k: Smoothing constant >= 0; the larger, the less the first ranks stand out.

    Returns:
        Fused score (unit: 1 / rank) by chunk id, unordered.

    Raises:
        SettingsError: A weight or `k` is negative or not finite, or the number of weights is wrong.
    """
    if not math.isfinite(k) or k < 0:
        raise SettingsError(
            f"The rank fusion constant cannot be {k!r}.", hint="Use 60, or another number of 0 or more."
        )
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for ranking, weight in zip(lists, checked_weights(weights, len(lists)), strict=True):
        if weight == 0:
            continue
        for rank, chunk_id in enumerate(dict.fromkeys(ranking["ids"]), start=1):
            shares[chunk_id].append(weight / (k + rank))
    # fsum rounds once, so the order in which the lists came in cannot decide a tie.
    return {chunk_id: math.fsum(parts) for chunk_id, parts in shares.items()}
