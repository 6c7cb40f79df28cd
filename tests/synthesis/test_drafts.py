"""What a model wrote is an answer, or only says again what it was told and asked."""

from __future__ import annotations

import pytest

from anabranch.agent.prompts import CREATE, GUARD
from anabranch.errors import ModelError
from anabranch.synthesis.drafts import MOST_JOINED, join_drafts, read_draft
from anabranch.types import NO_DRAFT, Draft

LONG = "Jean Vander Pyl provided the voice of Rosie on the animated sitcom that originally premiered on which date?"
DATED = "Jean Vander Pyl provided the voice of Rosie on the animated sitcom that originally premiered on 23 May 1962."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (LONG, DATED),
        ("When was the weir built?", "When was the weir built? It was built in 1848."),
        ("Delhi or Mumbai, which is larger?", "Delhi"),
        ("Which option is larger, A or B?", "Which option is larger, A or B? A"),
        ("Wann wurde das Wehr bei Halden gebaut?", "Das Wehr bei Halden wurde 1848 gebaut."),
        ("Кто построил плотину?", "Плотину построил Оле Мун."),
    ],
)
def test_an_answer_in_the_words_of_the_question_is_one(question: str, answer: str) -> None:
    assert read_draft(answer, window=1, instructions=(GUARD, CREATE), question=question)["answer"] == answer


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        (LONG, LONG),
        (LONG, LONG.upper()),
        (LONG, f"Question: {LONG}"),
        (LONG, LONG[:95]),
        ("When was the weir built?", "When was the weir built"),
        ("Кто построил плотину?", "Кто построил плотину? [1]"),
        ("When was the weir built?", GUARD),
        ("When was the weir built?", "[1] [2]"),
    ],
)
def test_what_only_says_again_what_was_asked_or_told_is_none(question: str, reply: str) -> None:
    with pytest.raises(ModelError, match="holds no answer"):
        read_draft(reply, window=1, instructions=(GUARD, CREATE), question=question)


@pytest.mark.parametrize(("length", "kept"), [(10, 9), (MOST_JOINED // 4, 3), (MOST_JOINED * 2, 1)])
def test_answers_that_stand_one_after_the_other_have_a_bound(length: int, kept: int) -> None:
    """A state holds no longer answer, and what is left out is counted."""
    drafts: list[Draft] = [{**NO_DRAFT, "answer": str(number) * length} for number in range(9)]
    joined, beyond = join_drafts(drafts)
    assert joined["answer"].split("\n\n") == [draft["answer"] for draft in drafts[:kept]]
    assert beyond == 9 - kept
