"""What a reader is shown of a question that was searched for in other words, and which words an answer may lack."""

from __future__ import annotations

from typing import Any, cast

import pytest

from anabranch.agent.nodes.support.question_words import as_searched, light_terms, own_words, shown_queries
from anabranch.text.function_words import LIGHT


def _state(asked: str, other: str, kind: str) -> Any:
    queries = [{"text": asked, "weight": 1.0, "kind": "asked"}, {"text": other, "weight": 0.5, "kind": kind}]
    return cast("Any", {"queries": queries, "standalone_question": asked})


@pytest.mark.parametrize(
    ("asked", "other", "word", "own"),
    [
        ("Gibt es Kurse für Erwachsene?", "Gibt es Kurse für erwachsenen?", "erwachsenen", "Erwachsene"),
        ("Chi sono i custodi?", "Chi sono i custod?", "custod", "custodi"),
    ],
)
def test_a_word_in_another_form_is_shown_as_the_reader_wrote_it(asked: str, other: str, word: str, own: str) -> None:
    state = _state(asked, other, "form")
    assert as_searched(state) == other
    assert shown_queries(state) == [asked]
    assert own_words(state)[word] == own


def test_a_correction_is_shown() -> None:
    state = _state("Where is the boilr?", "Where is the boiler?", "spelling")
    assert shown_queries(state) == ["Where is the boilr?", "Where is the boiler?"]
    assert own_words(state) == {}


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
    assert light_terms(words, question) == light


def test_every_language_with_a_table_has_such_words() -> None:
    assert all(LIGHT.values())
