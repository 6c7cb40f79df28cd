"""The order of passages after judgement."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anabranch.agent.nodes.rerank import rank_by_relevance


def test_unjudged_passages_come_after_relevant_ones_and_before_irrelevant_ones():
    ranking = rank_by_relevance(["a", "b", "c", "d", "e"], {1: 0.0, 2: 9.0, 4: 2.0})
    assert ranking == {"ids": ["c", "e", "a", "d", "b"], "scores": [9.0, 2.0, 0.0, 0.0, 0.0]}
    assert rank_by_relevance(["a", "b", "c"], {1: 3.0, 2: 9.0}, floor=4.0)["ids"] == ["c", "a", "b"]


def test_without_judgements_the_prior_order_stays():
    # LlamaIndex answers "Empty Response" here
    assert rank_by_relevance(["c", "a", "b"], {})["ids"] == ["c", "a", "b"]


@given(
    st.lists(st.text(max_size=3), unique=True, max_size=8),
    st.dictionaries(st.integers(-2, 9), st.floats(0, 10), max_size=10),
)
def test_ranking_loses_and_adds_no_passage(ids: list[str], scores: dict[int, float]):
    ranking = rank_by_relevance(ids, scores)
    assert sorted(ranking["ids"]) == sorted(ids)
    assert ranking["scores"] == sorted(ranking["scores"], reverse=True)
