from __future__ import annotations

import pytest

from anabranch_evaluation.answer_quality import auc
from anabranch_evaluation.judge_pairs import JudgePair, judge_score, read_judge_pairs

PAIRS = read_judge_pairs()


def test_each_true_statement_has_a_false_twin() -> None:
    assert len(PAIRS) == 40
    for true, false in zip(PAIRS[::2], PAIRS[1::2], strict=True):
        assert (true.is_true, false.is_true) == (True, False)
        assert (true.passage, true.question, true.kind) == (false.passage, false.question, false.kind)
    assert len({pair.kind for pair in PAIRS}) >= 8
    assert len({pair.language for pair in PAIRS}) >= 4


def _shared(pair: JudgePair) -> float:
    said, there = (set(text.casefold().replace(".", " ").split()) for text in (pair.claim, pair.passage))
    return len(said & there) / len(said)


@pytest.mark.parametrize("baseline", [lambda pair: float(len(pair.claim)), _shared])
def test_neither_length_nor_shared_words_tell_the_true_ones(baseline: object) -> None:
    assert callable(baseline)
    found = auc(
        [baseline(each) for each in PAIRS if each.is_true], [baseline(each) for each in PAIRS if not each.is_true]
    )
    assert found is not None
    assert found < 0.7


def test_who_knows_every_answer_can_judge() -> None:
    score = judge_score(PAIRS, [0.9 if pair.is_true else 0.2 for pair in PAIRS])
    assert (score.auc, score.held, score.refused, score.can_judge) == (1.0, 20, 20, True)


def test_who_says_yes_to_all_cannot() -> None:
    score = judge_score(PAIRS, [1.0] * 40)
    assert (score.auc, score.held, score.refused, score.can_judge) == (0.5, 20, 0, False)


def test_who_orders_them_can_though_all_are_held_to_be_true() -> None:
    score = judge_score(PAIRS, [0.9 if pair.is_true else 0.8 for pair in PAIRS])
    assert (score.auc, score.refused, score.can_judge) == (1.0, 0, True)


@pytest.mark.parametrize(("silent", "can"), [(4, True), (6, False), (40, False)])
def test_who_gives_no_answer_too_often_cannot(silent: int, can: bool) -> None:
    chances = [None if at < silent else float(pair.is_true) for at, pair in enumerate(PAIRS)]
    score = judge_score(PAIRS, chances)
    assert (score.true + score.false, score.can_judge) == (40 - silent, can)
