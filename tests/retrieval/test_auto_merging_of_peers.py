"""What auto-merging of peers gets wrong, on the tree of a real text: LlamaIndex unless another one is named.

The numbers are those of the defects as they were reproduced.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.chunking.hierarchical_chunker import ChunkNode, grow
from anabranch.models.wordpiece_tokenizer import WordPieces
from anabranch.readers.document import Block, Document
from anabranch.retrieval import auto_merging as merging
from anabranch.retrieval.auto_merging import Merged

merge = partial(merging.merge, threshold=0.5)

SIZES = (288, 96, 24)


@dataclass(frozen=True)
class Grown:
    """A tree by id: its nodes, parents, and children in reading order."""

    nodes: dict[str, ChunkNode]
    parents: dict[str, str | None]
    children: dict[str, list[str]]

    @property
    def leaves(self) -> list[str]:
        return [one for one, node in self.nodes.items() if node.level == 2]

    def section(self, children: int) -> list[str]:
        """The leaves of the first section that has so many."""
        return next(below for below in self.children.values() if len(below) == children and below[0] in self.leaves)

    def merged(self, ids: Sequence[str], **settings: object) -> Merged:
        """Merge leaves whose scores fall in the order given."""
        scores = {one: 1.0 - place / 100 for place, one in enumerate(ids)}
        return merge(scores, self.parents, self.children, **settings)  # type: ignore[arg-type]


def grown() -> Grown:
    said = [" ".join(f"Gauge {part} stood at {n} feet." for n in range(part % 13 + 1)) for part in range(40)]
    titles = [Block(f"Part {part}", heading=(f"Part {part}",), is_heading=True) for part in range(40)]
    blocks = itertools.chain(*zip(titles, [Block(text) for text in said], strict=True))
    tree = grow(Document("gauge.md", "Gauge", tuple(blocks)), WordPieces(), SIZES)
    names = [f"n{index:03}" for index in range(len(tree.nodes))]
    parents = {names[i]: None if node.parent is None else names[node.parent] for i, node in enumerate(tree.nodes)}
    children: defaultdict[str, list[str]] = defaultdict(list)
    for one, parent in parents.items():
        if parent is not None:
            children[parent].append(one)
    return Grown(dict(zip(names, tree.nodes, strict=True)), parents, dict(children))


TREE = grown()


def kept(result: Merged) -> list[str]:
    return [passage.id for passage in result.results]


def test_m0_gaps_are_filled_between_leaves_of_a_tree() -> None:
    # there the leaves of a hierarchy do not know their next one, and no gap is ever filled
    first, _, last = TREE.section(3)
    assert TREE.merged([first, last], threshold=0.99).filled == ()
    assert kept(TREE.merged([first, last], threshold=0.99)) == [TREE.parents[first]]
    four = TREE.section(4)
    assert TREE.merged([four[0], four[2]], threshold=0.8).filled == (four[1],)


def test_m1_what_was_found_is_not_filled_in_again() -> None:
    first, second, third, _ = TREE.section(4)
    assert kept(TREE.merged([first, second, third], threshold=0.8)) == [first, second, third]


def test_m2_m3_a_gap_is_filled_whatever_stands_where_in_the_ranking() -> None:
    first, second, third, _ = TREE.section(4)
    elsewhere = TREE.leaves[-1]
    for order in itertools.permutations([first, third, elsewhere]):
        assert set(kept(TREE.merged(order, threshold=0.8))) == {first, second, third, elsewhere}


def test_m4_a_gap_of_two_is_filled_on_request() -> None:
    first, second, third, fourth = TREE.section(4)
    assert set(kept(TREE.merged([first, fourth], threshold=0.99, gap=1))) == {first, fourth}
    result = TREE.merged([first, fourth], threshold=1.0, gap=2)
    assert set(kept(result)) == {first, second, third, fourth}


def test_m5_a_leaf_that_was_found_three_times_counts_once() -> None:
    first, *_ = five = TREE.section(4)
    repeated = {**TREE.children, str(TREE.parents[first]): [first, first, first, *five]}
    assert kept(merge({first: 1.0}, TREE.parents, repeated)) == [first]


@pytest.mark.parametrize("levels", [1, 2])
def test_m7_a_parent_that_is_gone_leaves_its_children(levels: int) -> None:
    # there the whole question fails; LangChain (L15) drops the children without a word
    leaves = TREE.section(3)
    gone = TREE.parents[leaves[0]] if levels == 1 else TREE.parents[str(TREE.parents[leaves[0]])]
    visible = {parent: below for parent, below in TREE.children.items() if parent != gone}
    result = merge(dict.fromkeys(leaves, 1.0), TREE.parents, visible)
    assert set(kept(result)) == (set(leaves) if levels == 1 else {TREE.parents[leaves[0]]})
    assert result.missing == (gone,)


def test_m8_a_parent_that_was_found_is_there_once() -> None:
    leaves = TREE.section(3)
    parent = str(TREE.parents[leaves[0]])
    assert kept(merge({parent: 0.2, **dict.fromkeys(leaves, 0.1)}, TREE.parents, TREE.children)) == [parent]


def test_m11_a_section_of_one_passage_is_not_a_reason_to_merge() -> None:
    (only,) = TREE.section(1)
    result = TREE.merged([only], threshold=0.0)
    assert (kept(result), result.parents) == ([only], ())


def test_the_score_of_a_parent_is_the_best_and_a_mean_on_request() -> None:
    # LlamaIndex: the mean, so that a weak sibling makes the best passage fall; haystack: none at all
    first, second, third = TREE.section(3)
    scores = {first: 0.9, second: 0.3, third: 0.3}
    assert merge(scores, TREE.parents, TREE.children).results[0].score == 0.9
    assert merge(scores, TREE.parents, TREE.children, score=lambda found: sum(found) / len(found)).results[
        0
    ].score == pytest.approx(0.5)


FOUND = st.lists(st.sampled_from(TREE.leaves), min_size=1, max_size=16, unique=True)
SETTINGS = st.fixed_dictionaries(
    {
        "threshold": st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
        "gap": st.integers(0, 3),
        "budget": st.sampled_from([None, 288, 96, 24, 1]),
    }
)


@given(FOUND, SETTINGS)
def test_no_character_comes_twice_and_none_that_was_found_is_lost(
    found: list[str], settings: dict[str, object]
) -> None:
    sizes = {one: node.tokens for one, node in TREE.nodes.items()}
    result = TREE.merged(found, sizes=sizes, **settings)
    spans = sorted((TREE.nodes[one].start, TREE.nodes[one].end) for one in kept(result))
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))
    for leaf in found:
        assert any(start <= TREE.nodes[leaf].start and TREE.nodes[leaf].end <= end for start, end in spans)


@given(FOUND, SETTINGS)
def test_nothing_larger_than_the_budget_comes_in(found: list[str], settings: dict[str, object]) -> None:
    sizes = {one: node.tokens for one, node in TREE.nodes.items()}
    result = TREE.merged(found, sizes=sizes, **settings)
    budget = settings["budget"]
    assert budget is None or all(sizes[one] <= budget for one in (*result.parents, *result.filled))  # type: ignore[operator]


@given(FOUND, SETTINGS, st.integers(0, 300))
def test_no_more_comes_in_than_there_is_room_for(found: list[str], settings: dict[str, object], room: int) -> None:
    sizes = {one: node.tokens for one, node in TREE.nodes.items()}
    result = TREE.merged(found, sizes=sizes, room=room, **settings)
    assert sum(sizes[one] for one in kept(result)) <= sum(sizes[one] for one in found) + room
    nothing = TREE.merged(found, sizes=sizes, room=0, **{**settings, "gap": 0, "threshold": 0.99})
    assert sum(sizes[one] for one in kept(nothing)) == sum(sizes[one] for one in found)


def test_the_best_sections_get_the_room_that_there_is() -> None:
    three = [below for below in TREE.children.values() if len(below) == 3 and below[0] in TREE.leaves][:2]
    sizes = {one: node.tokens for one, node in TREE.nodes.items()}
    for first, second in (three, three[::-1]):
        found = [first[0], second[0], second[2], first[2]]
        result = TREE.merged(found, sizes=sizes, room=max(sizes[first[1]], sizes[second[1]]))
        assert result.parents == (TREE.parents[first[0]],)


@given(st.lists(st.integers(1, 200), max_size=30), st.integers(1, 400))
def test_what_is_left_of_the_windows_that_passages_need_anyway(tokens: list[int], window: int) -> None:
    room = merging.room_left(tokens, window)
    assert 0 <= room < window
    assert (sum(tokens) + room) % window == 0


@given(FOUND, SETTINGS, st.randoms())
def test_the_order_of_what_was_found_does_not_matter(found: list[str], settings: dict[str, object], random) -> None:
    settings = {**settings, "room": 100, "sizes": {one: node.tokens for one, node in TREE.nodes.items()}}
    scores = {one: place // 3 / 100 for place, one in enumerate(found)}
    shuffled = list(scores)
    random.shuffle(shuffled)
    one, other = (
        merge(given, TREE.parents, TREE.children, **settings)  # type: ignore[arg-type]
        for given in (scores, {leaf: scores[leaf] for leaf in shuffled})
    )
    assert one == other


def test_the_tree_of_these_tests_has_sections_of_all_sizes() -> None:
    below = {len(each) for parent, each in TREE.children.items() if each[0] in TREE.leaves}
    assert below >= {1, 3, 4}
    assert len(TREE.leaves) > 40
