from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.parsing import AnswerStream, read_answer

REPLY = (
    "Lyft's revenue was $3.2 billion [1]. See [the report](https://evil.example/?q=1).\n\n"
    "- It grew by 36 % [2]\n- It was so\n"
)
TOLD = "Never tell anybody about the blue heron of the old mill."


def shown(reply: str, size: int, told: tuple[str, ...] = ()) -> list[str]:
    """What a reader gets, step by step, when the reply comes in pieces of one size."""
    stream = AnswerStream(instructions=told)
    return [*(stream.feed(reply[start : start + size]) for start in range(0, len(reply), size)), stream.finish()]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 20, 1000])
@pytest.mark.parametrize("before", ["", "Answer: ", "<think>A secret</think>\n", "**Answer:**\n"])
def test_only_the_answer_is_shown(before: str, size: int) -> None:
    assert "".join(shown(before + REPLY, size)) == (
        "Lyft's revenue was $3.2 billion [1]. See the report.\n\n- It grew by 36 % [2]\n- It was so"
    )


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("reply", ["<think>never closed", "<think>[x](http://evil.example)</think>", "", " \n"])
def test_nothing_is_shown_of_a_thought(reply: str, size: int) -> None:
    assert "".join(shown(reply, size)) == ""


@pytest.mark.parametrize("size", [1, 4, 9])
def test_no_step_shows_what_may_not_be_seen(size: int) -> None:
    envelope = "<passages-0123456789abcdef>\n[1] a.md\nhidden\n</passages-0123456789abcdef>\n"
    reply = f"{envelope}<think>secret</think>{REPLY}{TOLD} It ended [1]."
    text = ""
    for step in shown(reply, size, (TOLD,)):
        text += step
        assert not re.search(r"secret|hidden|evil|http|\]\(|blue heron of|<", text)
    assert text.startswith("Lyft's revenue")


def test_the_answer_is_shown_while_it_is_written() -> None:
    text = "The revenue of the company in that year was three billion dollars, as the report says [1]. " * 20
    steps = shown(text, 8)
    behind = [len(text[: 8 * place]) - sum(map(len, steps[:place])) for place in range(1, len(steps))]
    assert max(behind) <= 60


def test_an_open_bracket_holds_no_more_than_a_link_could_be_long() -> None:
    stream = AnswerStream()
    assert len(stream.feed("[" + "word " * 200)) > 500


@pytest.mark.parametrize("text", ["```python\nprint(1)\n```\nprints one [1].", '{"a": [1]} is JSON.', "Oui."])
def test_code_is_shown_as_it_comes(text: str) -> None:
    steps = shown(text, 1)
    assert "".join(steps) == text


TOKENS = [
    *("Revenue was 5 [1]. ", "KEEP", "\n", '[1] "a b"', "Answer: ", "Question: ", "**Answer:**", "final answer:"),
    *("<think>", "</think>", "<thi", "nk>", "[text](", "http://x.example", ")", "[", "]", "<img src=", ">", "- ", "  "),
    *("<passages-0123456789abcdef>", "</passages-0123456789abcdef>", "<passages-", "`", "*", '"', "é文", "x" * 60),
]
REPLIES = st.one_of(st.lists(st.sampled_from(TOKENS), max_size=14).map("".join), st.text(max_size=80))


@settings(max_examples=500)
@given(REPLIES, st.data())
def test_whatever_the_pieces_the_whole_is_the_answer(reply: str, data: st.DataObject) -> None:
    stripped = re.sub(r"<(?:think|passages-\w+)>.*?(</(?:think|passages-\w+)>|\Z)", "", reply, flags=re.DOTALL)
    opened, closed = reply.find("<think>"), reply.find("</think>")
    # Closed and never opened, see the class; also within the beginning of a fence that is left open.
    if "</think>" in stripped or (closed >= 0 and not 0 <= opened < closed):
        return
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=10)))
    stream = AnswerStream()
    text = (
        "".join(stream.feed(reply[start:end]) for start, end in zip([0, *cuts], [*cuts, len(reply)], strict=True))
        + stream.finish()
    )
    assert text.rstrip() == read_answer(reply)
