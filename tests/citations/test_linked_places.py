"""Answers that two passages hold together: the name that links them, and what links nothing."""

from __future__ import annotations

import pytest

from anabranch.citations.alignment import Alignment
from anabranch.citations.passage_text import PassageText

BRIDGE = "The old swing bridge over the river Tarn was built by Ostrand Steel in a single summer."
MAKER = "Ostrand Steel is a family firm. Its head, Liv Moen, lives in Bergen. It has nine plants."
OTHER = "The river Lene has a swing bridge too. It was painted green in spring."
ASKED = "Who is the head of the firm that built the old swing bridge over the river Tarn?"

BRUECKE = "Die alte Drehbrücke über den Tarn wurde in einem Sommer von Karl Ostrand gebaut."
ERBAUER = "Karl Ostrand gehörte ein Betrieb in Bergen. Geleitet wurde der Betrieb von Liv Moen."
GEFRAGT = "Wer leitete den Betrieb, dessen Besitzer die alte Drehbrücke über den Tarn baute?"
PONT = "Le vieux pont tournant sur le Tarn a été construit en un seul été par Acier Ostrand."
FIRME = "La société Acier Ostrand est dirigée par Liv Moen depuis Bergen."
DEMANDE = "Qui dirige la société qui a construit le vieux pont tournant sur le Tarn ?"


def grade(claim: str, question: str, *passages: tuple[str, str]) -> str:
    read = {number: PassageText(str(number), text, label) for number, (label, text) in enumerate(passages, start=1)}
    return Alignment(read, question).of(claim).grade


@pytest.mark.parametrize(
    ("claim", "question", "passages"),
    [
        ("Liv Moen", ASKED, [("", BRIDGE), ("Ostrand Steel", MAKER)]),
        ("The builder of the old swing bridge is led by Liv Moen.", ASKED, [("", BRIDGE), ("Ostrand Steel", MAKER)]),
        ("Liv Moen", GEFRAGT, [("", BRUECKE), ("Karl Ostrand", ERBAUER)]),
        ("Liv Moen", DEMANDE, [("", PONT), ("", FIRME)]),
    ],
)
def test_a_name_that_two_passages_share_leads_to_the_answer(
    claim: str, question: str, passages: list[tuple[str, str]]
) -> None:
    assert grade(claim, question, *passages) == "found"
    # It is the other passage that makes it one.
    assert grade(claim, question, passages[0], ("", passages[1][1].replace("Ostrand", "Vidal"))) == "not_confirmed"


@pytest.mark.parametrize(
    ("claim", "passages"),
    [
        # One word: a country or a month links anything.
        ("Liv Moen", [("", BRIDGE.replace("Ostrand Steel", "Norway")), ("", f"{MAKER} It is in Norway.")]),
        # What both are headed by, as all parts of a document are.
        ("Liv Moen", [("Annual Report", BRIDGE), ("Annual Report", MAKER.replace("Ostrand Steel", "Vidal"))]),
        # What is in doubt vouches for nothing.
        (
            "Liv Moen",
            [("", BRIDGE.replace("Ostrand Steel", "Liv Moen")), ("", "Liv Moen lives in Bergen, a head case.")],
        ),
        # Nothing of the question stands there.
        ("Ole Lund", [("", BRIDGE), ("", "Ostrand Steel once sued Ole Lund. Herons nest at the mill.")]),
        # Rows of tables share the names of their columns.
        ("41", [("", BRIDGE), ("", "| Ostrand Steel | head |\n|---|---|\n| Bergen | 41 |\n| Molde | 17 |")]),
    ],
)
def test_what_links_nothing(claim: str, passages: list[tuple[str, str]]) -> None:
    assert grade(claim, ASKED, *passages, ("", OTHER)) != "found"


def test_a_link_needs_enough_of_the_question() -> None:
    question = "Who is the head of the brewery that bought seven trucks, a lorry and the mill by the harbour?"
    assert grade("Liv Moen", question, ("", BRIDGE), ("", MAKER)) == "not_confirmed"


@pytest.mark.parametrize("name", ["M. Ostrand", "Ö. Ostrand"])
def test_the_stop_of_an_initial_parts_no_name(name: str) -> None:
    bridge, maker = (text.replace("Ostrand Steel", name) for text in (BRIDGE, MAKER))
    assert grade("Liv Moen", ASKED, ("", bridge), (name, maker)) == "found"
    # A comma does.
    two = name.replace(".", "o,")
    bridge, maker = (text.replace("Ostrand Steel", two) for text in (BRIDGE, MAKER))
    assert grade("Liv Moen", ASKED, ("", bridge), (two, maker)) == "not_confirmed"
