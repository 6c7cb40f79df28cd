"""What kind of thing a question asks for."""

from __future__ import annotations

import pytest

from anabranch.synthesis.english_question_type import asks_in_english


@pytest.mark.parametrize(
    "question",
    [
        "When was it rebuilt?", "How many tokens were used?", "In which year did it open?",
        "What was the net loss in 2021?", "What is the diameter of the wheel?", "What's the price?",
    ],
)  # fmt: skip
def test_questions_for_a_figure(question: str) -> None:
    asks = asks_in_english(question)
    assert asks.figure
    assert not asks.name
    assert asks.is_figure("It opened in 1897.")
    assert asks.is_figure("They kept twelve herons.")
    assert not asks.is_figure("It opened late.")


@pytest.mark.parametrize(
    "question",
    ["Who rebuilt it?", "Whose eyes look out?", "In which village does he live?", "Where is it?", "What was the name?"],
)
def test_questions_for_a_name(question: str) -> None:
    asks = asks_in_english(question)
    assert asks.name
    assert not asks.figure


@pytest.mark.parametrize(
    "question",
    [
        "Why did it fail?",
        "How does it work?",
        "Is it true?",
        "",
        "?!",
        "نعم؟",
        "Wann wurde es gebaut?",
        "Wie viele Leute waren es?",
        "Wer hat es gebaut?",
        "Combien de modèles ?",
    ],
)
def test_questions_for_neither(question: str) -> None:
    asks = asks_in_english(question)
    assert not asks.is_figure("In 1897, Ida Marrow built it.")
    assert not asks.is_name("In 1897, Ida Marrow built it.")


def test_a_name_that_is_in_the_question_is_no_answer() -> None:
    asks = asks_in_english("Who built the Halden weir?")
    assert asks.is_name("It was Ida Marrow who built it.")
    assert not asks.is_name("Everybody knew the Halden well.")
    assert not asks.is_name("Nobody knows.")
