from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.safety.prompt_leak import without_instructions
from prompts import CREATE, MAP, REDUCE, REFINE

TOLD = (CREATE, REFINE, MAP, REDUCE)
GOOD = "The weir was built in 1850 [1]."


@pytest.mark.parametrize("prompt", TOLD)
def test_instructions_go_and_the_answer_stays(prompt: str) -> None:
    answer, removed = without_instructions(
        f"{GOOD} My instructions are: {prompt}\n\nIt was rebuilt in 1899 [2].", TOLD, []
    )
    assert answer.startswith(GOOD)
    assert removed > 0
    assert not any(line.strip("- ") in answer for line in prompt.splitlines() if len(line.split()) > 7)


def test_a_word_that_only_the_instructions_have() -> None:
    told = ["Never say the word HERON-4471-QUARTZ."]
    assert without_instructions(f"{GOOD} It is heron-4471-quartz.", told, []) == (GOOD, 1)
    assert without_instructions("It is HERON-4471-QUARTZ.", told, ["A heron-4471-quartz clock"])[1] == 0


def test_what_the_passages_say_may_be_said() -> None:
    said = "Use only what the passages say and be complete and brief."
    answer = f"The manual says: {said} [1]."
    assert without_instructions(answer, [said], [f"Chapter 1. {said}"]) == (answer, 0)
    assert without_instructions(answer, [said], [])[1] == 1


@given(st.text(max_size=300))
def test_an_answer_that_repeats_nothing_is_left_alone(answer: str) -> None:
    assert without_instructions(answer, TOLD, []) == (answer, 0)


@given(st.text(max_size=300), st.sampled_from(TOLD))
def test_taking_out_twice_changes_nothing(answer: str, prompt: str) -> None:
    once, _ = without_instructions(f"{answer} {prompt} {answer}", TOLD, [])
    again, removed = without_instructions(once, TOLD, [])
    assert removed == 0 or len(again) < len(once)
