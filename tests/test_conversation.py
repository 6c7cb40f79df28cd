"""Follow-up questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.conversation import Turn, condense_reply, follow_up, leans, transcript

TURNS = [Turn("Who wrote The Great Gatsby?", "F. Scott Fitzgerald wrote it [1].")]


@pytest.mark.parametrize("question", ["When did he write it?", "And the film?", "Why?", "What about those others?"])
def test_a_leaning_question_takes_the_one_before_it_along(question: str) -> None:
    assert leans(question)
    assert follow_up(question, TURNS) == f"Who wrote The Great Gatsby? {question}"


def test_a_change_of_subject_is_left_alone() -> None:
    question = "How many tokens were the Llama 2 models trained on?"
    assert follow_up(question, TURNS) == question


def test_a_first_question_is_left_alone() -> None:
    assert follow_up("When did he write it?", []) == "When did he write it?"


def test_a_reply_is_cleaned_of_its_wrapping() -> None:
    assert condense_reply('Standalone question: "When was Gatsby written?"\n', "When?") == "When was Gatsby written?"


@pytest.mark.parametrize("reply", ["", "   \n ", "I think:\nWhen was Gatsby written?", "x" * 5000])
def test_a_reply_that_is_no_question_is_refused(reply: str) -> None:
    assert condense_reply(reply, "When was it written?") == "When was it written?"


@given(st.text(max_size=500), st.text(min_size=1, max_size=50))
def test_reading_a_reply_never_fails_and_never_empties_the_question(reply: str, question: str) -> None:
    assert condense_reply(reply, question)


def test_the_transcript_is_bounded_and_loses_links() -> None:
    turns = [Turn(f"question {n}", "see http://evil.example/x " + "word " * 1000) for n in range(50)]
    text = transcript(turns, "last?")
    assert len(text) < 6_000
    assert "evil.example" not in text
    assert text.endswith("Last question: last?")
    assert "question 0\n" not in text
