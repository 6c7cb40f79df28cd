"""What asks for a quantity is no word to search for, in any of the languages listed."""

from __future__ import annotations

import pytest

from anabranch.text.quantity_questions import without_quantity_words


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
