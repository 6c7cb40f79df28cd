"""What kind of thing a question asks for."""

from __future__ import annotations

import pytest

from anabranch.synthesis.english_question_type import asks_in_english


@pytest.mark.parametrize(
    "question",
    [
        "How many tokens were used?", "For how long was it shut?", "What was the net loss in 2021?",
        "What is the diameter of the wheel?", "What's the price?",
    ],
)  # fmt: skip
def test_questions_for_a_figure(question: str) -> None:
    asks = asks_in_english(question)
    assert asks.figure
    assert asks.is_figure("They kept twelve herons.")
    assert asks.is_figure("They kept 4,453 herons.")
    assert not asks.is_figure("It opened late.")
    assert not asks.is_figure("It opened in 1897, as Table 18 and Weir 2 show.")
    assert not asks.is_name("It was Ida Marrow who built it.")


@pytest.mark.parametrize(
    "question",
    [
        "When was it rebuilt?",
        "In which year did it open?",
        "Since when is it open?",
        "At what time does it open?",
        "And when?",
    ],
)
def test_questions_for_a_date(question: str) -> None:
    asks = asks_in_english(question)
    assert asks.kind == "date"
    assert asks.figure
    assert asks.is_figure("It opened in 1897.")
    assert asks.is_figure("It opened in May.")
    assert asks.is_figure("It opened on a monday in june.")
    for time in ("7:00", "21:30", "7 pm", "7.30 a.m.", "five past 7 o’clock", "noon", "Midnight"):
        assert asks.is_figure(f"It opens at {time} as a rule.")
    assert not asks.is_figure("Dogs may march at a ratio of 3:1, and it costs 7.30 euros.")
    assert not asks.is_figure("They kept twelve herons.")


@pytest.mark.parametrize(
    ("question", "amount"),
    [
        ("What is the population of Paris?", "population"), ("Which was the Diameter of the wheel?", "diameter"),
        ("How many herons are there?", ""), ("Wie hoch ist die Population von Paris?", ""),
        ("Who counts the population?", ""),
    ],
)  # fmt: skip
def test_a_quantity_is_asked_for_by_its_name(question: str, amount: str) -> None:
    assert asks_in_english(question).amount == amount


def test_a_number_stands_beside_what_is_counted() -> None:
    asks = asks_in_english("How many employees does the mill have?")
    assert asks.about == "employees"
    assert asks.is_beside("In all, 4,453 full-time employees work there.")
    assert not asks.is_beside("Of its employees, 40 work in the yard.")


@pytest.mark.parametrize(
    ("question", "thing", "said"),
    [
        ("Who is Ida Marrow?", "ida marrow", "Ida Marrow, an engineer, came in May."),
        ("What is a weir?", "weir", "A weir is a low dam."),
        ("What does GQA stand for?", "gqa", "We use grouped-query attention (GQA) here."),
        ("Who is the landlord?", "landlord", "Between Harbour Ltd (“the Landlord”) and Ms Ost."),
    ],
)
def test_questions_for_a_definition(question: str, thing: str, said: str) -> None:
    asks = asks_in_english(question)
    assert (asks.kind, asks.about) == ("definition", thing)
    assert asks.is_defined(said)
    assert not asks.is_defined(f"“Oh, you are {thing}.”")
    assert not asks.is_defined(f"The {thing} is able to wait.")


def test_questions_for_steps_and_for_lists_want_them_as_they_stand() -> None:
    steps, several = asks_in_english("How do I open the weir?"), asks_in_english("What are the kinds of heron?")
    assert steps.is_form("code")
    assert steps.is_form("list")
    assert several.is_form("list")
    assert not several.is_form("code")
    assert steps.bonus("x", "code") > steps.bonus("x", "sentence")


@pytest.mark.parametrize(
    "question",
    ["Who rebuilt it?", "Whose eyes look out?", "In which village does he live?", "Where is it?", "What was the name?"],
)
def test_questions_for_a_name(question: str) -> None:
    asks = asks_in_english(question)
    assert asks.kind in ("person", "place", "name")
    assert not asks.figure


@pytest.mark.parametrize(
    "question",
    [
        "Why did it fail?",
        "How does it work?",
        "Is it true?",
        "",
        "?!",
        "نعم؟",
        "Wann wurde es gebaut?",
        "Wie viele Leute waren es?",
        "Wer hat es gebaut?",
        "Combien de modèles ?",
    ],
)
def test_questions_for_neither(question: str) -> None:
    asks = asks_in_english(question)
    assert asks.bonus("In 1897, twelve people and Ida Marrow built it in Halden.", "sentence") == 0
    assert not asks.is_name("In 1897, Ida Marrow built it.")


def test_a_name_that_is_in_the_question_is_no_answer() -> None:
    asks = asks_in_english("Who built the Halden weir?")
    assert asks.is_name("It was Ida Marrow who built it.")
    assert not asks.is_name("Everybody knew the Halden well.")
    assert not asks.is_name("Nobody knows.")


def test_a_price_is_worth_more_than_another_figure_where_a_price_is_asked() -> None:
    asks = asks_in_english("And what does it cost?")
    price, others = "The price per child is 165 euros.", "Twenty-three children are registered."
    assert asks.bonus(price, "sentence") > asks.bonus(others, "sentence") > 0


@pytest.mark.parametrize(
    ("question", "needed"),
    [
        ("When was it built?", True),
        ("What is the phone number of the mill?", True),
        ("When is the fee paid back?", False),
        ("Wann wurde es gebaut?", False),
    ],
)
def test_what_was_at_a_time_needs_a_date(question: str, *, needed: bool) -> None:
    assert asks_in_english(question).needed is needed
