"""What speaks against a span that has the words: for each rule a claim that it refuses and one that it lets be."""

from __future__ import annotations

import pytest

from anabranch.citations.agreement import ReadClaim, count_denials, has_replaced_word, is_same, shortest_run
from anabranch.citations.passage_text import Piece
from anabranch.citations.rivals import has_nearer_rival
from anabranch.citations.tokens import find_names, tokens

RARE = {"": 1.0}
HOLDS = ["aber", "das", "wehr", "halt"]
BUILDERS = "The weir was built by Ada Stern, and long after it a mill by Bo Lind."
YEARS = "The weir was built in 1850, and many years later a mill came in 1862."
JAHRE = "Das Wehr wurde 1850 gebaut, und viel später kam eine Mühle von 1862."


def claim(text: str, language: str = "english", question: str = "", there: str = "") -> ReadClaim:
    read = tuple(tokens(text, language, find_names(tokens(there, language))))
    asked = {token.text for token in tokens(question, language)}
    said = [token for token in read if token.kind not in ("function", "negation")]
    added = tuple(token for token in said if token.text not in asked)
    return ReadClaim(read, added, tuple(token for token in said if token.text in asked))


def piece(text: str, language: str = "english") -> Piece:
    return Piece(0, len(text), tuple(tokens(text, language)))


@pytest.mark.parametrize(
    ("text", "language", "times"),
    [
        ("It is not open.", "english", 1),
        ("No, it is open.", "english", 0),
        ("No, it is not open.", "english", 1),
        ("Es ist nicht offen.", "german", 1),
        ("Ce n'est pas ouvert.", "french", 1),
        ("Il ne vient jamais sans lui.", "french", 2),
        ("It is open.", "english", 0),
        ("No", "english", 1),
        ("", "english", 0),
    ],
)
def test_denials_are_counted(text: str, language: str, times: int) -> None:
    assert count_denials(tokens(text, language)) == times


@pytest.mark.parametrize(
    ("said", "there", "language", "wrong"),
    [
        (
            "Revenue of the company sank sharply in Norway.",
            "Revenue of the company rose sharply in Norway.",
            "english",
            True,
        ),
        (
            "Revenue of the company rose sharply in Norway.",
            "Revenue of the company rose sharply in Norway.",
            "english",
            False,
        ),
        ("The company sold ships.", "Revenue of the company rose sharply in Norway.", "english", False),
        ("Der Mieter trägt die Kosten des Kessels.", "Der Vermieter trägt die Kosten des Kessels.", "german", True),
        ("Der Mieter trägt die Kosten des Kessels.", "Der Mieter trägt die Kosten des Kessels.", "german", False),
    ],
)
def test_a_copy_with_one_word_for_another(said: str, there: str, language: str, wrong: bool) -> None:
    assert has_replaced_word(claim(said, language), piece(there, language)) is wrong


@pytest.mark.parametrize(
    ("said", "question", "there", "language", "wrong"),
    [
        ("Bo Lind", "Who built the weir?", BUILDERS, "english", True),
        ("Ada Stern", "Who built the weir?", BUILDERS, "english", False),
        ("1862", "When was the weir built?", YEARS, "english", True),
        ("1850", "When was the weir built?", YEARS, "english", False),
        ("1862", "Wann wurde das Wehr gebaut?", JAHRE, "german", True),
        ("1850", "Wann wurde das Wehr gebaut?", JAHRE, "german", False),
    ],
)  # fmt: skip
def test_a_rival_that_stands_nearer(said: str, question: str, there: str, language: str, wrong: bool) -> None:
    asked = tokens(question, language)
    assert has_nearer_rival(claim(said, language, question, there), piece(there, language), asked, RARE) is wrong


@pytest.mark.parametrize(
    ("said", "question", "there", "language"),
    [
        (
            "Mina Ortega",
            "Who built the weir?",
            "Mina Ortega (born 2 June 1888), of the northern school, called Kun Lind, built the weir.",
            "english",
        ),
        (
            "Mina Ortega",
            "¿Quién construyó la presa?",
            "Mina Ortega (nacida el 2 de junio de 1888), de la escuela, llamada Kun Lind, construyó la presa.",
            "spanish",
        ),
    ],
)
def test_what_a_passage_is_headed_by_is_outdone_by_none(said: str, question: str, there: str, language: str) -> None:
    read, span, asked = (
        claim(said, language, question, f"by {said}"),
        piece(there, language),
        tokens(question, language),
    )
    assert has_nearer_rival(read, span, asked, RARE)
    assert not has_nearer_rival(read, span, asked, RARE, piece("Mina Ortega", language))
    # What only stands in it is no subject of its sentence.
    later = piece(f"Hoy, {there}", language)
    assert has_nearer_rival(read, later, asked, RARE, piece("Mina Ortega", language))


REVENUE = "Revenue rose to $4.2 billion in 2023 from $3.9 billion in 2022, driven by freight."
FEES = "Das Schild nennt 40 Euro für Erwachsene und 15 Euro für Kinder, von Montag an."
SIGNED = "Il contratto è stato firmato da Lucia Ferrante per il frantoio e da Paolo Gentile per i negozi."


@pytest.mark.parametrize(
    ("said", "question", "there", "language", "wrong"),
    [
        ("$3.9 billion", "What was the revenue in 2023?", REVENUE, "english", True),
        ("$4.2 billion", "What was the revenue in 2023?", REVENUE, "english", False),
        ("$3.9 billion", "What was the revenue in 2022?", REVENUE, "english", False),
        ("40 Euro", "Was zahlen Kinder?", FEES, "german", True),
        ("15 Euro", "Was zahlen Kinder?", FEES, "german", False),
        ("40 Euro", "Was zahlen Erwachsene?", FEES, "german", False),
        ("Paolo Gentile", "Chi ha firmato per il frantoio?", SIGNED, "italian", True),
        ("Lucia Ferrante", "Chi ha firmato per il frantoio?", SIGNED, "italian", False),
    ],
)
def test_a_rival_that_a_word_of_the_question_follows(
    said: str, question: str, there: str, language: str, wrong: bool
) -> None:
    asked = tokens(question, language)
    assert has_nearer_rival(claim(said, language, question, there), piece(there, language), asked, RARE) is wrong


@pytest.mark.parametrize(
    ("said", "there", "language", "run"),
    [
        ("The weir holds.", "It rained. The old weir never holds in May.", "english", ["weir", "never", "holds"]),
        (
            "Das Wehr hält.",
            "Es regnet, aber das Wehr hält es nicht.",
            "german",
            [*HOLDS, "es", "nicht"],
        ),
        ("Das Wehr hält.", "Es regnet, aber das Wehr hält und sagt nichts.", "german", HOLDS),
        ("Pigs fly.", "It rained.", "english", []),
        ("", "", "english", []),
    ],
)
def test_the_shortest_run_that_has_the_words(said: str, there: str, language: str, run: list[str]) -> None:
    found = [token.text for token in shortest_run(claim(said, language), piece(there, language), language)]
    assert found == run


@pytest.mark.parametrize(
    ("one", "other", "language", "equal"),
    [
        ("2,000", "2000", "english", True),
        ("zwölf", "12", "german", True),
        ("März", "Mai", "german", False),
        ("Weirs", "weir", "english", True),
        ("Montag", "Montags", "german", False),
        ("weir", "mill", "english", False),
    ],
)
def test_the_same_word_in_another_form(one: str, other: str, language: str, equal: bool) -> None:
    assert is_same(tokens(f"x {one}", language)[-1], tokens(f"x {other}", language)[-1]) is equal
