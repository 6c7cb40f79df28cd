from __future__ import annotations

import pytest

from anabranch.parsing.refusal import is_refusal


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "I don’t have enough information to answer that.",
        "I'm sorry, I cannot answer this question.",
        "The context does not contain the revenue of 2019.",
        "The provided passages do not mention Lyft's headcount.",
        "The given passages do not explicitly state who wrote it.",
        "The documents don't say when.",
        "The founder is not mentioned in the passages.",
        "There is no information about that in the text.",
        "Based on the passages, the answer cannot be determined.",
        "Not enough information.",
        "Unknown",
        "N/A",
        "I could not find the date.",
        "Nothing in these passages helps to answer the question.",
        "There is nothing relevant here.",
    ],
)
def test_refusals(text: str):
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Revenue was $3.2 billion.",
        "The passages do not give the 2019 figure [1].",
        "The passages do not say who founded it. However, they name its director as Ann Lee.",
        "Members may not be fined, and no fee is due.",
        "The unknown soldier was buried in 1921.",
        "x" * 500 + " I don't know",
    ],
)
def test_answers(text: str):
    assert not is_refusal(text)
