"""The weight that is chosen for one question: in bounds, blind to order, and moved by what it should be moved by."""

from __future__ import annotations

import math
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.retrieval.fusion import fuse
from anabranch.retrieval.fusion.question_weight import RARE_WORDS, weigh
from anabranch.store.protocol import Background, RankedList
from tests.retrieval.fusion.rankings import ANY_SCORES

USUAL = Background(passages=2000, mean=0.1, deviation=0.1, rare=18.0)
BM25, COSINES = [27.0, 18.0, 9.0, 0.0], [0.64, 0.37, 0.3, 0.1]

SCORES = st.lists(ANY_SCORES, max_size=12)
BACKGROUNDS = st.builds(
    Background,
    passages=st.integers(0, 10**7),
    mean=st.floats(-1, 1),
    deviation=st.floats(0, 1),
    rare=st.floats(0, 100),
)


def test_by_hand():
    found = weigh(BM25, COSINES, USUAL)
    assert found.words == pytest.approx(1.5)
    assert found.nearness == pytest.approx(0.6)
    assert found.prominence > 1
    assert found.alpha == pytest.approx(0.6 / (0.6 + 1.5 / RARE_WORDS))


def test_the_order_of_two_passages_is_that_of_their_scores_on_the_fixed_scales():
    ids = ["a", "b", "c", "d"]
    lists = [RankedList(ids=ids, scores=BM25), RankedList(ids=ids[::-1], scores=COSINES)]
    alpha = weigh(BM25, COSINES, USUAL).alpha
    fused = fuse([lists], weights=[[1 - alpha, alpha]], method="complete")
    cosines = dict(zip(ids[::-1], COSINES, strict=True))
    fixed = {key: bm25 / (RARE_WORDS * 18) + cosines[key] / 0.9 for key, bm25 in zip(ids, BM25, strict=True)}
    assert fused["ids"] == sorted(ids, key=lambda key: -fixed[key])


def test_an_embedder_that_finds_everything_alike_near_is_not_trusted():
    # As MiniLM does with a question in Arabic: all cosines high, and the best no higher than some are by chance.
    foreign = Background(passages=2000, mean=0.7, deviation=0.1, rare=18.0)
    found = weigh(BM25, [0.91, 0.9, 0.89, 0.88], foreign)
    assert found.prominence < 0.7
    assert found.alpha < 0.05


def test_a_question_whose_words_hardly_match_leans_on_the_embedder():
    assert weigh([2.0, 1.0, 0.0], COSINES, USUAL).alpha > 0.9


def test_a_question_of_rare_words_leans_on_them():
    assert weigh([150.0, 20.0, 0.0], COSINES, USUAL).alpha < 0.2


@pytest.mark.parametrize(
    ("bm25", "cosines", "alpha"),
    [
        ([], [0.5, 0.1], 1.0),
        ([0.0, 0.0], [0.5, 0.1], 1.0),
        ([9.0, 1.0], [0.5, 0.5], 0.0),
        ([9.0], [0.5], 0.5),
        ([], [], 0.5),
    ],
)
def test_a_list_that_cannot_tell_its_passages_apart_has_no_say(bm25: list[float], cosines: list[float], alpha: float):
    assert weigh(bm25, cosines, USUAL).alpha == alpha


@pytest.mark.parametrize(
    "background", [Background(0, 0.0, 0.0, 0.0), Background(1, 0.4, 0.0, 0.0), Background(2, 0.4, 0.1, 0.0)]
)
def test_a_tiny_corpus_is_weighed_too(background: Background):
    assert 0 < weigh([0.3, 0.1], [0.5, 0.3], background).alpha < 1


@given(SCORES, SCORES, BACKGROUNDS)
def test_any_scores_give_a_weight_in_bounds(
    bm25: list[float | None], cosines: list[float | None], background: Background
):
    found = weigh(bm25, cosines, background)
    assert all(math.isfinite(value) and value >= 0 for value in astuple(found))
    assert found.alpha <= 1


@given(st.data(), SCORES, SCORES, BACKGROUNDS)
def test_the_order_of_the_scores_does_not_matter(
    data: st.DataObject, bm25: list[float | None], cosines: list[float | None], background: Background
):
    shuffled = data.draw(st.permutations(bm25)), data.draw(st.permutations(cosines))
    assert weigh(*shuffled, background) == weigh(bm25, cosines, background)


@given(st.lists(st.floats(0, 50), min_size=2, max_size=8), st.floats(1, 10))
def test_more_matching_words_never_weigh_the_embedder_up(bm25: list[float], times: float):
    assert weigh([score * times for score in bm25], COSINES, USUAL).alpha <= weigh(bm25, COSINES, USUAL).alpha + 1e-12


@given(st.floats(0.01, 1), st.floats(0.01, 1))
def test_the_less_the_best_stands_out_the_less_the_embedder_weighs(one: float, other: float):
    narrow, wide = sorted([one, other])
    there, elsewhere = (weigh(BM25, COSINES, USUAL._replace(deviation=each)).alpha for each in (narrow, wide))
    assert elsewhere <= there
