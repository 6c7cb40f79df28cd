"""What asks for a quantity is no word to search for, in any of the languages listed."""

from __future__ import annotations

import pytest

from anabranch.text.quantity_questions import measure_words, without_quantity_words


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("How many employees does Lyft have?", "employees does Lyft have?"),
        ("And how much cash?", "And cash?"),
        ("Wie viele Mitarbeiter hat Lyft?", "Mitarbeiter hat Lyft?"),
        ("Wieviel kostet es?", "kostet es?"),
        ("Combien d'employés ?", "d'employés ?"),
        ("¿Cuántos empleados tiene?", "¿ empleados tiene?"),
        ("Quanti dipendenti ha?", "dipendenti ha?"),
        ("Сколько сотрудников?", "сотрудников?"),
        ("Who sang How Much Is That Doggie?", "Who sang How Much Is That Doggie?"),
        ("How long is the river?", "How long is the river?"),
        ("Quantum of what?", "Quantum of what?"),
        ("how many?", "how many?"),
        ("", ""),
    ],
)
def test_what_is_left(question: str, rest: str):
    assert " ".join(without_quantity_words(question).split()) == " ".join(rest.split())


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How long must the onions be cooked?", {"how", "long"}),
        ("And how much is it?", {"how", "much"}),
        ("Wie hoch war der Verbrauch?", {"wie", "hoch"}),
        ("¿Cuánto tiempo se cuece?", {"cuánto", "tiempo"}),
        ("Hur länge kokar löken?", {"hur", "länge"}),
        ("What does the long bridge span?", set()),
        ("How longing speaks", set()),
    ],
)
def test_words_that_ask_for_a_measure(question: str, words: set[str]) -> None:
    assert measure_words(question) == words
