"""Rank fusion: many ranked lists become one, keyed by chunk id and never by text.

Equal texts under two access lists are two chunks, so two ids; folding them into one would show the one's metadata to
readers of the other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal

from anabranch.retrieval.fusion.convex import convex
from anabranch.retrieval.fusion.rrf import reciprocal_rank
from anabranch.retrieval.fusion.score_normalization import by_score, dbsf, finite, min_max, z_score
from anabranch.store.protocol import RankedList

FusionMethod = Literal["complete", "convex", "rrf", "z_score", "dbsf"]
Fusion = Callable[[Sequence[RankedList], Sequence[float]], dict[str, float]]

FUSIONS: dict[FusionMethod, Fusion] = {
    # The same sum as `convex`; what differs is that its lists are made complete first.
    "complete": partial(convex, normalise=min_max),
    "rrf": reciprocal_rank,
    "convex": partial(convex, normalise=min_max),
    "z_score": partial(convex, normalise=z_score),
    "dbsf": partial(convex, normalise=dbsf),
}

_VARIANT_WEIGHT = 0.5


def ranked(scores: Mapping[str, float]) -> RankedList:
    """Order ids by score, best first, equal scores by id, so that the same scores always give the same list.

    Args:
        scores: Score by chunk id, in any order; what is not finite ranks as the worst (+inf as the best) that is.

    Returns:
        One ranked list with finite scores.
    """
    # A checkpoint is JSON, which knows no NaN.
    safe = dict(zip(scores, finite(list(scores.values())), strict=True))
    ids = by_score(safe)
    return RankedList(ids=ids, scores=[safe[chunk_id] for chunk_id in ids])


def fuse(
    lists_by_query: Sequence[Sequence[RankedList]],
    query_weights: Sequence[float] | None = None,
    weights: Sequence[Sequence[float]] | None = None,
    method: FusionMethod = "rrf",
) -> RankedList:
    """Fuse the answers of every retriever to every query: first across retrievers, then across queries.

    Across queries it is a weighted sum of the scores fused within each query. They are on one scale by construction
    (at most sum(weights) / 61 for rank fusion, at most 1 for a convex combination), so a second normalisation would
    only throw away how clearly a query's winner won; and for rank fusion the sum is the same as one fusion over all
    lists with weight = query weight x retriever weight.

    Args:
        lists_by_query: Shape (queries, retrievers): original query first, the retrievers in the same order for each.
            A retriever that failed or found nothing is an empty list.
        query_weights: One weight >= 0 per query; None: 1 for the original, 0.5 for every other one.
        weights: Shape (queries, retrievers): weights >= 0 of the lists of each query; None for equal ones.
        method: Name of a fusion in `FUSIONS`.

    Returns:
        One ranked list over all ids, best first, equal scores by id.
    """
    of_queries = query_weights or [1.0, *[_VARIANT_WEIGHT] * (len(lists_by_query) - 1)][: len(lists_by_query)]
    of_lists = weights or [[1.0] * len(lists) for lists in lists_by_query]
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for lists, weight, own in zip(lists_by_query, of_queries, of_lists, strict=True):
        for chunk_id, score in FUSIONS[method](lists, own).items() if weight else ():
            parts[chunk_id].append(weight * score)
    # fsum rounds once, so the order in which the queries came cannot decide a tie.
    return ranked({chunk_id: math.fsum(values) for chunk_id, values in parts.items()})


__all__ = ["FUSIONS", "Fusion", "FusionMethod", "convex", "fuse", "ranked", "reciprocal_rank"]
