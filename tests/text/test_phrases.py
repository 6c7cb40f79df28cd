"""What the program says by itself to somebody who asks nothing."""

from __future__ import annotations

import pytest

from anabranch.text.phrases import greeting_reply

TALK = [
    ("Hello!", "Good evening", "thanks!", "Thank you, goodbye"),
    ("Guten Tag", "Grüß Gott!", "Danke schön!", "Auf Wiedersehen"),
    ("Bonjour", "Salut !", "Merci beaucoup", "Au revoir !"),
    ("¡Hola!", "Buenas tardes", "Muchas gracias", "Adiós"),
    ("Ciao", "Buon giorno", "Grazie mille", "Arrivederci"),
    ("Olá", "Bom dia", "Obrigada!", "Tchau"),
    ("Hoi", "Goedemorgen", "Dank u wel", "Tot ziens"),
    ("Привет", "Добрый день", "Большое спасибо", "До свидания"),
]


@pytest.mark.parametrize(("hello", "good_day", "thanks", "farewell"), TALK)
def test_thanks_and_farewells_are_not_answered_with_a_greeting(
    hello: str, good_day: str, thanks: str, farewell: str
) -> None:
    assert greeting_reply(hello) == greeting_reply(good_day) != ""
    assert greeting_reply(thanks) == greeting_reply(farewell) != ""
    assert greeting_reply(hello) != greeting_reply(thanks)


def test_each_language_has_a_reply_of_its_own() -> None:
    assert len({greeting_reply(sentence) for sentences in TALK for sentence in sentences}) == 2 * len(TALK)


@pytest.mark.parametrize("question", ["Thanks to whom?", "thank you 7", "Merci Beaucoup Consulting", "Hi fidelity", ""])
def test_a_question_is_none(question: str) -> None:
    assert greeting_reply(question) == ""
