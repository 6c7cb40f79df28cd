"""`anabranch.retrieval.fusion` itself: the registry, the order of ids, and the two levels."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.retrieval.fusion import FUSIONS, fuse, rank, reciprocal_rank
from anabranch.store.protocol import RankedList
from tests.retrieval.fusion.rankings import WEIGHTS, make, rankings

METHODS = sorted(FUSIONS)


def test_ranked_breaks_ties_by_id():
    assert rank({"b": 1.0, "c": 2.0, "a": 1.0}) == {"ids": ["c", "a", "b"], "scores": [2.0, 1.0, 1.0]}


def test_ranked_never_lets_nan_into_a_checkpoint():
    assert rank({"a": math.nan, "b": 0.2, "c": -math.inf, "d": 0.9}) == {
        "ids": ["d", "a", "b", "c"],
        "scores": [0.9, 0.2, 0.2, 0.2],
    }


def test_the_original_query_weighs_most():
    assert fuse([[make(["a"])], [make(["b"])]], [1.0, 0.5])["ids"] == ["a", "b"]
    assert fuse([[make(["b"])], [make(["a"])]], [1.0, 0.5])["ids"] == ["b", "a"]


def test_rank_fusion_in_two_levels_is_rank_fusion_of_all_lists():
    lists = [[make(["a", "b", "c"]), make(["b", "d"])], [make(["d", "a"]), make(["c"])]]
    flat = reciprocal_rank([lists[0][0], lists[0][1], lists[1][0], lists[1][1]], [0.6, 1.4, 0.3, 0.7])
    fused = fuse(lists, [1.0, 0.5], [[0.6, 1.4]] * 2)
    assert dict(zip(fused["ids"], fused["scores"], strict=True)) == pytest.approx(flat)


@pytest.mark.parametrize("method", METHODS)
def test_a_retriever_that_failed_leaves_the_others_standing(method: str):
    bm25 = [make(["a", "b"]), make(["b", "c"])]
    fused = fuse([[one, make([])] for one in bm25], method=method)  # type: ignore[arg-type]
    assert fused["ids"] == fuse([[one] for one in bm25], method=method)["ids"]  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
def test_nothing_fuses_to_nothing(method: str):
    assert fuse([], method=method) == {"ids": [], "scores": []}  # type: ignore[arg-type]
    assert fuse([[make([]), make([])]], method=method) == {"ids": [], "scores": []}  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
@given(
    data=st.data(),
    queries=st.lists(st.tuples(WEIGHTS, rankings(), rankings()), min_size=1, max_size=4),
    retrievers=st.tuples(WEIGHTS, st.floats(0.1, 10)),
)
def test_neither_the_order_of_queries_nor_of_retrievers_matters(
    method: str,
    data: st.DataObject,
    queries: list[tuple[float, RankedList, RankedList]],
    retrievers: tuple[float, float],
):
    order = data.draw(st.permutations(queries))
    there = fuse([[a, b] for _, a, b in queries], [w for w, _, _ in queries], [retrievers] * len(queries), method)  # type: ignore[arg-type]
    back = fuse([[b, a] for _, a, b in order], [w for w, _, _ in order], [retrievers[::-1]] * len(order), method)  # type: ignore[arg-type]
    assert there == back


@pytest.mark.parametrize("method", METHODS)
@given(lists=st.lists(rankings(), min_size=1, max_size=3), other=rankings())
def test_a_query_or_a_retriever_of_weight_zero_is_absent(method: str, lists: list[RankedList], other: RankedList):
    plain = fuse([[one] for one in lists], [1.0] * len(lists), method=method)  # type: ignore[arg-type]
    both = [[one, other] for one in [*lists, other]]
    more = fuse(both, [1.0] * len(lists) + [0.0], [[1.0, 0.0]] * len(both), method)  # type: ignore[arg-type]
    assert more == plain
