"""An answer holds one of the spellings that are expected, or does not; an English reply refuses, or does not."""

from __future__ import annotations

import pytest

from evals.synthesis.scoring import contains, is_english_refusal


@pytest.mark.parametrize(
    ("spelling", "answer"),
    [
        ("green", "The light is Green [1]."),
        ("$1,009.4 million", "A net loss of 1009.4 million dollars [2]."),
        ("about 2 trillion", "They saw 2 trillion tokens in all."),
        ("the IBM 1401", "on an IBM 1401"),
        ("Mélanie Watt", "It was written by Mélanie Watt."),
        ("Zürich", "Er wohnt in Zürich."),
    ],
)
def test_an_answer_that_holds_it(spelling: str, answer: str) -> None:
    assert contains(answer, ["something else", spelling])


@pytest.mark.parametrize(
    ("spelling", "answer"),
    [
        ("green", "The light is evergreen."),
        ("4096", "40961"),
        ("2.5", "2"),
        ("Dan Cody", "Cody, Dan"),
        ("", "anything"),
        ("a", "a, an, the"),
    ],
)
def test_an_answer_that_does_not(spelling: str, answer: str) -> None:
    assert not contains(answer, [spelling])


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "The passages do not mention Nick Carraway's dog.",
        "The provided context doesn't specify where she was born.",
        "The context information provided does not tell who fixed it.",
        "There is no information about Bitcoin in the passages.",
        "It is not explicitly stated who directed the film.",
        "None of the passages has anything to do with the question.",
        "I don't know.",
        "The question cannot be answered from the text.",
        "Empty Response",
    ],
)
def test_a_reply_that_refuses(reply: str) -> None:
    assert is_english_refusal(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "The light at the end of Daisy's dock is green.",
        "The 34B model was not released because of a lack of time.",
        "Lyft did not make a profit in 2021: its net loss was $1,009 million.",
        "He was known for his depictions of urban landscapes.",
        "Le texte ne dit rien.",  # another language is another rule
    ],
)
def test_a_reply_that_answers(reply: str) -> None:
    assert not is_english_refusal(reply)
