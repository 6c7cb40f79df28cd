from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing import read_answer
from anabranch.parsing.answer_reply import MAX_REPLY_READ
from anabranch.safety.link_removal import strip_links

ANSWER = "Revenue was $3.2 billion [1]. It grew by **36 %** [1][2]."


@pytest.mark.parametrize(
    "reply",
    [
        ANSWER,
        f"\n\n  {ANSWER}\n",
        f"<think>[1] or [2]?</think>\n\n{ANSWER}",
        f"the template opened the thought</think>{ANSWER}",
        f"**Answer:** {ANSWER}",
        f"Final answer: {ANSWER}",
        f"answer : {ANSWER}",
        f"<passages-0123456789abcdef>\n[1] a.md\nRevenue.\n</passages-0123456789abcdef>\n{ANSWER}",
    ],
)
def test_only_the_answer_is_left(reply: str) -> None:
    assert read_answer(reply) == ANSWER


@pytest.mark.parametrize(
    "answer",
    [
        'The motto is "Quotes: a book" [1].',
        "- [1] says so\n- [2] too",
        "Answer keys are in the appendix [1].\nAnswer: is a heading there [2].",
        "Not found in the north, it lives in the south [1].",
        "東京は日本の首都です[1]。",
        '{"answer": "It was so."}',
        "```python\nprint(1)\n```",
    ],
)
def test_an_answer_stays_as_it_is(answer: str) -> None:
    assert read_answer(answer) == answer


@pytest.mark.parametrize("reply", ["", " \n", "<think>hm", "Answer:", "**Answer:**\n"])
def test_nothing_is_nothing(reply: str) -> None:
    assert read_answer(reply) == ""


def test_links_become_their_words() -> None:
    assert read_answer("See [the report](https://evil.example/?q=1).") == "See the report."


@pytest.mark.work(10)
@pytest.mark.parametrize(
    "unit",
    ["\n", "Answer:\n", "<think>", "</think>", "word ", '[1] "', "**", "<", "[a](", "</passages-0123456789abcdef>"],
)
def test_work_and_result_are_bounded(unit: str) -> None:
    assert len(read_answer(unit * (3 * MAX_REPLY_READ // len(unit)))) <= 2 * MAX_REPLY_READ


@given(st.text())
def test_any_text_is_read(reply: str) -> None:
    answer = read_answer(reply)
    assert answer == answer.strip()
    assert strip_links(answer) == answer
