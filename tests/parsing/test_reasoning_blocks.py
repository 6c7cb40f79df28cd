from __future__ import annotations

import pytest

from anabranch.parsing.reasoning_blocks import ThinkingFilter, drop_thinking


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("<think>hm</think>Yes.", "Yes."),
        ("<THINK>\nhm\n</THINK>\n\nYes.", "\n\nYes."),
        ("A<thinking>x</thinking>B<reasoning>y</reasoning>C", "ABC"),
        ("Yes.<think>but then", "Yes."),
        ("the template opened it</think>Yes.", "Yes."),
        ("I <b>think</b> so", "I <b>think</b> so"),
        ("", ""),
    ],
)
def test_thoughts_are_dropped(reply: str, left: str):
    assert drop_thinking(reply) == left


ECHO = "<passages-0123456789abcdef>\n[1] x.md\nThe wall is old.\n\n[2] y.md\nIt leaks.\n</passages-0123456789abcdef>\n"
KEPT = "The wall holds [1]. A <b>passage</b> of arms, <passages-x>, <passages>."


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_passages_of_the_prompt_are_left_out(size: int):
    reply = f"{ECHO}{ECHO}{KEPT}"
    filtered = ThinkingFilter()
    pieces = [filtered.feed(reply[start : start + size]) for start in range(0, len(reply), size)]
    assert "".join([*pieces, filtered.finish()]).strip() == KEPT
    assert drop_thinking(reply).strip() == KEPT


def test_passages_that_a_model_began_to_repeat_and_left_open_run_to_the_end():
    assert drop_thinking("It holds. <passages-0123456789abcdef>\n[1] x.md\nThe wall").strip() == "It holds."


def test_the_end_of_the_passages_alone_takes_nothing_with_it():
    assert drop_thinking("The wall </passages-0123456789abcdef>holds [1].") == "The wall holds [1]."
    assert drop_thinking(f"A {ECHO}</passages-0123456789abcdef>B <think>x</think>C") == "A \nB C"
