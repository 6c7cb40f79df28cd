"""Fills the holes of ranked lists: what one retriever found is scored by the other as well.

A list ends at its depth, and a passage that is not in it did not score 0 there: it scored less than the last one. Fused
as 0, the passage just below the end of a list loses to one that is just above it by as much as the whole list spans.
The corpus knows every score, so none has to be guessed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from anabranch.retrieval.fusion.score_normalization import by_score, finite
from anabranch.store.protocol import RankedList


def completed(ranking: RankedList, scores: Mapping[str, float]) -> RankedList:
    """Return a ranked list with the ids that it lacks, best first, equal scores by id.

    Args:
        ranking: What a retriever found; its own scores stay, the first one of an id that is repeated.
        scores: What the same retriever gives to these and other ids.

    Returns:
        A new list of distinct ids; one whose score nobody knows, or that is no finite number, counts as the worst.
    """
    own = dict(zip(reversed(ranking["ids"]), reversed(_as_long(ranking)), strict=True))
    merged: dict[str, float | None] = {**dict.fromkeys(own), **_numbers(scores), **_numbers(own)}
    best = dict(zip(merged, finite(list(merged.values())), strict=True))
    ids = by_score(best)
    return RankedList(ids=ids, scores=[best[chunk_id] for chunk_id in ids])


def _as_long(ranking: RankedList) -> list[float | None]:
    known: list[float | None] = list(ranking["scores"][: len(ranking["ids"])])
    return known + [None] * (len(ranking["ids"]) - len(known))


def _numbers(scores: Mapping[str, float | None]) -> Mapping[str, float]:
    if None not in scores.values() and all(map(math.isfinite, scores.values())):  # type: ignore[arg-type]
        return scores  # type: ignore[return-value]  # none of them is None
    return {chunk_id: score for chunk_id, score in scores.items() if score is not None and math.isfinite(score)}
