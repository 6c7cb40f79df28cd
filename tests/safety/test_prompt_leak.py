"""What repeats the instructions is no part of an answer, and a reader of the stream never sees it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.agent.prompts import CITE, CREATE, GUARD, JUDGE, QUOTE, REDUCE, REFINE
from anabranch.parsing import AnswerStream, read_answer
from anabranch.safety.prompt_leak import RUN, WORD, InstructionFilter, find_runs, without_instructions

TOLD = (GUARD, f"{CITE} {CREATE}", REFINE, REDUCE, QUOTE, JUDGE)
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


def streamed(text: str, told: tuple[str, ...] = TOLD, allowed: tuple[str, ...] = (), size: int = 3) -> str:
    stream = AnswerStream(instructions=told, given=allowed)
    return "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size)) + stream.finish()


@pytest.mark.parametrize("prompt", TOLD)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_stream_stops_where_the_instructions_begin(prompt: str, size: int) -> None:
    shown = streamed(f"{GOOD} My instructions are: {prompt}\n\nIt was rebuilt in 1899 [2].", size=size)
    assert shown == f"{GOOD} My instructions are: "


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_where_whole_sentences_were_left_out_the_rest_comes_at_the_end(size: int) -> None:
    told = "Never tell anybody about the blue heron of the old mill."
    assert streamed(f"{GOOD} {told} {GOOD}", (told,), size=size) == f"{GOOD} {GOOD}"


def test_a_stream_stops_before_a_word_that_only_the_instructions_have() -> None:
    told = ("Never say the word HERON-4471-QUARTZ.",)
    assert streamed(f"{GOOD} It is heron-4471-quartz. {GOOD}", told) == f"{GOOD} It is "
    assert "4471" in streamed("It is heron-4471-quartz.", told, ("A heron-4471-quartz clock",))
    assert streamed("It is xheron-4471-quartz.", told) == "It is xheron-4471-quartz."


def test_a_stream_shows_what_the_passages_say() -> None:
    said = "Use only what the passages say and be complete and brief."
    answer = f"The manual says: {said} [1]."
    assert streamed(answer, (said,), (f"Chapter 1. {said}",)) == answer


def test_a_reader_is_never_far_behind() -> None:
    stream = InstructionFilter(TOLD, ())
    text, seen = "The passages say that 勘定は三百円です and the answer is that only two of the weirs were copied.", ""
    for at, letter in enumerate(text, start=1):
        seen += stream.feed(letter)
        assert len(text[len(seen) : at].split()) <= RUN
    assert "円" in seen
    assert text.startswith(seen)


def test_a_whole_reply() -> None:
    stream = AnswerStream(instructions=[CREATE], given=["passages"])
    reply = f"{GOOD} {CREATE}\n\nIt was built in 1850."
    shown = "".join(map(stream.feed, reply)) + stream.finish()
    assert shown.startswith(GOOD)
    assert not find_runs(shown) & find_runs(CREATE)


LONG = f"{GUARD} {CITE} {CREATE}"
WORDS = LONG.split()
SLICES = st.builds(lambda at, length: " ".join(WORDS[at : at + length]), st.integers(0, len(WORDS)), st.integers(1, 14))
SOME = st.lists(SLICES | st.sampled_from(["weir", "1850", "[1].", "\n", "built.", "It was rebuilt."]), max_size=12).map(
    " ".join
)


def test_words_as_a_model_sends_them() -> None:
    stream = InstructionFilter([LONG], ())
    pieces = ["1850", " and", " in", " the", " language", " of", " "]
    assert "".join(map(stream.feed, pieces)) == "1850 "


def test_a_second_repetition_right_after_the_first() -> None:
    text = f"{' '.join(WORDS[3:20])} [1][3]. - {' '.join(WORDS[24:40])}"
    assert not find_runs(streamed(text, (LONG,))) & find_runs(LONG)


@given(SOME)
def test_tokens_and_letters_and_all_at_once_are_the_same(text: str) -> None:
    whole = streamed(text, (LONG,), size=10_000)
    assert streamed(text, (LONG,), size=1) == whole
    stream = AnswerStream(instructions=[LONG])
    tokens = re.findall(r"\s*\S+|\s+", text)
    assert "".join(map(stream.feed, tokens)) + stream.finish() == whole


@given(SOME, st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_how_it_is_cut_does_not_matter(text: str, sizes: list[int]) -> None:
    stream, shown, at = AnswerStream(instructions=[LONG]), "", 0
    for size in sizes * 40:
        shown += stream.feed(text[at : at + size])
        at += size
    shown += stream.feed(text[at:]) + stream.finish()
    assert shown == streamed(text, (LONG,), size=10_000)


@given(st.text(max_size=300) | SOME)
def test_what_repeats_nothing_is_shown_whole(text: str) -> None:
    answer = read_answer(text)
    if "</think>" not in text and without_instructions(answer, TOLD, ())[1] == 0:
        assert streamed(text).rstrip() == answer


@given(SOME | st.builds(lambda a, b: f"{a} {LONG[b : b + 200]} {a}", SOME, st.integers(0, 500)))
def test_no_run_of_the_instructions_is_shown(text: str) -> None:
    words = WORD.findall(text.casefold())
    runs = [tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)]
    # What is left out makes neighbours of words that were none: a run that stands there once cannot come from that.
    alone = {run for run in runs if run in find_runs(LONG) and all(words.count(word) == 1 for word in run)}
    assert not find_runs(streamed(text, (LONG,))) & alone


@given(st.integers(0, len(WORDS) - RUN), st.integers(RUN, 60), st.sampled_from([1, 2, 7, 50]))
def test_no_part_of_the_instructions_is_shown(at: int, length: int, size: int) -> None:
    told = " ".join(WORDS[at : at + length])
    shown = streamed(f"The weir stands. {told} Nobody sold 77 castles.", (LONG,), size=size)
    assert shown.startswith("The weir stands.")
    assert not find_runs(shown) & find_runs(LONG)
