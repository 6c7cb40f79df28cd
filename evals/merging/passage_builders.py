"""Other ways than the product's to make passages of the leaves that were found, for tables that compare them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import fsum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from anabranch.retrieval.auto_merging import DEFAULT_GAP, Aggregate, merge, room_left
from anabranch.store.chunk_ancestors import Ancestry

LeafScores = Mapping[str, float]
"""Score of each leaf that was found, best first."""


class PassageBuilder(BaseModel):
    """How passages are made; as it stands, as the product makes them.

    `merged`: auto-merging, by the threshold of the settings. `leaves`: as they were found. `parents`, `roots`: each
    leaf is replaced by the chunk one or two levels up. `neighbours`: each leaf comes with the one before and the one
    after it in its parent. What is not `bounded` merges although that takes more windows.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: Literal["merged", "leaves", "parents", "roots", "neighbours"] = "merged"
    gap: int = Field(default=DEFAULT_GAP, ge=0, le=16)
    score: Literal["best", "mean", "sum"] = "best"
    bounded: bool = True


def passages_of(
    builder: PassageBuilder, ranked: LeafScores, around: Ancestry, *, threshold: float, window: int
) -> list[str]:
    """Return the passages that a builder makes, best first; they may overlap.

    Args:
        builder: How they are made.
        ranked: The leaves, each of them in `around`.
        around: Their part of the chunk tree.
        threshold: Of auto-merging.
        window: Tokens of a window.
    """
    if builder.by != "merged":
        return list(dict.fromkeys(_REPLACED[builder.by](ranked, around)))
    sizes = around.sizes
    merged = merge(
        ranked,
        around.parents,
        around.children,
        threshold=threshold,
        gap=builder.gap,
        sizes=sizes,
        budget=window,
        # What the product allows itself: merging must not cost a further model call.
        room=room_left((sizes[leaf] for leaf in ranked), window) if builder.bounded else None,
        score=_SCORES[builder.score],
    )
    return [passage.id for passage in merged.results]


def _mean(scores: Sequence[float]) -> float:
    return fsum(scores) / len(scores)


_SCORES: dict[str, Aggregate] = {"best": max, "mean": _mean, "sum": fsum}


def _parents(ranked: LeafScores, around: Ancestry) -> Iterator[str]:
    for leaf in ranked:
        yield _above(leaf, around)


def _roots(ranked: LeafScores, around: Ancestry) -> Iterator[str]:
    for leaf in ranked:
        yield _above(_above(leaf, around), around)


def _neighbours(ranked: LeafScores, around: Ancestry) -> Iterator[str]:
    for leaf in ranked:
        siblings = around.children.get(around.chunks[leaf].parent_id or "", [leaf])
        place = siblings.index(leaf)
        yield from siblings[max(place - 1, 0) : place + 2]


def _above(chunk_id: str, around: Ancestry) -> str:
    """Return a chunk's parent, or itself where it has none that can be read."""
    parent = around.chunks[chunk_id].parent_id
    return parent if parent is not None and parent in around.chunks else chunk_id


_REPLACED: dict[str, Callable[[LeafScores, Ancestry], Iterator[str]]] = {
    "leaves": lambda ranked, _: iter(ranked),
    "parents": _parents,
    "roots": _roots,
    "neighbours": _neighbours,
}
