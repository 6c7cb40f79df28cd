from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing import AnswerReply, split_answer
from anabranch.parsing.answer_reply import MAX_QUOTE, MAX_QUOTES

ANSWER = "Revenue was $3.2 billion [1]. It grew by **36 %** [1][2]."
QUOTES = {1: ["revenue was $3.2 billion"], 2: ["an increase of 36%"]}
WANTED = AnswerReply(ANSWER, QUOTES)


@pytest.mark.parametrize(
    "reply",
    [
        f'{ANSWER}\n\nQUOTES:\n[1] "revenue was $3.2 billion"\n[2] "an increase of 36%"',
        f'{ANSWER}\nQUOTES:\n[1] "revenue was $3.2 billion"\n[2] "an increase of 36%"\n\nI hope this helps!',
        f"{ANSWER}\n\n**QUOTES:**\n- [1] “revenue was $3.2 billion”\n- [2]: “an increase of 36%”",
        f"{ANSWER}\n\n## Quotes:\n[1]: revenue was $3.2 billion\n[2]: an increase of 36%",
        f'{ANSWER}\n\nQUOTES\n1. "revenue was $3.2 billion"\n2. "an increase of 36%"',
        f'{ANSWER}\n\nSupporting quotes:\n[1] "revenue was\n $3.2 billion"\n[2] "an increase of 36%"'.replace(
            "was\n ", "was "
        ),
        f'{ANSWER} QUOTES: [1] "revenue was $3.2 billion" [2] "an increase of 36%"',
        f'{ANSWER} **QUOTES:** [1] "revenue was $3.2 billion"; [2] "an increase of 36%"',
        f'{ANSWER}\n\n[1] "revenue was $3.2 billion"\n[2] "an increase of 36%"',
        "<think>[1] or [2]?\nQUOTES:</think>\n\n"
        f'{ANSWER}\nQUOTES:\n[1] "revenue was $3.2 billion"\n[2] "an increase of 36%"',
        f'**Answer:** {ANSWER}\n\nQUOTES:\n[1] "revenue was $3.2 billion"\n[2] "an increase of 36%"',
        f'Question: How much?\n\nAnswer: {ANSWER}\n\nQUOTES:\n[1] "revenue was $3.2 billion"\n[2] "an increase of 36%"',
        f'QUOTES:\n[1] "revenue was $3.2 billion"\n[2] "an increase of 36%"\n\nANSWER: {ANSWER}',
        json.dumps({"answer": ANSWER, "quotes": {"1": "revenue was $3.2 billion", "2": ["an increase of 36%"]}}),
        "```json\n" + json.dumps({"action": "revise", "answer": ANSWER, "quotes": QUOTES}, indent=1) + "\n```",
        json.dumps(
            {
                "answer": ANSWER,
                "citations": [{"n": n, "quote": quote} for n, several in QUOTES.items() for quote in several],
            }
        ),
        json.dumps({"answer": f'{ANSWER}\nQUOTES:\n[1] "revenue was $3.2 billion"\n[2] "an increase of 36%"'}),
    ],
)
def test_every_form_of_the_protocol_is_read(reply: str):
    assert split_answer(reply) == WANTED


@pytest.mark.parametrize(
    "reply",
    [
        "NOT FOUND: the revenue of 2019",
        "**NOT FOUND:** the revenue of 2019",
        "NOT FOUND - the revenue of 2019",
        "Not found: the revenue of 2019",
        "NOT_FOUND the revenue of 2019",
        "Answer: \nNOT FOUND: the revenue of 2019",
        "NOT FOUND: the revenue of 2019\n\nQUOTES:\nnone",
        '{"not_found": true, "missing": "the revenue of 2019"}',
    ],
)
def test_what_is_missing_is_no_answer(reply: str):
    assert split_answer(reply) == AnswerReply("", {}, not_found=True, missing="the revenue of 2019")


def test_an_answer_may_say_what_else_is_missing():
    draft = split_answer("It was $3.2 billion in 2021 [1].\nNOT FOUND: the revenue of 2019")
    assert draft == AnswerReply("It was $3.2 billion in 2021 [1].", {}, not_found=False, missing="the revenue of 2019")


def test_a_refusal_in_other_words_counts_as_not_found():
    draft = split_answer("The passages do not mention the revenue of 2019.")
    assert draft.not_found
    assert draft.answer == draft.missing == "The passages do not mention the revenue of 2019."


def test_keep_is_no_answer():
    assert split_answer('{"action": "keep"}') == AnswerReply("", {}, not_found=True)


def test_quotes_alone_are_the_answer():
    draft = split_answer('[1] "Revenue was $3.2 billion."\n[2] "It grew by 36%."')
    assert draft.answer == "Revenue was $3.2 billion. [1]\nIt grew by 36%. [2]"
    assert draft.quotes == {1: ["Revenue was $3.2 billion."], 2: ["It grew by 36%."]}


def test_several_quotes_of_one_passage_and_one_quote_of_several():
    draft = split_answer(
        'Yes [1][2].\nQUOTES:\n[1] "one two"\n[1] "three four"\n[1, 2] "one two"\n[1] ""\n[x] "y"\n[n] "z"'
    )
    assert draft.quotes == {1: ["one two", "three four"], 2: ["one two"]}


def test_a_quote_may_run_over_lines_and_hold_marks():
    draft = split_answer('Yes [1].\nQUOTES:\n[1] "He said "no" [12]\nand left."\n[2] "b c"')
    assert draft.quotes == {1: ['He said "no" [12]\nand left.'], 2: ["b c"]}


@pytest.mark.parametrize(
    "answer",
    [
        'The motto is "Quotes: a book" [1].',
        "Quotes from the film are on page 3 [1].",
        "Not found in the north, it lives in the south [1].",
        'He said:\n"I have a dream" [1]',
        "- [1] says so\n- [2] too",
        "Answer keys are in the appendix [1].\nAnswer: is a heading there [2].",
        'if (x) { return "QUOTES" }',
        "東京は日本の首都です[1]。",
    ],
)
def test_an_answer_that_only_looks_like_the_protocol_stays_whole(answer: str):
    assert split_answer(answer) == AnswerReply(answer)


def test_an_answer_cut_off_in_json_is_shown_as_far_as_it_goes():
    assert split_answer('{"answer": "Revenue was $3.2 bil').answer == "Revenue was $3.2 bil"


@pytest.mark.parametrize("reply", ["", " \n", "<think>hm", "QUOTES:", "QUOTES:\nnone", "Answer:", '{"answer": ""}'])
def test_nothing_is_nothing(reply: str):
    assert split_answer(reply).answer == ""
    assert split_answer(reply).quotes == {}


@pytest.mark.parametrize(
    "reply",
    [
        "Yes.\nQUOTES:\n" + '[1] "a b c"\n' * 9000,
        "Yes.\nQUOTES:\n" + "".join(f'[{n}] "quote {n}"\n' for n in range(9000)),
        'Yes.\nQUOTES:\n[1] "' + "x " * 50_000,
        "\n" * 100_000,
        "QUOTES: " * 12_000,
        "Answer:\n" * 12_000,
        "<think>" * 14_000,
        "word " * 20_000,
        '[1] "' * 20_000,
        "**" * 50_000,
        '{"answer": {' * 8000,
    ],
    ids=lambda reply: repr(reply[:24]),
)
def test_work_and_results_are_bounded(reply: str):
    started = time.process_time()
    draft = split_answer(reply)
    assert time.process_time() - started < 1.0
    assert sum(map(len, draft.quotes.values())) <= 10 * MAX_QUOTES
    assert all(len(quote) <= MAX_QUOTE for several in draft.quotes.values() for quote in several)


@given(st.text())
def test_any_text_is_read(reply: str):
    draft = split_answer(reply)
    assert draft.answer == draft.answer.strip()
    assert not (
        draft.not_found and not draft.answer and not draft.missing and "NOT" not in reply.upper() and "{" not in reply
    )
