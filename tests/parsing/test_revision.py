from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing import append_text, read_revision

BEFORE = "The weir was built in 1850 [1]. It holds [2]."
GERMAN = "Das Wehr wurde 1850 gebaut [1]. Es hält [2]."


@pytest.mark.parametrize(
    "reply",
    [
        "KEEP",
        "keep.",
        "**KEEP**",
        "No changes",
        "<think>KEEP?</think>\nKEEP\n",
        "",
        "The passages do not say more.",
        "Die Passagen sagen nichts Weiteres.",
        "The weir was built in 1850.",
        BEFORE,
        "It holds [7].",
    ],
)
def test_nothing_new_keeps_the_answer(reply: str) -> None:
    assert read_revision(reply, BEFORE) == ("keep", "")


@pytest.mark.parametrize(
    ("reply", "previous", "added"),
    [
        ("It was rebuilt in 1899 [3].", BEFORE, "It was rebuilt in 1899 [3]."),
        ("ADD: It was rebuilt in 1899 [3].", BEFORE, "It was rebuilt in 1899 [3]."),
        (f"{BEFORE} It was rebuilt in 1899 [3].", BEFORE, "It was rebuilt in 1899 [3]."),
        ("Es wurde 1899 erneuert [3].", GERMAN, "Es wurde 1899 erneuert [3]."),
        (f"{GERMAN} Es wurde 1899 erneuert.", GERMAN, "Es wurde 1899 erneuert."),
        ("Keep off the weir in winter.", BEFORE, "Keep off the weir in winter."),
        ("None of the gates was lost.", BEFORE, "None of the gates was lost."),
        ("The temperature was -5.", "The temperature was 5.", "The temperature was -5."),
    ],
)
def test_what_is_new_is_added(reply: str, previous: str, added: str) -> None:
    assert read_revision(reply, previous) == ("add", added)


@pytest.mark.parametrize(
    ("reply", "previous"),
    [
        ("The weir was built in 1850 [1]. It was lost in 1900 [3].", BEFORE),
        ("Das Wehr wurde 1850 gebaut [1]. Es brach 1900 [3].", GERMAN),
    ],
)
def test_a_reply_that_repeats_some_and_leaves_out_some_is_the_answer(reply: str, previous: str) -> None:
    assert read_revision(reply, previous) == ("revise", reply)


@pytest.mark.parametrize(
    ("before", "more", "whole"),
    [
        ("It holds.", "It was old.", "It holds. It was old."),
        ("It holds [1].", "It was old.", "It holds [1]. It was old."),
        ("堰は古い。", "今も残る。", "堰は古い。 今も残る。"),
        ("Halden", "It was old.", "Halden\nIt was old."),
        ("- one", "- two", "- one\n- two"),
        ("| a | b |", "| c | d |", "| a | b |\n| c | d |"),
        ("It holds.", "- one\n- two", "It holds.\n\n- one\n- two"),
        ("A list:\n- one", "It was old.", "A list:\n- one\n\nIt was old."),
        ("It holds.\n", "It was old.", "It holds. It was old."),
    ],
)
def test_more_stands_behind_the_answer(before: str, more: str, whole: str) -> None:
    assert append_text(before, more) == whole


@pytest.mark.work(20)
@pytest.mark.parametrize("unit", ["KEEP ", "It was so. ", "[1] ", "- a\n", "...", " \n", "add:", "].", "\u3002"])
def test_work_is_bounded(unit: str) -> None:
    long = unit * (100_000 // len(unit))
    read_revision(long, long[: len(long) // 2] + "x")
    append_text(long, long)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_read(reply: str, previous: str) -> None:
    action, text = read_revision(reply, previous)
    assert action in ("keep", "add", "revise")
    assert bool(text) is (action != "keep")
    assert append_text(previous, text).endswith(text)
