"""A reader of the stream never sees the instructions, and everything else as it is written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing import AnswerStream
from anabranch.safety.prompt_leak import RUN, WORD, runs_in, without_instructions
from anabranch.safety.prompt_leak_stream import InstructionFilter
from prompts import CREATE, MAP, REDUCE, REFINE

TOLD = (CREATE, REFINE, MAP, REDUCE)
GOOD = "The weir was built in 1850 [1]."


def streamed(text: str, told: tuple[str, ...] = TOLD, allowed: tuple[str, ...] = (), size: int = 3) -> str:
    stream = InstructionFilter(told, allowed)
    return "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size)) + stream.finish()


@pytest.mark.parametrize("prompt", TOLD)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_instructions_are_not_shown_and_the_answer_is(prompt: str, size: int) -> None:
    shown = streamed(f"{GOOD} My instructions are: {prompt}\n\nIt was rebuilt in 1899 [2].", size=size)
    assert shown == f"{GOOD} My instructions are: It was rebuilt in 1899 [2]."


def test_a_word_that_only_the_instructions_have() -> None:
    told = ("Never say the word HERON-4471-QUARTZ.",)
    assert streamed(f"{GOOD} It is heron-4471-quartz. {GOOD}", told) == f"{GOOD} It is {GOOD}"
    assert "4471" in streamed("It is heron-4471-quartz.", told, ("A heron-4471-quartz clock",))


def test_what_the_passages_say_may_be_said() -> None:
    said = "Use only what the passages say and be complete and brief."
    assert (
        streamed(f"The manual says: {said} [1].", (said,), (f"Chapter 1. {said}",)) == f"The manual says: {said} [1]."
    )


def test_a_reader_is_never_far_behind() -> None:
    stream = InstructionFilter(TOLD, ())
    text, seen = "The passages say that 勘定は三百円です and the answer is that only two of the weirs were copied.", ""
    for at, letter in enumerate(text, start=1):
        seen += stream.feed(letter)
        assert len(text[len(seen) : at].split()) <= RUN
    assert "円" in seen
    assert seen + stream.finish() == text


def test_a_whole_reply() -> None:
    stream = AnswerStream(told=[CREATE], given=["passages"])
    reply = f'{GOOD} {CREATE}\nQUOTES:\n[1] "built in 1850"'
    shown = "".join(map(stream.feed, reply)) + stream.finish()
    assert shown.startswith(GOOD)
    assert not runs_in(shown) & runs_in(CREATE)


def test_a_reply_in_json() -> None:
    stream = AnswerStream(told=["The blue heron sleeps beside the old mill."], given=[])
    reply = '{"answer": "It was built in 1850 [1]. The blue heron sleeps beside the old mill."}'
    assert "".join(map(stream.feed, reply)) + stream.finish() == "It was built in 1850 [1]."


WORDS = CREATE.split()
SLICES = st.builds(lambda at, length: " ".join(WORDS[at : at + length]), st.integers(0, len(WORDS)), st.integers(1, 14))
SOME = st.lists(SLICES | st.sampled_from(["weir", "1850", "[1].", "\n", "built.", "It was rebuilt."]), max_size=12).map(
    " ".join
)


def test_words_as_a_model_sends_them() -> None:
    stream = InstructionFilter([CREATE], ())
    pieces = ["1850", " the", " passages", " do", " not", " hold", " the", " answer"]
    assert "".join(map(stream.feed, pieces)) + stream.finish() == "1850 "


def test_a_second_repetition_right_after_the_first() -> None:
    text = "numbered passages of the user's own [1][3]. - After the answer write a line QUOTES: and a few words"
    assert not runs_in(streamed(text, (CREATE,))) & runs_in(CREATE)


@given(SOME)
def test_tokens_and_letters_and_all_at_once_are_the_same(text: str) -> None:
    whole = streamed(text, (CREATE,), size=10_000)
    assert streamed(text, (CREATE,), size=1) == whole
    stream = InstructionFilter([CREATE], ())
    tokens = re.findall(r"\s*\S+|\s+", text)
    assert "".join(map(stream.feed, tokens)) + stream.finish() == whole


@given(SOME, st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_how_it_is_cut_does_not_matter(text: str, sizes: list[int]) -> None:
    stream, shown, at = InstructionFilter([CREATE], ()), "", 0
    for size in sizes * 40:
        shown += stream.feed(text[at : at + size])
        at += size
    shown += stream.feed(text[at:]) + stream.finish()
    assert shown == streamed(text, (CREATE,), size=10_000)


@given(st.text(max_size=300) | SOME)
def test_what_repeats_nothing_is_shown_whole(text: str) -> None:
    if without_instructions(text, TOLD, ())[1] == 0:
        assert streamed(text) == text


@given(SOME | st.builds(lambda a, b: f"{a} {CREATE[b : b + 200]} {a}", SOME, st.integers(0, 500)))
def test_no_run_of_the_instructions_is_shown(text: str) -> None:
    words = WORD.findall(text.casefold())
    runs = [tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)]
    # What is left out makes neighbours of words that were none: a run that stands there once cannot come from that.
    alone = {run for run in runs if run in runs_in(CREATE) and all(words.count(word) == 1 for word in run)}
    assert not runs_in(streamed(text, (CREATE,))) & alone


@given(st.integers(0, len(WORDS) - RUN), st.integers(RUN, 60), st.sampled_from([1, 2, 7, 50]))
def test_no_part_of_the_instructions_is_shown(at: int, length: int, size: int) -> None:
    told = " ".join(WORDS[at : at + length])
    shown = streamed(f"The weir stands. {told} Nobody sold 77 castles.", (CREATE,), size=size)
    assert shown.startswith("The weir stands. ")
    assert not runs_in(shown) & runs_in(CREATE)
