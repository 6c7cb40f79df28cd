from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.parsing import AnswerStream, split_answer

REPLY = (
    "Lyft's revenue was $3.2 billion [1]. See [the report](https://evil.example/?q=1).\n\n"
    '- It grew by 36 % [2]\n- QUOTES were given\n\n**QUOTES:**\n[1] "revenue was $3.2 billion"\n[2] "an increase"\n'
)


def shown(reply: str, size: int) -> list[str]:
    """What a reader gets, step by step, when the reply comes in pieces of one size."""
    stream = AnswerStream()
    return [*(stream.feed(reply[start : start + size]) for start in range(0, len(reply), size)), stream.finish()]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 20, 1000])
def test_only_the_answer_is_shown(size: int):
    assert "".join(shown(REPLY, size)) == (
        "Lyft's revenue was $3.2 billion [1]. See the report.\n\n- It grew by 36 % [2]\n- QUOTES were given"
    )


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize(
    "reply",
    [
        "NOT FOUND: the revenue",
        "**NOT FOUND:** the revenue\nQUOTES:\n",
        "<think>A secret [x](http://evil.example)</think>NOT FOUND: it",
        "<think>never closed",
        "",
    ],
)
def test_nothing_is_shown_where_nothing_was_found(reply: str, size: int):
    assert "".join(shown(reply, size)) == ""


@pytest.mark.parametrize("size", [1, 4])
def test_no_step_shows_what_may_not_be_seen(size: int):
    text = ""
    for step in shown("<think>secret</think>" + REPLY + "NOT FOUND: hidden", size):
        text += step
        assert not re.search(r"secret|evil|http|\]\(|QUOTES:|\*\*|an increase|NOT F|hidden|<", text)


def test_the_answer_is_shown_while_it_is_written():
    text = "The revenue of the company in that year was three billion dollars, as the report says [1]. " * 20
    steps = shown(text, 8)
    behind = [len(text[: 8 * place]) - sum(map(len, steps[:place])) for place in range(1, len(steps))]
    assert max(behind) <= 60


def test_an_open_bracket_holds_no_more_than_a_link_could_be_long():
    stream = AnswerStream()
    assert len(stream.feed("[" + "word " * 200)) > 500


def test_a_reply_in_json_is_shown_at_its_end():
    reply = json.dumps({"answer": "It was [this](http://evil.example) [1].", "quotes": {"1": ["x y"]}})
    assert shown(reply, 3)[-1] == "It was this [1]."
    assert "".join(shown(reply, 3)[:-1]) == ""


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    "before", ["Sure, here you go:\n```json\n", "Here is the JSON:\n\n", "Okay.\n```\n", "OF COURSE!\n"]
)
def test_json_after_a_friendly_line_is_json(before: str, size: int):
    reply = before + json.dumps({"answer": "It was so [1].", "quotes": {"1": ["x y"]}}) + "\n```\nDone."
    assert "".join(shown(reply, size)) == split_answer(reply).answer == "It was so [1]."


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    "text",
    ["Here is what they did:\nThey built a wall [1].", "Sure.", "of cours", "Below the weir { it } is deep [1]."],
)
def test_a_friendly_line_alone_hides_nothing(text: str, size: int):
    assert "".join(shown(text, size)) == text


def test_a_fence_of_code_is_no_json():
    reply = "```python\nprint(1)\n```\nprints one [1]."
    assert "".join(shown(reply, 1)) == reply
    assert shown(reply, 4)[-1] != reply


TOKENS = [
    *("Revenue was 5 [1]. ", "QUOTES:", "**QUOTES:**", "\n", '[1] "a b"', "NOT FOUND:", "Answer: ", "Question: "),
    *("<think>", "</think>", "<thi", "nk>", "[text](", "http://x.example", ")", "[", "]", "<img src=", ">", "- ", "  "),
    *("{", '"answer": "x"', "}", "```json\n", "```", "Q", "UOTES:", "*", '"', "I don't know.", "é文", "x" * 60),
]
REPLIES = st.one_of(st.lists(st.sampled_from(TOKENS), max_size=14).map("".join), st.text(max_size=80))


@settings(max_examples=500)
@given(REPLIES, st.data())
def test_whatever_the_pieces_the_whole_is_the_answer(reply: str, data: st.DataObject):
    stripped = re.sub(r"<think>.*?(</think>|\Z)", "", reply, flags=re.DOTALL)
    if "</think>" in stripped:  # closed and never opened, see the class
        return
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=10)))
    stream = AnswerStream()
    text = (
        "".join(stream.feed(reply[start:end]) for start, end in zip([0, *cuts], [*cuts, len(reply)], strict=True))
        + stream.finish()
    )
    assert text.rstrip() == split_answer(reply).answer
