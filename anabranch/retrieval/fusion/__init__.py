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

from anabranch.retrieval.fusion.score_normalization import (
    Normaliser,
    dbsf,
    min_max,
    replace_non_finite,
    sort_by_score,
    z_score,
)
from anabranch.store.protocol import RankedList

FusionMethod = Literal["complete", "convex", "rrf", "z_score", "dbsf"]
Fusion = Callable[[Sequence[RankedList], Sequence[float]], dict[str, float]]

# Smoothing constant of the paper; a larger one makes the first ranks stand out less.
K = 60
# The best passage of each retriever is among this many; a window holds more.
PLACES = 8


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
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for ranking, weight in zip(lists, weights, strict=True):
        # Skip a list of weight 0, or its ids would be among the results.
        for rank, chunk_id in enumerate(ranking["ids"] if weight else (), start=1):
            parts[chunk_id].append(weight / (K + rank))
    return _sum(parts)


def convex(
    lists: Sequence[RankedList], weights: Sequence[float], *, normalise: Normaliser = min_max
) -> dict[str, float]:
    """Fuse ranked lists by score: score(d) = sum over lists of weight x normalised score, the weights summing to one.

    Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", ACM TOIS 42(1), 2023. An id that is
    missing from a list gets that list's minimum, which every normaliser maps to 0 or above it.

    Args:
        lists: Ranked lists; larger scores are better.
        weights: One weight >= 0 per list. A list of weight 0 is as if it were absent.
        normalise: Puts the scores of one list on a scale that all share.

    Returns:
        Fused score by chunk id, unordered; in [0, 1] for `min_max` and `dbsf`.
    """
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for ranking, weight in zip(lists, weights, strict=True):
        for chunk_id, score in zip(ranking["ids"], normalise(ranking["scores"]), strict=True) if weight else ():
            parts[chunk_id].append(weight * score)
    total = math.fsum(weights)
    return {chunk_id: score / total for chunk_id, score in _sum(parts).items()}


def _sum(parts: Mapping[str, Sequence[float]]) -> dict[str, float]:
    # fsum rounds once, so the order of the lists cannot decide a tie.
    return {chunk_id: math.fsum(values) for chunk_id, values in parts.items()}


FUSIONS: dict[FusionMethod, Fusion] = {
    # The same sum as `convex`, over lists that were completed first.
    "complete": convex,
    "rrf": reciprocal_rank,
    "convex": convex,
    "z_score": partial(convex, normalise=z_score),
    "dbsf": partial(convex, normalise=dbsf),
}


def rank(scores: Mapping[str, float]) -> RankedList:
    """Order ids by score, best first, equal scores by id, so that the same scores always give the same list.

    Args:
        scores: Score by chunk id, in any order; what is not finite ranks as the worst (+inf as the best) that is.

    Returns:
        One ranked list with finite scores.
    """
    # A checkpoint is JSON, which has no NaN.
    safe = dict(zip(scores, replace_non_finite(list(scores.values())), strict=True))
    ids = sort_by_score(safe)
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
        query_weights: One weight >= 0 per query; None for equal ones.
        weights: Shape (queries, retrievers): weights >= 0 of the lists of each query; None for equal ones.
        method: Name of a fusion in `FUSIONS`.

    Returns:
        One ranked list over all ids, best first, equal scores by id.
    """
    of_queries = query_weights or [1.0] * len(lists_by_query)
    of_lists = weights or [[1.0] * len(lists) for lists in lists_by_query]
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for lists, weight, own in zip(lists_by_query, of_queries, of_lists, strict=True):
        for chunk_id, score in FUSIONS[method](lists, own).items() if weight else ():
            parts[chunk_id].append(weight * score)
    return rank(_sum(parts))


def complete(ranking: RankedList, scores: Mapping[str, float]) -> RankedList:
    """Return a ranked list with the ids that it lacks, best first, equal scores by id.

    A list ends at its depth, and a passage that is not in it did not score 0 there: it scored less than the last one.
    Fused as 0, the passage just below the end of a list loses to one that is just above it by as much as the whole list
    spans. The corpus knows every score, so none has to be guessed.
    """
    # The list's own scores win: the index may be a generation ahead of the one that was searched.
    best = {**scores, **dict(zip(ranking["ids"], ranking["scores"], strict=True))}
    ids = sort_by_score(best)
    return RankedList(ids=ids, scores=[best[chunk_id] for chunk_id in ids])


def promote_best(fused: RankedList, lists: Sequence[RankedList]) -> RankedList:
    """Move the best passage of each list up into the first `PLACES`, where it is not there already.

    A weight is an estimate, and must not lose a passage that one retriever is sure of: near the top it reaches every
    reranker and the first window. It costs no quality (docs/adr/0010-fusion.md). Scores keep their places, so that
    they stay in descending order: each passage gets that of its new place.

    Args:
        fused: One ranked list, best first.
        lists: What each retriever found for the question, best first; all of it is in `fused`.
    """
    firsts = {ranking["ids"][0] for ranking in lists if ranking["ids"]}
    places = max(PLACES, len(firsts))
    head, tail = fused["ids"][:places], fused["ids"][places:]
    late = [chunk_id for chunk_id in tail if chunk_id in firsts]
    if not late:
        return fused
    giving_way = [chunk_id for chunk_id in head if chunk_id not in firsts][-len(late) :]
    kept = [chunk_id for chunk_id in head if chunk_id not in giving_way]
    rest = [chunk_id for chunk_id in tail if chunk_id not in firsts]
    return RankedList(ids=[*kept, *late, *giving_way, *rest], scores=list(fused["scores"]))
