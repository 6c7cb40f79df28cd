"""Orders passages by relevance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anabranch.store.protocol import RankedList


def rank_by_relevance(ids: Sequence[str], scores: Mapping[int, float], *, floor: float = 0.0) -> RankedList:
    """Order passages by relevance, equal relevance in prior order; no passage is lost.

    A passage without a judgement comes after those judged above `floor`, in prior order: a model lists the best first
    and leaves out what does not help, so its silence says a little. It comes before those judged at the floor or below:
    a reply that was cut off is silent too, while a low score is a verdict.

    Args:
        ids: Chunk ids in prior order, best first.
        scores: Relevance in [0, 10] by index into `ids`; indices out of range are ignored.
        floor: Score up to which a judged passage counts as irrelevant, and that unjudged ones get.

    Returns:
        One ranked list of the same ids.
    """

    def order(index: int) -> tuple[float, bool, int]:
        # False sorts before True: silence before an explicit "does not help".
        return (-scores.get(index, floor), index in scores, index)

    places = sorted(range(len(ids)), key=order)
    return RankedList(ids=[ids[place] for place in places], scores=[float(scores.get(i, floor)) for i in places])
