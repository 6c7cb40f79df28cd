"""The weight that is chosen for one question: in bounds, blind to order, and moved by what it should be moved by."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.retrieval.fusion import complete, fuse
from anabranch.retrieval.fusion.question_weight import QuestionEvidence, weigh
from anabranch.store.protocol import RankedList
from tests.retrieval.fusion.rankings import ANY_SCORES

SCORES = st.lists(ANY_SCORES, max_size=12)


def test_by_hand():
    excess, by_chance = (0.2 + 0.15 + 0.1 + 0.05) / 4, 1 + 1 / 2 + 1 / 3 + 1 / 4
    found = weigh([0.5, 0.45, 0.4, 0.35, 0.3])
    assert found.trust == pytest.approx(0.2 / (excess * by_chance))
    assert found.alpha == pytest.approx(math.sqrt(found.trust) / 2)


def test_an_embedder_that_finds_everything_alike_near_is_trusted_less():
    flat = [0.91, 0.905, 0.9, 0.895, 0.89, 0.885, 0.88, 0.875, 0.87, 0.865]
    sharp = [0.91, 0.89, 0.88, 0.875, 0.872, 0.87, 0.868, 0.867, 0.866, 0.865]
    assert weigh(flat).trust < 0.75 < weigh(sharp).trust
    assert weigh(flat).alpha < weigh(sharp).alpha


@pytest.mark.parametrize(
    "found",
    [
        pytest.param([0.8, *[0.3] * 9, 0.29], id="one passage is far above the rest"),
        pytest.param([0.64, 0.37, 0.3, 0.1], id="four are too few to tell what stands out"),
        pytest.param([0.5] * 9, id="none stands out, and none decides anything"),
        pytest.param([], id="nothing was found"),
    ],
)
def test_both_weigh_the_same(found: list[float]):
    assert (weigh(found).alpha, weigh(found).trust) == (0.5, 1)


@given(SCORES)
def test_any_scores_give_a_weight_in_bounds(found: list[float | None]):
    evidence = weigh(found)
    assert all(math.isfinite(value) for value in (evidence.alpha, evidence.trust))
    assert 0 <= evidence.alpha <= 0.5
    assert 0 <= evidence.trust <= 1


@given(st.data(), SCORES)
def test_the_order_of_the_scores_does_not_matter(data: st.DataObject, found: list[float | None]):
    assert weigh(data.draw(st.permutations(found))) == weigh(found)


def test_words_that_the_documents_lack_turn_the_weight_to_the_vectors():
    found = [0.8, *[0.3] * 9, 0.29]
    assert weigh(found, 1.0).alpha == weigh(found).alpha == 0.5
    assert weigh(found, 0.5).alpha == pytest.approx(0.5 / (0.5 + 0.5 * 0.25))
    assert weigh(found, 0.0) == QuestionEvidence(1.0, 1.0, 0.0)


@given(SCORES, st.floats(0, 1), st.floats(0, 1))
def test_the_more_words_are_known_the_more_bm25_weighs(found: list[float | None], first: float, second: float):
    fewer, more = weigh(found, min(first, second)).alpha, weigh(found, max(first, second)).alpha
    assert 0 <= weigh(found).alpha <= more <= fewer <= 1


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
            complete(by_words, {key: bm25.get(key, 0.0) for key in every}),
            complete(dense, {key: cosines[key] for key in every}),
        ]
        alpha = weigh(dense["scores"]).alpha
        return fuse([full], weights=[[1 - alpha, alpha]], method="complete")["ids"]

    bm25 = {f"p{place:02}": words for place, (words, _) in enumerate(passages)}
    cosines = {f"p{place:02}": cosine for place, (_, cosine) in enumerate(passages)}
    others = {f"q{place:02}": cosine for place, cosine in enumerate(far)}
    assert ranked({**cosines, **others}) == ranked(cosines)
