from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch_evaluation.answer_quality import (
    Outcome,
    QuestionKind,
    WrittenAnswer,
    auc,
    measures_of,
    outcome_of,
)
from anabranch_evaluation.queries import Gold


def _written(text: str, passages: str = "", confidence: float = 0.5) -> WrittenAnswer:
    best = passages.partition(".")[0]
    return WrittenAnswer(text, passages, best, is_weak=confidence < 0.5, confidence=confidence, features={})


def _outcome(kind: QuestionKind, confidence: float, text: str = "x") -> Outcome:
    return outcome_of("q", kind, _written(text, confidence=confidence), Gold(answers=("x",)))


def test_an_answer_is_held_against_what_is_known() -> None:
    gold = Gold(answers=("Ida Marrow",))
    outcome = outcome_of("q", "own", _written("It was Ida Marrow.", "The engineer of the weir was Ida Marrow."), gold)
    assert (outcome.holds, outcome.reachable, outcome.first) == (True, True, True)
    missed = outcome_of("q", "own", _written("It was late.", "It was Ida Marrow."), gold)
    assert (missed.holds, missed.reachable, missed.first) == (False, True, True)
    assert outcome_of("q", "own", _written("", "Ida Marrow"), gold).holds is False


def test_the_best_leaf_alone_is_the_control_for_length() -> None:
    found = outcome_of("q", "own", _written("Ida Marrow", "It was late. Ida Marrow."), Gold(answers=("Ida Marrow",)))
    assert (found.holds, found.first) == (True, False)


def test_half_of_the_words_of_the_reference_sentences_count_as_the_answer() -> None:
    gold = Gold(references=("otters hold hands while asleep",))
    assert outcome_of("q", "own", _written("Otters hold hands."), gold).holds
    assert not outcome_of("q", "own", _written("Otters sleep."), gold).holds


def test_no_answer_is_right_to_a_question_that_has_none() -> None:
    outcome = outcome_of("q", "elsewhere", _written("Ida Marrow"), Gold(answers=("Ida Marrow",)))
    assert outcome.holds is None
    assert measures_of([outcome])["compared"] == 0
    assert measures_of([outcome])["contains"] is None


def test_what_was_not_found_holds_nothing_and_has_no_length() -> None:
    found = measures_of([_outcome("own", 0.9, "x and more"), _outcome("own", 0.1, "")])
    assert (found["compared"], found["contains"], found["chars"]) == (2, 0.5, 5.0)


def test_kinds_are_compared_with_the_own_questions() -> None:
    rows = [_outcome("own", 0.9), _outcome("own", 0.4), _outcome("elsewhere", 0.4), _outcome("removed", 0.6)]
    found = measures_of(rows)
    assert found["weak_own"] == 0.5
    assert (found["weak_elsewhere"], found["weak_removed"], found["weak_marked"]) == (1.0, 0.0, None)
    assert (found["auc_elsewhere"], found["auc_removed"], found["auc_marked"]) == (0.75, 0.5, None)
    assert (found["asked_own"], found["asked_elsewhere"], found["asked_marked"]) == (2, 1, 0)
    assert measures_of([])["weak_own"] is None
    assert measures_of([_outcome("elsewhere", 1)])["auc_elsewhere"] is None


SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9]), min_size=1, max_size=12)


@given(SCORES, SCORES)
def test_auc_is_the_share_of_pairs_in_order(higher: list[float], lower: list[float]) -> None:
    pairs = [(1.0 if a > b else 0.5 if a == b else 0.0) for a in higher for b in lower]
    assert auc(higher, lower) == pytest.approx(sum(pairs) / len(pairs))


def test_without_both_kinds_there_is_no_auc() -> None:
    assert auc([], [0.1]) is None
    assert auc([0.1], []) is None
