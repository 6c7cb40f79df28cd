"""The weight that is chosen for one question: in bounds, blind to order, and moved by what it should be moved by."""

from __future__ import annotations

import math
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.retrieval.fusion import completed, fuse
from anabranch.retrieval.fusion.question_weight import RARE_WORDS, QuestionEvidence, weigh
from anabranch.store.protocol import RankedList
from tests.retrieval.fusion.rankings import ANY_SCORES

BM25, COSINES, RARE = [27.0, 18.0, 9.0, 0.0], [0.64, 0.37, 0.3, 0.1], 18.0

SCORES = st.lists(ANY_SCORES, max_size=12)
RARES = st.floats(0, 100)


def weighed(bm25: list[float], cosines: list[float], rare: float = RARE) -> QuestionEvidence:
    return weigh(bm25, cosines, found=cosines, rare=rare)


def test_by_hand():
    found = weighed(BM25, COSINES)
    assert found.words == pytest.approx(1.5)
    assert found.nearness == pytest.approx(0.54 / 0.9)
    # Four passages are too few to tell what stands out.
    assert found.trust == 1
    assert found.alpha == pytest.approx(0.6 / (0.6 + 1.5 / RARE_WORDS))


def test_trust_by_hand():
    cosines = [0.5, 0.45, 0.4, 0.35, 0.3]
    excess, by_chance = (0.2 + 0.15 + 0.1 + 0.05) / 4, 1 + 1 / 2 + 1 / 3 + 1 / 4
    assert weighed(BM25, cosines).trust == pytest.approx(0.2 / (excess * by_chance))


def test_the_order_of_two_passages_is_that_of_their_scores_on_the_fixed_scales():
    ids = ["a", "b", "c", "d"]
    lists = [RankedList(ids=ids, scores=BM25), RankedList(ids=ids[::-1], scores=COSINES)]
    alpha = weighed(BM25, COSINES).alpha
    fused = fuse([lists], weights=[[1 - alpha, alpha]], method="complete")
    cosines = dict(zip(ids[::-1], COSINES, strict=True))
    fixed = {key: bm25 / (RARE_WORDS * RARE) + cosines[key] / 0.9 for key, bm25 in zip(ids, BM25, strict=True)}
    assert fused["ids"] == sorted(ids, key=lambda key: -fixed[key])


def test_an_embedder_that_finds_everything_alike_near_is_trusted_less():
    flat = [0.91, 0.905, 0.9, 0.895, 0.89, 0.885, 0.88, 0.875, 0.87, 0.865]
    sharp = [0.91, 0.89, 0.88, 0.875, 0.872, 0.87, 0.868, 0.867, 0.866, 0.865]
    assert weighed(BM25, flat).trust < 0.75 < weighed(BM25, sharp).trust
    assert weighed(BM25, flat).alpha < weighed(BM25, sharp).alpha


def test_a_list_with_one_passage_far_above_the_rest_is_trusted_fully():
    assert weighed(BM25, [0.8, *[0.3] * 9, 0.29]).trust == 1


def test_a_question_whose_words_hardly_match_leans_on_the_embedder():
    assert weighed([2.0, 1.0, 0.0], COSINES).alpha > 0.85


def test_a_question_of_rare_words_leans_on_them():
    assert weighed([150.0, 20.0, 0.0], COSINES).alpha < 0.2


@pytest.mark.parametrize(
    ("bm25", "cosines", "alpha"),
    [
        ([], [0.5, 0.1], 1.0),
        ([0.0, 0.0], [0.5, 0.1], 1.0),
        ([9.0, 1.0], [0.5, 0.5], 0.0),
        ([9.0, 1.0], [], 0.0),
        ([9.0], [0.5], 0.5),
        ([], [], 0.5),
    ],
)
def test_a_list_that_cannot_tell_its_passages_apart_has_no_say(bm25: list[float], cosines: list[float], alpha: float):
    assert weighed(bm25, cosines).alpha == alpha


@given(SCORES, SCORES, SCORES, RARES)
def test_any_scores_give_a_weight_in_bounds(
    bm25: list[float | None], cosines: list[float | None], found: list[float | None], rare: float
):
    evidence = weigh(bm25, cosines, found=found, rare=rare)
    assert all(math.isfinite(value) and value >= 0 for value in astuple(evidence))
    assert evidence.alpha <= 1
    assert evidence.trust <= 1


@given(st.data(), SCORES, SCORES, RARES)
def test_the_order_of_the_scores_does_not_matter(
    data: st.DataObject, bm25: list[float | None], cosines: list[float | None], rare: float
):
    shuffled = data.draw(st.permutations(bm25)), data.draw(st.permutations(cosines))
    assert weigh(*shuffled, found=shuffled[1], rare=rare) == weigh(bm25, cosines, found=cosines, rare=rare)


@given(st.lists(st.floats(0, 50), min_size=2, max_size=8), st.floats(1, 10))
def test_more_matching_words_never_weigh_the_embedder_up(bm25: list[float], times: float):
    assert weighed([score * times for score in bm25], COSINES).alpha <= weighed(bm25, COSINES).alpha + 1e-12


RAW = st.floats(0, 40).map(lambda score: round(score, 3))
COSINE = st.floats(-0.2, 1).map(lambda score: round(score, 3))
PASSAGES = st.lists(st.tuples(RAW, COSINE), min_size=12, max_size=30)
FAR = st.lists(st.floats(-1, -0.2), max_size=40)


@given(PASSAGES, FAR, st.integers(5, 12))
def test_documents_about_something_else_reorder_nothing(
    passages: list[tuple[float, float]], far: list[float], depth: int
):
    """Far from the question and without any of its words, they are in neither list."""

    def ranked(cosines: dict[str, float]) -> list[str]:
        near = sorted(cosines, key=lambda key: (-cosines[key], key))[:depth]
        words = [key for key in sorted(bm25, key=lambda key: (-bm25[key], key)) if bm25[key] > 0][:depth]
        every = {*near, *words}
        dense = RankedList(ids=near, scores=[cosines[key] for key in near])
        by_words = RankedList(ids=words, scores=[bm25[key] for key in words])
        full = [
            completed(by_words, {key: bm25.get(key, 0.0) for key in every}),
            completed(dense, {key: cosines[key] for key in every}),
        ]
        alpha = weigh(full[0]["scores"], full[1]["scores"], found=dense["scores"], rare=RARE).alpha
        return fuse([full], weights=[[1 - alpha, alpha]], method="complete")["ids"]

    bm25 = {f"p{place:02}": words for place, (words, _) in enumerate(passages)}
    cosines = {f"p{place:02}": cosine for place, (_, cosine) in enumerate(passages)}
    others = {f"q{place:02}": cosine for place, cosine in enumerate(far)}
    assert ranked({**cosines, **others}) == ranked(cosines)
