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

from anabranch.errors import SettingsError
from anabranch.retrieval.fusion.convex import convex
from anabranch.retrieval.fusion.list_weights import checked_weights
from anabranch.retrieval.fusion.rrf import reciprocal_rank
from anabranch.retrieval.fusion.score_normalization import by_score, finite
from anabranch.store.protocol import RankedList

FusionMethod = Literal["complete", "convex", "rrf", "z_score", "dbsf"]
Fusion = Callable[[Sequence[RankedList], Sequence[float] | None], dict[str, float]]

FUSIONS: dict[str, Fusion] = {
    # The same sum as `convex`; what differs is that its lists are made complete first.
    "complete": partial(convex, normalise="min_max"),
    "rrf": reciprocal_rank,
    "convex": partial(convex, normalise="min_max"),
    "z_score": partial(convex, normalise="z_score"),
    "dbsf": partial(convex, normalise="dbsf"),
}

_VARIANT_WEIGHT = 0.5


def ranked(scores: Mapping[str, float]) -> RankedList:
    """Order ids by score, best first, equal scores by id, so that the same scores always give the same list.

    Args:
        scores: Score by chunk id, in any order; what is not finite ranks as the worst (+inf as the best) that is.

    Returns:
        One ranked list with finite scores.
    """
    safe = dict(zip(scores, finite(list(scores.values())), strict=True))
    ids = by_score(safe)
    return RankedList(ids=ids, scores=[safe[chunk_id] for chunk_id in ids])


def query_weights(count: int) -> list[float]:
    """Return the default weight of each query: the original, which stands first, weighs twice as much as a variant."""
    return [1.0 if position == 0 else _VARIANT_WEIGHT for position in range(count)]


def fuse(
    lists_by_query: Sequence[Sequence[RankedList]],
    query_weights: Sequence[float] | None = None,
    arm_weights: Sequence[float] | None = None,
    method: FusionMethod = "rrf",
    *,
    own_weights: Sequence[Sequence[float]] | None = None,
    k: float = 60,
) -> RankedList:
    """Fuse the answers of every retriever to every query: first across retrievers, then across queries.

    Across queries it is a weighted sum of the scores fused within each query. They are on one scale by construction
    (at most sum(weights) / (k + 1) for rank fusion, at most 1 for a convex combination), so a second normalisation
    would only throw away how clearly a query's winner won; and for rank fusion the sum is the same as one fusion over
    all lists with weight = query weight x arm weight.

    Args:
        lists_by_query: Shape (queries, arms): the original query first, every query with its arms in the same order.
            An arm that failed or found nothing is an empty list.
        query_weights: One weight >= 0 per query; None: 1 for the original, 0.5 for every other one.
        arm_weights: One weight >= 0 per arm; None for equal weights.
        method: Name of a fusion in `FUSIONS`.
        own_weights: Shape (queries, arms): such weights for each query, in place of `arm_weights`.
        k: Constant of rank fusion; the other methods do not use it.

    Returns:
        One ranked list over all ids, best first, equal scores by id.

    Raises:
        SettingsError: The method is unknown, or weights are negative, not finite, too few or too many, or all 0.
    """
    if method not in FUSIONS:
        raise SettingsError(f"There is no fusion {method!r}.", hint=f"Use one of: {', '.join(FUSIONS)}.")
    weights = _by_query(query_weights, len(lists_by_query))
    arms = [arm_weights] * len(lists_by_query) if own_weights is None else own_weights
    for of_query in arms:
        _some_arm(of_query)
    fusion = partial(reciprocal_rank, k=k) if method == "rrf" else FUSIONS[method]
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for lists, weight, of_arms in zip(lists_by_query, weights, arms, strict=True):
        if weight == 0:
            continue
        for chunk_id, score in fusion(lists, of_arms).items():
            parts[chunk_id].append(weight * score)
    return ranked({chunk_id: math.fsum(values) for chunk_id, values in parts.items()})


def _by_query(weights: Sequence[float] | None, count: int) -> list[float]:
    if weights is None:
        return query_weights(count)
    return checked_weights(weights, count, what="query weights")


def _some_arm(weights: Sequence[float] | None) -> None:
    """Refuse weights that take every retriever out: the empty result would look like an empty corpus."""
    if weights and not any(weights):
        raise SettingsError(f"All arm weights are 0: {list(weights)!r}.", hint="Leave at least one above 0.")


__all__ = ["FUSIONS", "Fusion", "FusionMethod", "convex", "fuse", "query_weights", "ranked", "reciprocal_rank"]
