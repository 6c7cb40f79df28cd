"""The guarantee of fusion: what a retriever finds first for the question is among the first of the fused list.

A weight is an estimate, and a passage that one retriever is sure of must not be lost by it: so near the top it reaches
every reranker and the first window that a model reads. It costs no quality (docs/adr/0010-fusion.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.store.protocol import RankedList

PLACES = 8
"""The best of each retriever is among so many; passages of a window fill more."""


def with_best_of_each(fused: RankedList, lists: Sequence[RankedList]) -> RankedList:
    """Move the best passage of each list up into the first `PLACES`, where it is not there already.

    The scores stay where they are, so that the list stays in descending order: each passage has that of its place.

    Args:
        fused: One ranked list, best first.
        lists: What each retriever found for the question, best first; all of it is in `fused`.
    """
    firsts = {ranked["ids"][0] for ranked in lists if ranked["ids"]}
    places = max(PLACES, len(firsts))
    head, tail = fused["ids"][:places], fused["ids"][places:]
    late = [chunk_id for chunk_id in tail if chunk_id in firsts]
    if not late:
        return fused
    giving_way = [chunk_id for chunk_id in head if chunk_id not in firsts][-len(late) :]
    kept = [chunk_id for chunk_id in head if chunk_id not in giving_way]
    rest = [chunk_id for chunk_id in tail if chunk_id not in firsts]
    return RankedList(ids=[*kept, *late, *giving_way, *rest], scores=list(fused["scores"]))
