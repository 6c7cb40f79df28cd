"""Which second questions need the first, measured on made-up ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.leaning import leans, may_lean
from tests.follow_ups import FOLLOW_UPS, SAYING_LITTLE, TOPIC_CHANGES, UNSEEN_CHANGES, UNSEEN_FOLLOW_UPS


@pytest.mark.parametrize("question", FOLLOW_UPS)
def test_a_follow_up_leans(question: str) -> None:
    assert leans(question)


@pytest.mark.parametrize("question", SAYING_LITTLE)
def test_a_question_that_says_little_may_lean(question: str) -> None:
    assert may_lean(question)
    assert not leans(question)


@pytest.mark.parametrize("question", TOPIC_CHANGES)
def test_a_change_of_subject_does_not(question: str) -> None:
    assert not may_lean(question)


def test_questions_that_the_rules_were_not_made_for() -> None:
    assert [question for question in UNSEEN_FOLLOW_UPS if not may_lean(question)] == []
    assert [question for question in UNSEEN_FOLLOW_UPS if not leans(question)] == ["Give me an example."]
    assert [question for question in UNSEEN_CHANGES if leans(question)] == []
    # What costs a call that changes nothing.
    assert len([question for question in UNSEEN_CHANGES if may_lean(question)]) <= 3


@given(st.text(max_size=200))
def test_any_text_is_judged_and_leaning_is_the_stronger_word(question: str) -> None:
    assert may_lean(question) or not leans(question)


@pytest.mark.work(60)
@pytest.mark.parametrize("unit", ["it ", "the same ", "that is ", "A. ", "was it true "])
def test_work_is_bounded(unit: str) -> None:
    may_lean(unit * (10_000 // len(unit)))
