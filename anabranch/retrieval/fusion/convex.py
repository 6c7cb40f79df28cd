"""Convex combination of normalised scores."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from anabranch.errors import SettingsError
from anabranch.retrieval.fusion.list_weights import checked_weights
from anabranch.retrieval.fusion.score_normalization import NORMALISERS, Normaliser, finite
from anabranch.store.protocol import RankedList

Normalisation = Literal["min_max", "z_score", "dbsf"]


def convex(
    lists: Sequence[RankedList], weights: Sequence[float] | None = None, *, normalise: Normalisation = "min_max"
) -> dict[str, float]:
    """Fuse ranked lists by score: score(d) = sum over lists of weight x normalised score, the weights summing to one.

    Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", ACM TOIS 42(1), 2023. An id that is
    missing from a list gets that list's minimum, which every normaliser maps to 0 or above it.

    Args:
        lists: Ranked lists, best first; larger scores are better. Scores may be None, NaN or infinite.
        weights: One weight >= 0 per list, None for equal weights. A list of weight 0 is as if it were absent.
        normalise: Name of a normaliser in `NORMALISERS`.

    Returns:
        Fused score by chunk id, unordered; in [0, 1] for `min_max` and `dbsf`.

    Raises:
        SettingsError: A weight is negative or not finite, their number is wrong, or the normaliser is unknown.
    """
    if normalise not in NORMALISERS:
        message = f"There is no normalisation {normalise!r}."
        raise SettingsError(message, hint=f"Use one of: {', '.join(NORMALISERS)}.")
    checked = checked_weights(weights, len(lists))
    largest = max(checked, default=0.0)
    # Scaled by the largest weight first: the sum of two weights near 1e308 would be infinite.
    shares = [weight / largest if largest else 0.0 for weight in checked]
    total = math.fsum(shares)
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for ranking, share in zip(lists, shares, strict=True):
        if share == 0:
            continue
        for chunk_id, score in _normalised(ranking, NORMALISERS[normalise]).items():
            parts[chunk_id].append(share * score)
    return {chunk_id: math.fsum(values) / total for chunk_id, values in parts.items()}


def _normalised(ranking: RankedList, normalise: Normaliser) -> dict[str, float]:
    """Return the normalised score of each distinct id; a repeated id counts once, with its best score."""
    known: list[float | None] = list(ranking["scores"][: len(ranking["ids"])])
    scores = finite(known + [None] * (len(ranking["ids"]) - len(known)))
    best = dict(zip(ranking["ids"], scores, strict=True))
    if len(best) < len(scores):
        best = _best(ranking["ids"], scores)
    return dict(zip(best, normalise(list(best.values())), strict=True))


def _best(ids: Sequence[str], scores: Sequence[float]) -> dict[str, float]:
    best: dict[str, float] = {}
    for chunk_id, score in zip(ids, scores, strict=True):
        best[chunk_id] = max(score, best.get(chunk_id, score))
    return best
