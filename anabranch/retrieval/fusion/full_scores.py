"""Fills the holes of ranked lists: what one retriever found is scored by the other as well.

A list ends at its depth, and a passage that is not in it did not score 0 there: it scored less than the last one. Fused
as 0, the passage just below the end of a list loses to one that is just above it by as much as the whole list spans.
The corpus knows every score, so none has to be guessed.
"""

from __future__ import annotations

from collections.abc import Mapping

from anabranch.retrieval.fusion.score_normalization import by_score
from anabranch.store.protocol import RankedList


def completed(ranking: RankedList, scores: Mapping[str, float]) -> RankedList:
    """Return a ranked list with the ids that it lacks, best first, equal scores by id.

    Args:
        ranking: What a retriever found; its own scores stay.
        scores: What the same retriever gives to these and other ids.
    """
    # The list's own scores come last: an index may be a generation ahead of the one that was searched.
    best = {**scores, **dict(zip(ranking["ids"], ranking["scores"], strict=True))}
    ids = by_score(best)
    return RankedList(ids=ids, scores=[best[chunk_id] for chunk_id in ids])
