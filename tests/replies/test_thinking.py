from __future__ import annotations

import pytest

from anabranch.replies.thinking import drop_thinking


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
