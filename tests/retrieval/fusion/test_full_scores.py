"""Lists with every score: nothing is lost, nothing is invented, and the order of what was known stays."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from anabranch.retrieval.fusion import complete, convex
from anabranch.store.protocol import RankedList
from tests.retrieval.fusion.rankings import IDS, SCORES, rankings

KNOWN = st.dictionaries(IDS, SCORES)


def test_what_the_list_lacks_is_put_where_it_belongs():
    found = RankedList(ids=["a", "b"], scores=[9.0, 4.0])
    assert complete(found, {"c": 3.5, "b": 4.0, "d": 0.0}) == {
        "ids": ["a", "b", "c", "d"],
        "scores": [9.0, 4.0, 3.5, 0.0],
    }


def test_a_passage_below_the_end_of_a_list_no_longer_counts_as_nothing():
    first, second = RankedList(ids=["a", "b"], scores=[9.0, 8.0]), RankedList(ids=["c", "d"], scores=[0.5, 0.4])
    cut = convex([first, second], [1.0, 1.0])
    assert cut["a"] == cut["c"]
    whole = convex([complete(first, {"c": 7.9, "d": 0.0}), complete(second, {"a": 0.1, "b": 0.1})], [1.0, 1.0])
    assert whole["c"] > whole["a"] > whole["d"]


@given(rankings())
def test_a_list_that_lacks_nothing_stays_as_it_is_but_for_ties(found: RankedList):
    whole = complete(found, {})
    assert dict(zip(whole["ids"], whole["scores"], strict=True)) == dict(
        zip(found["ids"], found["scores"], strict=True)
    )
    assert whole["scores"] == found["scores"]


@given(rankings(), KNOWN)
def test_it_holds_every_id_once_in_descending_scores_and_nothing_is_changed(found: RankedList, known: dict[str, float]):
    before = copy.deepcopy((found, known))
    whole = complete(found, known)
    assert repr((found, known)) == repr(before)
    assert sorted(whole["ids"]) == sorted({*known, *found["ids"]})
    assert whole["scores"] == sorted(whole["scores"], reverse=True)


@given(rankings(), KNOWN)
def test_once_is_enough(found: RankedList, known: dict[str, float]):
    assert complete(complete(found, known), known) == complete(found, known)
