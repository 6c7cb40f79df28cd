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


ECHO = '<passage-0123456789abcdef n="1" from="x.md">\nThe wall is old.\n</passage-0123456789abcdef>\n'


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_passages_of_the_prompt_are_left_out(size: int):
    reply = f"{ECHO}{ECHO}The wall holds [1]. A <b>passage</b> of arms, <passage-x>."
    filtered = ThinkingFilter()
    pieces = [filtered.feed(reply[start : start + size]) for start in range(0, len(reply), size)]
    assert "".join([*pieces, filtered.finish()]).strip() == "The wall holds [1]. A <b>passage</b> of arms, <passage-x>."
    assert drop_thinking(reply).strip() == "The wall holds [1]. A <b>passage</b> of arms, <passage-x>."


def test_the_end_of_a_passage_alone_takes_nothing_with_it():
    assert drop_thinking("The wall </passage-0123456789abcdef>holds [1].") == "The wall holds [1]."
    assert drop_thinking(f"A {ECHO}</passage-0123456789abcdef>B <think>x</think>C") == "A \nB C"
