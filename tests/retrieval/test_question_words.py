"""What a reader is shown of a question that was searched for in other words, and which words an answer may lack."""

from __future__ import annotations

import pytest

from anabranch.retrieval.question_words import find_light_terms, find_own_words, list_queries, respell_question
from anabranch.text.function_words import LIGHT
from anabranch.types import Query


def _queries(asked: str, other: str, kind: str) -> list[Query]:
    return [Query(text=asked, weight=1.0, kind="asked"), Query(text=other, weight=0.5, kind=kind)]


@pytest.mark.parametrize(
    ("asked", "other", "word", "own"),
    [
        ("Gibt es Kurse für Erwachsene?", "Gibt es Kurse für erwachsenen?", "erwachsenen", "Erwachsene"),
        ("Chi sono i custodi?", "Chi sono i custod?", "custod", "custodi"),
    ],
)
def test_a_word_in_another_form_is_shown_as_the_reader_wrote_it(asked: str, other: str, word: str, own: str) -> None:
    queries = _queries(asked, other, "form")
    assert respell_question(asked, queries) == other
    assert list_queries(queries) == [asked]
    assert find_own_words(asked, queries)[word] == own


def test_a_correction_is_shown() -> None:
    queries = _queries("Where is the boilr?", "Where is the boiler?", "spelling")
    assert list_queries(queries) == ["Where is the boilr?", "Where is the boiler?"]
    assert find_own_words("Where is the boilr?", queries) == {}


@pytest.mark.parametrize(
    ("question", "words", "light"),
    [
        ("How do I get the archive back?", {"get": "get", "archiv": "archive", "back": "back"}, {"get", "back"}),
        ("Wie bekomme ich das Archiv zurück?", {"bekomm": "bekomme", "archiv": "Archiv"}, {"bekomm"}),
        ("Que faut-il faire de la caution ?", {"fair": "faire", "caution": "caution"}, {"fair"}),
    ],
)
def test_words_of_any_question_are_light_in_its_own_language(
    question: str, words: dict[str, str], light: set[str]
) -> None:
    assert find_light_terms(words, question) == light


def test_every_language_with_a_table_has_such_words() -> None:
    assert all(LIGHT.values())
