from __future__ import annotations

import copy
import itertools
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import CorpusDamagedError, SettingsError
from anabranch.retrieval import auto_merging as merging
from anabranch.retrieval.auto_merging import Merged

merge = partial(merging.merge, threshold=0.5)

# R holds A (4 leaves), B (3 leaves), C (1 leaf); S is another document with one section of two leaves.
CHILDREN: dict[str, list[str]] = {
    "R": ["A", "B", "C"],
    "A": ["a1", "a2", "a3", "a4"],
    "B": ["b1", "b2", "b3"],
    "C": ["c1"],
    "S": ["D"],
    "D": ["d1", "d2"],
}
PARENTS: dict[str, str | None] = {child: parent for parent, below in CHILDREN.items() for child in below}
PARENTS.update({"R": None, "S": None})


def up(chunk_id: str) -> list[str]:
    """A chunk and its ancestors."""
    parent = PARENTS[chunk_id]
    return [chunk_id] if parent is None else [chunk_id, *up(parent)]


def merged(*ids: str, **settings: float) -> Merged:
    """Merge leaves whose scores fall in the order given."""
    return merge({one: 1.0 - place / 10 for place, one in enumerate(ids)}, PARENTS, CHILDREN, **settings)  # type: ignore[arg-type]


def kept(result: Merged) -> list[str]:
    return [passage.id for passage in result.results]


def test_a_parent_takes_over_when_more_than_half_of_its_children_are_there():
    result = merged("a2", "a1", "a3")
    assert [(one.id, one.score, one.because) for one in result.results] == [("A", 1.0, ("a1", "a2", "a3"))]
    assert result.parents == ("A",)


def test_half_is_not_more_than_half():
    assert kept(merged("a1", "a2")) == ["a1", "a2"]
    assert kept(merged("d2")) == ["d2"]


def test_merging_climbs_level_by_level():
    assert kept(merged("a1", "a2", "a3", "b1", "b2")) == ["R"]
    # A alone is one section of three
    assert kept(merged("a1", "a2", "a3", "b1")) == ["A", "b1"]


def test_what_is_left_below_a_parent_that_takes_over_is_absorbed():
    # A and C make two of three; b1 stays below B, which did not merge
    result = merged("a1", "a2", "a3", "c1", "b1", gap=0)
    assert kept(result) == ["R"]
    assert result.results[0].because == ("a1", "a2", "a3", "b1", "c1")


def test_the_gap_between_two_neighbours_is_filled_before_the_ratio_is_taken():
    # 2 of 4 retrieved, 3 of 4 with the gap
    assert kept(merged("a1", "a3")) == ["A"]
    assert kept(merged("a1", "a3", gap=0)) == ["a1", "a3"]


def test_the_gap_is_filled_whatever_the_ranking():
    # LlamaIndex fills it only when the neighbours are ranked in document order, next to each other
    for order in itertools.permutations(["a1", "a3", "d1"]):
        assert kept(merged(*order)) in (["A", "d1"], ["d1", "A"])


def test_a_wider_gap_is_filled_on_request():
    assert kept(merged("a1", "a4")) == ["a1", "a4"]
    assert kept(merged("a1", "a4", gap=2)) == ["A"]


def test_a_gap_whose_parent_does_not_take_over_stays_filled_in_once():
    result = merged("a3", "a1", threshold=0.8)
    assert kept(result) == ["a3", "a1", "a2"]
    assert result.filled == ("a2",)
    assert result.results[2].score == result.results[1].score
    assert result.results[2].because == ()
    # LlamaIndex adds the neighbour even where it was retrieved
    assert kept(merged("a1", "a2", "a3", threshold=0.8)) == ["a1", "a2", "a3"]


def test_a_section_between_two_sections_absorbs_what_was_retrieved_of_it():
    four = {**CHILDREN, "R": ["A", "B", "C", "E", "F"]}
    parents = {**PARENTS, "E": "R", "F": "R"}
    scores = {"a1": 0.5, "a2": 0.4, "a3": 0.3, "b1": 0.9, "c1": 0.2}
    result = merge(scores, parents, four, threshold=0.6)
    assert [(one.id, one.score, one.because) for one in result.results] == [
        ("B", 0.9, ("b1",)),
        ("A", 0.5, ("a1", "a2", "a3")),
        ("c1", 0.2, ("c1",)),
    ]


def test_repetitions_do_not_count():
    # LlamaIndex: three hits of one leaf merge a parent of five; a mapping cannot even say it, and children are unique
    repeated = {**CHILDREN, "A": ["a1", "a1", "a1", "a2", "a3", "a4"]}
    assert kept(merge({"a1": 1.0}, PARENTS, repeated)) == ["a1"]


def test_a_parent_that_was_retrieved_absorbs_its_children():
    # LlamaIndex returns such a parent twice
    result = merge({"A": 0.3, "a1": 0.9, "a2": 0.8, "a3": 0.7, "b1": 0.1}, PARENTS, CHILDREN)
    assert [(one.id, one.score) for one in result.results] == [("A", 0.9), ("b1", 0.1)]
    assert result.results[0].because == ("A", "a1", "a2", "a3")
    assert result.parents == ()


def test_a_root_that_was_retrieved_absorbs_leaves_two_levels_down():
    assert kept(merge({"R": 0.1, "a1": 0.9, "d1": 0.5}, PARENTS, CHILDREN)) == ["R", "d1"]


@pytest.mark.parametrize("gone", ["A", "R"])
def test_a_parent_that_may_not_be_read_leaves_its_children_and_is_reported(gone: str):
    # LlamaIndex raises, LangChain drops the children
    visible = {parent: below for parent, below in CHILDREN.items() if parent != gone}
    result = merge({"a1": 0.9, "a2": 0.8, "a3": 0.7, "b1": 0.6, "b2": 0.5}, PARENTS, visible)
    assert kept(result) == {"A": ["a1", "a2", "a3", "B"], "R": ["A", "B"]}[gone]
    assert result.missing == (gone,)


def test_a_section_of_one_passage_is_that_passage():
    # LlamaIndex replaces it after one hit
    result = merged("c1")
    assert kept(result) == ["c1"]
    assert result.parents == ()


def test_a_section_of_one_passage_counts_for_the_next_level_but_not_alone():
    assert kept(merged("c1", threshold=0.2)) == ["c1"]
    assert kept(merged("c1", "b1", "b2")) == ["R"]
    assert kept(merged("d1", "d2")) == ["D"]


def test_a_parent_over_the_budget_does_not_take_over():
    scores = {"a1": 0.9, "a2": 0.8, "a3": 0.7, "b1": 0.6, "b2": 0.5}
    sizes = {"R": 2048, "A": 512, "B": 384}
    assert kept(merge(scores, PARENTS, CHILDREN, sizes=sizes, budget=1000)) == ["A", "B"]
    assert kept(merge(scores, PARENTS, CHILDREN, sizes=sizes, budget=400)) == ["a1", "a2", "a3", "B"]


def test_a_child_that_the_store_does_not_list_is_not_lost():
    stale = {**CHILDREN, "D": ["d1"]}
    assert kept(merge({"d1": 0.9, "d2": 0.8}, PARENTS, stale)) == ["D"]


def test_nothing_merges_to_nothing():
    assert merge({}, {}, {}) == Merged((), (), (), ())


def test_what_cannot_be_meant_is_refused():
    with pytest.raises(SettingsError, match=r"1\.5"):
        merged("a1", threshold=1.5)
    with pytest.raises(SettingsError, match="nan"):
        merged("a1", threshold=float("nan"))
    with pytest.raises(SettingsError, match="-1"):
        merged("a1", gap=-1)


def test_a_cycle_is_reported_as_damage():
    with pytest.raises(CorpusDamagedError, match="'x'"):
        merge({"x": 1.0}, {"x": "y", "y": "x"}, {"x": ["y"], "y": ["x"]})


SCORED = st.dictionaries(st.sampled_from(sorted(PARENTS)), st.floats(-10, 10), max_size=14)
SETTINGS = st.fixed_dictionaries(
    {"threshold": st.sampled_from([0.0, 0.2, 0.34, 0.5, 0.8, 1.0]), "gap": st.integers(0, 2)}
)
VISIBLE = st.sets(st.sampled_from(sorted(CHILDREN))).map(
    lambda gone: {parent: below for parent, below in CHILDREN.items() if parent not in gone}
)


@given(SCORED, VISIBLE, SETTINGS)
def test_every_candidate_is_in_exactly_one_passage(scores, visible, settings):
    result = merge(scores, PARENTS, visible, **settings)
    for candidate in scores:
        assert len([one for one in kept(result) if one in up(candidate)]) == 1
        assert [one.id for one in result.results if candidate in one.because] == [
            one for one in kept(result) if one in up(candidate)
        ]


@given(SCORED, VISIBLE, SETTINGS)
def test_no_passage_is_there_twice_or_inside_another(scores, visible, settings):
    ids = kept(merge(scores, PARENTS, visible, **settings))
    assert len(ids) == len(set(ids))
    assert not [one for one in ids if set(up(one)[1:]) & set(ids)]


@given(SCORED, VISIBLE, SETTINGS, st.data())
def test_the_order_of_the_candidates_does_not_matter(scores, visible, settings, data):
    shuffled = dict(data.draw(st.permutations(list(scores.items()))))
    assert merge(shuffled, PARENTS, visible, **settings) == merge(scores, PARENTS, visible, **settings)


@given(SCORED, VISIBLE, SETTINGS)
def test_merging_twice_changes_nothing(scores, visible, settings):
    once = {one.id: one.score for one in merge(scores, PARENTS, visible, **settings).results}
    twice = {one.id: one.score for one in merge(once, PARENTS, visible, **settings).results}
    assert twice == once


@given(SCORED, VISIBLE, SETTINGS)
def test_scores_are_the_best_of_their_candidates_and_arguments_stay(scores, visible, settings):
    before = copy.deepcopy((scores, visible))
    result = merge(scores, PARENTS, visible, **settings)
    assert (scores, visible) == before
    for one in result.results:
        assert one.score == (max(scores[candidate] for candidate in one.because) if one.because else one.score)
        assert one.id in scores or one.id in {*result.parents, *result.filled}
    assert sorted(result.results, key=lambda one: (-one.score, one.id)) == list(result.results)


@given(SCORED, VISIBLE, SETTINGS)
def test_what_may_not_be_read_never_comes_in(scores, visible, settings):
    result = merge(scores, PARENTS, visible, **settings)
    readable = {*visible, *itertools.chain(*visible.values()), *scores}
    assert set(kept(result)) <= readable
