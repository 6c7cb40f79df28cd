from __future__ import annotations

import pytest
from pydantic import ValidationError

from anabranch.readers.document import Chunk, Level
from anabranch.store.chunk_ancestors import Ancestry
from evals.merging.passage_builders import PassageBuilder, passages_of

# R holds A (4 leaves) and B (2 leaves); x is an external passage with no parent, o a leaf whose parent is hidden.
CHILDREN = {"R": ["A", "B"], "A": ["a1", "a2", "a3", "a4"], "B": ["b1", "b2"]}
PARENTS = {child: parent for parent, below in CHILDREN.items() for child in below} | {"R": None, "x": None, "o": "O"}


def chunk(chunk_id: str, parent: str | None) -> Chunk:
    levels: dict[bool, Level] = {True: 2, False: 1}
    tokens = {"R": 54, "A": 36, "B": 18}.get(chunk_id, 9)
    return Chunk(
        chunk_id, "d", "d", "d", "D", "", None, None, levels[chunk_id.islower()], parent, 0, 9, "said", tokens
    )  # fmt: skip


AROUND = Ancestry({one: chunk(one, parent) for one, parent in PARENTS.items()}, CHILDREN)


def passages(builder: PassageBuilder, *leaves: str, threshold: float = 0.5, window: int = 100) -> list[str]:
    ranked = {leaf: 1.0 - place / 10 for place, leaf in enumerate(leaves)}
    return passages_of(builder, ranked, AROUND, threshold=threshold, window=window)


def test_leaves_are_left_as_they_were_found() -> None:
    assert passages(PassageBuilder(by="leaves"), "a3", "a1", "a2", threshold=0.0) == ["a3", "a1", "a2"]


def test_merging_is_that_of_the_product() -> None:
    assert passages(PassageBuilder(), "b1", "a3", "a1") == ["b1", "A"]
    assert passages(PassageBuilder(gap=0), "b1", "a3", "a1") == ["b1", "a3", "a1"]
    # 27 tokens are found; a window of 30 has no room for one more leaf, one of 36 has
    assert passages(PassageBuilder(), "a1", "a2", "a3", window=30) == ["a1", "a2", "a3"]
    assert passages(PassageBuilder(), "a1", "a2", "a3", window=36) == ["A"]
    assert passages(PassageBuilder(bounded=False), "a1", "a2", "a3", window=36) == ["A"]
    # but what no window holds never comes in
    assert passages(PassageBuilder(bounded=False), "a1", "a2", "a3", window=30) == ["a1", "a2", "a3"]


def test_the_score_of_a_parent_says_where_it_stands() -> None:
    found = ("a1", "b1", "a2", "a3")
    assert passages(PassageBuilder(), *found) == ["A", "b1"]
    assert passages(PassageBuilder(score="mean"), *found) == ["b1", "A"]
    assert passages(PassageBuilder(score="sum"), "b1", "a2", "a3", "a4") == ["A", "b1"]


@pytest.mark.parametrize(
    ("builder", "kept"),
    [
        (PassageBuilder(by="parents"), ["B", "A", "x", "o"]),
        (PassageBuilder(by="roots"), ["R", "x", "o"]),
        (PassageBuilder(by="neighbours"), ["b1", "b2", "a2", "a3", "a4", "x", "o"]),
    ],
)
def test_what_stands_for_a_leaf_stands_there_once(builder: PassageBuilder, kept: list[str]) -> None:
    assert passages(builder, "b2", "a3", "b1", "x", "o") == kept


def test_what_is_no_arm_is_refused() -> None:
    for wrong in ({"by": "magic"}, {"gap": -1}, {"score": "worst"}, {"threshold": 0.5}):
        with pytest.raises(ValidationError):
            PassageBuilder.model_validate(wrong)
