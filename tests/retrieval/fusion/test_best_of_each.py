"""What a retriever finds first is among the first of the fused list, whatever the weights say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anabranch.retrieval.fusion import PLACES, promote_best
from anabranch.store.protocol import RankedList

IDS = [f"c{number:02}" for number in range(30)]


def ranking(ids: list[str]) -> RankedList:
    return RankedList(ids=ids, scores=[1 - place / 100 for place in range(len(ids))])


def test_the_best_of_a_retriever_moves_up_and_the_rest_keeps_its_order():
    moved = promote_best(ranking(IDS), [ranking(IDS), ranking([IDS[20], IDS[0]])])
    assert moved["ids"] == [*IDS[:7], IDS[20], IDS[7], *IDS[8:20], *IDS[21:]]
    assert moved["scores"] == ranking(IDS)["scores"]


def test_a_list_that_has_them_all_in_front_stays_as_it_is():
    assert promote_best(ranking(IDS), [ranking(IDS[7:]), ranking(IDS[3:]), ranking([])]) == ranking(IDS)


@given(st.permutations(IDS), st.lists(st.sampled_from(IDS), max_size=12))
def test_every_best_one_is_among_the_first_and_nothing_is_lost(fused: list[str], firsts: list[str]):
    moved = promote_best(ranking(fused), [ranking([first]) for first in firsts])
    assert set(firsts) <= set(moved["ids"][: max(PLACES, len(set(firsts)))])
    assert sorted(moved["ids"]) == sorted(IDS)
    assert moved["scores"] == sorted(moved["scores"], reverse=True)
    others = [chunk_id for chunk_id in moved["ids"] if chunk_id not in firsts]
    assert others == [chunk_id for chunk_id in fused if chunk_id not in firsts]
