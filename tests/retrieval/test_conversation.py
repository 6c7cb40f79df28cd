"""Follow-up questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.retrieval.conversation import MAX_ANSWER_CHARS, condense_reply, follow_up, recent_turns, transcript
from anabranch.retrieval.conversation import ConversationTurn as Turn

TURNS = [Turn("Who wrote The Great Gatsby?", "F. Scott Fitzgerald wrote it in 1925 [1].")]


@pytest.mark.parametrize(
    "question", ["When did he write it?", "Und wann?", "¿Y la película?", "How many tokens was Llama 2 trained on?"]
)
def test_any_question_takes_the_one_before_it_along(question: str) -> None:
    assert follow_up(question, TURNS) == f"Who wrote The Great Gatsby? {question}"
    assert follow_up(question, [*TURNS, Turn("And who?", "Scott.")]) == f"Who wrote The Great Gatsby? {question}"


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("What was the revenue in 2021?", "And in 2020?", "And in 2019?"),
        ("What was the revenue in FY2021?", "And in 2020?", "And when?"),
        ("Wie hoch war der Umsatz 2021?", "Und 2020?", "Und 2019?"),
        ("¿Cuál fue la venta en 2021?", "¿Y en 2020?", "¿Y en 2019?"),
    ],
)
def test_a_question_without_a_subject_is_passed_over(first: str, second: str, third: str) -> None:
    turns = [Turn(first, "It was so."), Turn(second, "It was so.")]
    assert follow_up(third, turns) == f"{first} {third}"


def test_a_first_question_and_one_that_is_repeated_are_left_alone() -> None:
    assert follow_up("When did he write it?", []) == "When did he write it?"
    assert follow_up("who wrote the Great Gatsby?", TURNS) == "who wrote the Great Gatsby?"


def test_a_reply_is_cleaned_of_its_wrapping() -> None:
    reply = 'Standalone question: "When was The Great Gatsby written?"\n'
    assert condense_reply(reply, "When was it written?", TURNS) == "When was The Great Gatsby written?"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n ",
        "I think:\nWhen was Gatsby written?",
        "x" * 5000,
        "The Great Gatsby was written in 1925.",
        "When was it written, as http://evil.example/?q=1925 says?",
        "When was ![x](http://evil.example/a.png) it written?",
    ],
)
def test_a_reply_that_is_no_question_is_refused_for_the_question_before(reply: str) -> None:
    asked = "When was it written?"
    assert condense_reply(reply, asked) == asked
    assert condense_reply(reply, asked, TURNS) == f"Who wrote The Great Gatsby? {asked}"


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        ("When was it written?", "Was The Great Gatsby written in 1952?"),
        ("When was it written?", "When was Moby Dick by Herman Melville published?"),
        ("Wann wurde es geschrieben?", "Wann wurde Moby Dick von Herman Melville gedruckt?"),
        ("Wann wurde es geschrieben?", "Wurde The Great Gatsby 1952 geschrieben?"),
    ],
)
def test_a_number_or_a_subject_that_nobody_mentioned_is_refused(asked: str, reply: str) -> None:
    assert condense_reply(reply, asked, TURNS) == f"Who wrote The Great Gatsby? {asked}"


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        ("Did Zelda help him with it in 1924?", "Did Zelda help F. Scott Fitzgerald with The Great Gatsby?"),
        ("And what did the critics of the Times say about it?", "What is The Great Gatsby about?"),
        ("Did it sell 20,000 copies?", "Did The Great Gatsby sell many copies?"),
        ("Wurden 20.000 Stück davon verkauft?", "Wurde The Great Gatsby oft verkauft?"),
    ],
)
def test_a_number_or_subject_that_was_lost_comes_back(asked: str, reply: str) -> None:
    assert condense_reply(reply, asked, TURNS) == f"{reply} {asked}"


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        ("When did he write it?", "When did F. Scott Fitzgerald write The Great Gatsby?"),
        ("Did Zelda help him?", "Did Zelda help F. Scott Fitzgerald write The Great Gatsby?"),
        ("And what happened in 1925?", "What happened to Fitzgerald in 1925?"),
        ("How many copies were sold?", "How many copies of The Great Gatsby were sold?"),
        ("Wann schrieb er es?", "Wann schrieb F. Scott Fitzgerald The Great Gatsby?"),
    ],
)
def test_a_good_reply_stays_as_it_is(asked: str, reply: str) -> None:
    assert condense_reply(reply, asked, TURNS) == reply


def test_a_label_before_the_question_goes_in_english_alone() -> None:
    asked = "Wann wurde es geschrieben?"
    assert condense_reply("Question: Wann wurde es geschrieben?", asked, TURNS) == asked
    assert condense_reply("Frage: Wann wurde es geschrieben?", asked, TURNS) == f"Frage: {asked}"


@given(st.text(max_size=500), st.text(min_size=1, max_size=50))
def test_reading_a_reply_never_fails_and_never_empties_the_question(reply: str, question: str) -> None:
    assert condense_reply(reply, question)
    assert condense_reply(reply, question, TURNS)


def test_the_transcript_is_bounded_and_loses_links_and_markers() -> None:
    turns = [Turn(f"question {n}", "see http://evil.example/x [3] " + "word " * 1000) for n in range(3)]
    text = transcript(turns, "last?")
    assert len(text) < 3 * (MAX_ANSWER_CHARS + 100)
    assert "evil.example" not in text
    assert "[3]" not in text
    assert text.endswith("Last question: last?")


@given(st.lists(st.builds(Turn, st.text(max_size=80), st.text(max_size=900)), max_size=8), st.integers(0, 400))
def test_the_newest_turns_that_fit_are_read(turns: list[Turn], budget: int) -> None:
    def count(text: str) -> int:
        return len(text) // 4 + 1

    kept = recent_turns(turns, budget, count)
    empty = len(transcript([], ""))
    assert len(transcript(kept, "")) <= empty + 4 * budget + len(kept)
    if kept and kept[-1] in turns:
        assert kept == turns[-len(kept) :]
    elif kept:
        assert [turn.question for turn in kept] == [turns[-1].question]
    assert recent_turns(turns, 10**6, count) == turns


def test_of_a_long_newest_turn_the_question_is_read() -> None:
    turns = [Turn("Who?", "Ida."), Turn("What did she build?", "word " * 200)]
    assert recent_turns(turns, 39, len) == []
    assert recent_turns(turns, 40, len) == [Turn("What did she build?", "...")]
