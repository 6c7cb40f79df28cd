"""Rounds of a chain: what the first search found is never lost, and what a further one brings has a bound."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from anabranch.retrieval.query_chain import (
    FOLLOWED,
    MAX_LEAVES,
    count_hops,
    current_queries,
    is_open,
    join_rounds,
    list_asked,
    list_brought,
)
from anabranch.types import NO_CHAIN, Candidate, Chain, Link, Passage, Query

STEPS = ["Who designed it?", "Where did {found} live?", "Which river is near {found}?"]


def candidate(name: str, score: float) -> Candidate:
    return Candidate(id=name, score=score, ranks={}, fused=1)


def link(value: str, hop: int) -> Link:
    query = STEPS[hop].replace("{found}", value)
    return Link(asked="", value=value, chunk_id="c", start=0, end=1, query=query, hop=hop)


def chain(*links: Link, **changes: Any) -> Chain:
    return Chain(**{**NO_CHAIN, "steps": STEPS, "links": list(links), **changes})  # type: ignore[typeddict-item]


ranked = st.lists(st.tuples(st.integers(0, 60), st.floats(0, 1)), unique_by=lambda pair: pair[0], max_size=40).map(
    lambda pairs: [candidate(f"c{key}", score) for key, score in sorted(pairs, key=lambda pair: -pair[1])]
)


@given(ranked, ranked)
def test_nothing_of_the_first_search_is_lost_and_its_order_stays(
    before: list[Candidate], found: list[Candidate]
) -> None:
    joined, added = join_rounds(before, found)
    ids = [each["id"] for each in joined]
    first = [each["id"] for each in before]
    promoted = {each["id"] for each in found[:MAX_LEAVES]}
    assert set(first) <= set(ids)
    assert [key for key in ids if key in first and key not in promoted] == [key for key in first if key not in promoted]
    assert set(added) == promoted - set(first)
    assert len(ids) == len(set(ids)) == len(before) + len(added)
    assert len(added) <= MAX_LEAVES
    assert [each["score"] for each in joined] == sorted((each["score"] for each in joined), reverse=True)
    scores = {each["id"]: each["score"] for each in joined}
    assert all(scores[each["id"]] >= each["score"] for each in before)


@given(ranked, ranked)
def test_the_best_of_a_further_round_is_behind_the_best_of_the_first_at_most(
    before: list[Candidate], found: list[Candidate]
) -> None:
    joined, _ = join_rounds(before, found)
    ids = [each["id"] for each in joined]
    tied = [each for each in before if before and each["score"] == before[0]["score"]]
    if found:
        assert ids.index(found[0]["id"]) <= len(tied)


def test_ranks_of_two_rounds_alternate() -> None:
    before = [candidate(name, score) for name, score in (("a", 0.9), ("b", 0.5), ("c", 0.1))]
    found = [candidate(name, score) for name, score in (("x", 9.0), ("b", 8.0), ("y", 7.0), ("z", 6.0))]
    joined, added = join_rounds(before, found, most=3)
    assert [(each["id"], each["score"]) for each in joined] == [
        ("a", 0.9), ("x", 0.9), ("b", 0.5), ("c", 0.1), ("y", 0.1)
    ]  # fmt: skip
    assert added == ["x", "y"]


def test_without_a_first_search_the_scores_stay() -> None:
    assert join_rounds([], [candidate("x", 0.7)]) == ([candidate("x", 0.7)], ["x"])
    assert join_rounds([candidate("x", 0.7)], []) == ([candidate("x", 0.7)], [])


def test_the_questions_of_a_step_are_one_for_each_value() -> None:
    assert list_asked(chain()) == ["Who designed it?"]
    assert list_asked(chain(link("Mira", 1), link("Edda", 1))) == ["Where did Mira live?", "Where did Edda live?"]
    third = chain(link("Mira", 1), link("Bonn", 2))
    assert list_asked(third) == ["Which river is near Bonn?"]
    assert count_hops(third) == 2


def test_a_chain_is_open_while_its_plan_has_a_step_and_the_settings_a_hop() -> None:
    assert not is_open(None, 2)
    assert not is_open(NO_CHAIN, 2)
    assert not is_open(chain(), 0)
    assert is_open(chain(), 1)
    assert not is_open(chain(link("Mira", 1)), 1)
    assert is_open(chain(link("Mira", 1)), 2)
    assert not is_open(chain(link("Mira", 1), link("Bonn", 2)), 5)
    assert not is_open(chain(ended="the model failed"), 2)


def test_a_round_has_the_queries_of_its_values_alone() -> None:
    asked = Query(text="Where?", weight=1.0, kind="asked")
    older, newer = (Query(text=link(name, 1)["query"], weight=1.0, kind=FOLLOWED) for name in ("Mira", "Edda"))
    assert current_queries([asked], None) == [asked]
    assert current_queries([asked], chain()) == [asked]
    before = [candidate("c1", 1.0)]
    both = chain(link("Mira", 1), link("Edda", 1), before=before)
    assert current_queries([asked, older, newer], both) == [older, newer]
    last = Query(text=link("Bonn", 2)["query"], weight=1.0, kind=FOLLOWED)
    assert current_queries([asked, older, last], chain(link("Mira", 1), link("Bonn", 2), before=before)) == [last]


def test_a_round_that_has_ended_or_was_edited_has_all_queries() -> None:
    asked = Query(text="Where?", weight=1.0, kind="asked")
    assert current_queries([asked], chain(link("Mira", 1))) == [asked]
    assert current_queries([asked], chain(link("Mira", 1), before=[candidate("c1", 1.0)])) == [asked]


def test_what_a_further_round_brought_consists_of_its_leaves() -> None:
    """A passage without leaves, which a step of the user's may write, is no such one."""

    def passage(name: str, *leaves: str) -> Passage:
        return Passage(id=name, score=1.0, leaves=list(leaves), source="", page=None, preview="")

    passages = [passage("a", "x"), passage("b", "x", "y"), passage("c", "z"), passage("d")]
    assert list_brought(chain(leaves=["x", "y"]), passages) == ["a", "b"]
    assert list_brought(NO_CHAIN, passages) == []
