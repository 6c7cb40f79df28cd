"""What the program says by itself to somebody who asks nothing."""

from __future__ import annotations

import time

import pytest

from anabranch.text.phrases import greeting_reply, phrases_for, without_courtesy

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


LANGUAGES = ["english", "german", "french", "spanish", "italian", "portuguese", "dutch", "russian"]


@pytest.mark.parametrize("silence", ["late_model", "silent_model"])
def test_a_model_that_wrote_nothing_is_not_said_to_be_absent(silence: str) -> None:
    usual = [phrases_for("?", language) for language in LANGUAGES]
    silent = [phrases_for("?", language, silence=silence) for language in LANGUAGES]
    assert len({each[silence] for each in usual}) == len(LANGUAGES)
    for before, after in zip(usual, silent, strict=True):
        for name in ("passages", "weak_passages", "outline"):
            said, colon, rest = before[name].partition(":")
            assert after[name] == before[silence] + " " * said.endswith(" ") + colon + rest
    assert silent[0]["passages"].startswith("The chat model ")


def test_each_language_has_a_reply_of_its_own() -> None:
    assert len({greeting_reply(sentence) for sentences in TALK for sentence in sentences}) == 2 * len(TALK)


@pytest.mark.parametrize("question", ["Thanks to whom?", "thank you 7", "Merci Beaucoup Consulting", "Hi fidelity", ""])
def test_a_question_is_none(question: str) -> None:
    assert greeting_reply(question) == ""


@pytest.mark.parametrize(
    ("thanks", "in_longer"),
    [
        ("Thanks", ["Thanks, that was helpful.", "thanks a lot for your help", "Thank you very much, that helps"]),
        ("Danke", ["Danke, das hilft mir weiter.", "Vielen Dank für Ihre Hilfe!", "Super, danke, sehr hilfreich"]),
        ("Merci", ["Merci beaucoup pour votre aide", "Merci, c’est très utile !", "Merci, ça m'a bien aidé."]),
        ("Gracias", ["Muchas gracias por su ayuda", "Gracias, me ha ayudado mucho."]),
        ("Grazie", ["Grazie mille per l'aiuto", "Grazie, mi è stato molto utile."]),
        ("Obrigada", ["Muito obrigado pela sua ajuda", "Obrigada, isso me ajudou muito."]),
        ("Bedankt", ["Hartelijk dank voor uw hulp", "Bedankt, dat helpt me verder."]),
        ("Спасибо", ["Большое спасибо за помощь", "Спасибо, это было очень полезно."]),
    ],
)
def test_thanks_may_say_what_for(thanks: str, in_longer: list[str]) -> None:
    assert {greeting_reply(each) for each in in_longer} == {greeting_reply(thanks)} != {""}


@pytest.mark.parametrize(
    "question",
    [
        "Thanks, now summarise the minutes",
        "Thanks. Who is the treasurer",
        "That was very helpful",
        "your help",
        "Danke, jetzt das Protokoll",
        "Für die Hilfe",
        "Merci, qui est le trésorier",
    ],
)
def test_what_asks_for_more_is_a_question(question: str) -> None:
    assert greeting_reply(question) == ""


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Hi there, who is the boatman?", "who is the boatman?"),
        ("Good morning, who is the treasurer please?", "who is the treasurer?"),
        ("Hello!\nThanks, that was helpful. Who is the treasurer, please", "Who is the treasurer"),
        ("Guten Morgen, wer ist der Kassenwart, bitte?", "wer ist der Kassenwart?"),
        ("Danke, das hilft mir weiter. Wer ist der Bootswart?", "Wer ist der Bootswart?"),
        ("Bonjour ! Qui est le trésorier, s’il vous plaît ?", "Qui est le trésorier ?"),
        ("Merci.\nQui est le trésorier svp", "Qui est le trésorier"),
        ("¡Hola! ¿Quién es el tesorero, por favor?", "¿Quién es el tesorero?"),
        ("Buongiorno, chi è il tesoriere per favore?", "chi è il tesoriere?"),
        ("Bom dia, quem é o tesoureiro, por favor?", "quem é o tesoureiro?"),
        ("Goedemorgen, wie is de penningmeester alstublieft?", "wie is de penningmeester?"),
        ("Добрый день, кто казначей, пожалуйста?", "кто казначей?"),
        # Nothing is taken away from what has no such opening, or is nothing else.
        ("Hi Wim, fine", "Hi Wim, fine"),
        ("Hi-Fi, what is it?", "Hi-Fi, what is it?"),
        ("Good morning songs, who sings them?", "Good morning songs, who sings them?"),
        ("Morgenstern, wer ist das?", "Morgenstern, wer ist das?"),
        ("Please!", "Please!"),
        ("What does the word bitte mean?", "What does the word bitte mean?"),
        ("What is the German word for please?", "What is the German word for please?"),
        ("Wie sagt man bitte?", "Wie sagt man bitte?"),
        ("Who wrote Please Please Please?", "Who wrote Please Please Please?"),
        ("Good Morning, Vietnam: who directed it?", "Good Morning, Vietnam: who directed it?"),
        ("Tag, Uhrzeit und Ort?", "Tag, Uhrzeit und Ort?"),
        ("Hallo, Wann öffnet das Bad?", "Wann öffnet das Bad?"),
    ],
)
def test_courtesy_is_not_searched_for(question: str, asked: str) -> None:
    assert without_courtesy(question) == asked


@pytest.mark.parametrize("long", ["w" * 100_000, "w " * 50_000, " ." * 50_000 + "w"])
def test_a_very_long_question_takes_no_longer(long: str) -> None:
    began = time.process_time()
    assert without_courtesy(f"{long} please?").strip().endswith("?")
    assert time.process_time() - began < 1
