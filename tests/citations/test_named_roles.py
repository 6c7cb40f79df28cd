"""What stands in brackets behind a name is of that name."""

from __future__ import annotations

import pytest

from tests.citations.test_alignment import aligned

PRESENT = (
    "**Present:** Ines Halloran (chair), Pavel Dubrovin (treasurer), Shauna Okafor (youth), Wim Aerts (boats)\n"
    "**Apologies:** Grete Voss"
)
ANWESEND = "Anwesend waren Karl Rinne (Vorsitz), Ada Stern (Kasse) und Bo Ost (Jugend). Entschuldigt fehlte Eva Lund."
LISTE = "Anwesend: Karl Rinne, Vorsitz; Ada Stern, Kasse; Bo Ost, Jugend."
PRESENTS = "Étaient présents Anne Morel (présidente), Luc Petit (trésorier) et Jean Roux (matériel)."
SWITZER = "The jury heard Rosa Keller (Basel), Jon Arnold (Chur) and Mia Weber."
ALIAS = "The Harbour Trust (HT) pays Castle Deposits for the pier."


@pytest.mark.parametrize(
    ("claim", "question", "text", "holds"),
    [
        ("Wim Aerts is the treasurer.", "Who is the treasurer?", PRESENT, False),
        ("Grete Voss is the treasurer.", "Who is the treasurer?", PRESENT, False),
        ("The treasurer is Wim Aerts.", "Who is the treasurer?", PRESENT, False),
        ("Wim Aerts", "Who is the treasurer?", PRESENT, False),
        ("Wim is the treasurer.", "Who is the treasurer?", PRESENT, False),
        ("Pavel Dubrovin is the chair and Ines Halloran the treasurer.", "Who is who?", PRESENT, False),
        ("Pavel Dubrovin is the treasurer.", "Who is the treasurer?", PRESENT, True),
        ("Pavel Dubrovin", "Who is the treasurer?", PRESENT, True),
        ("The treasurer is Pavel Dubrovin.", "Who is the treasurer?", PRESENT, True),
        ("The treasurer Pavel Dubrovin was present.", "Who was present?", PRESENT, True),
        ("Ines Halloran (chair) and Pavel Dubrovin (treasurer) were present.", "Who was present?", PRESENT, True),
        ("Ines Halloran, Pavel Dubrovin, Shauna Okafor and Wim Aerts were present.", "Who was present?", PRESENT, True),
        ("Jon Arnold is from Basel.", "Who is from Basel?", SWITZER, False),
        ("Mia Weber", "Who is from Basel?", SWITZER, False),
        ("Rosa Keller is from Basel.", "Who is from Basel?", SWITZER, True),
        ("HT pays Castle Deposits for the pier.", "Who pays Castle Deposits?", ALIAS, True),
        ("Bo Ost hat den Vorsitz.", "Wer hat den Vorsitz?", ANWESEND, False),
        ("Eva Lund führt die Kasse.", "Wer führt die Kasse?", ANWESEND, False),
        ("Karl Rinne hat den Vorsitz.", "Wer hat den Vorsitz?", ANWESEND, True),
        ("Bo Ost hat den Vorsitz.", "Wer hat den Vorsitz?", LISTE, False),
        ("Karl Rinne hat den Vorsitz.", "Wer hat den Vorsitz?", LISTE, True),
        ("Jean Roux est trésorier.", "Qui est trésorier ?", PRESENTS, False),
        ("Luc Petit est trésorier.", "Qui est trésorier ?", PRESENTS, True),
    ],
)
def test_a_role_belongs_to_the_name_before_it(claim: str, question: str, text: str, holds: bool) -> None:
    assert (aligned(claim, question, text).grade != "not_confirmed") is holds


@pytest.mark.parametrize(
    ("claim", "question", "text"),
    [
        (
            "Ada Stern was born in Germany.",
            "Where was Ada Stern born?",
            "Ada Stern was born in Bremen (Germany) in 1850.",
        ),
        (
            "Karl Rinne kaufte die Mühle für 500 Euro.",
            "Was zahlte Karl Rinne?",
            "Karl Rinne kaufte die Mühle von Anna Ost (500 Euro).",
        ),
        (
            "Marie Curie won the Nobel Prize twice, in 1903 and 1911.",
            "How often did Marie Curie win?",
            "Marie Curie won the Nobel Prize twice, in Physics (1903) and in Chemistry (1911).",
        ),
    ],
)
def test_what_is_said_in_passing_is_no_role(claim: str, question: str, text: str) -> None:
    assert aligned(claim, question, text).grade != "not_confirmed"
