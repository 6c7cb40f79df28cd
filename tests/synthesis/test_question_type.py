"""What a question in any language asks for."""

from __future__ import annotations

import pytest

from anabranch.synthesis.question_type import asks_of


@pytest.mark.parametrize(
    ("question", "language", "whether"),
    [
        ("Is broadband included?", "english", True),
        ("What is included?", "english", False),
        ("In which room is it?", "english", False),
        ("Ist Internet enthalten?", "german", True),
        ("Was ist enthalten?", "german", False),
        ("Was the mill built in 1897?", "english", True),
        ("¿Está incluido el agua?", "spanish", True),
        ("¿Qué está incluido?", "spanish", False),
        ("Включена ли вода?", "russian", True),
        ("Что включено?", "russian", False),
        ("水は含まれますか", "", False),
        ("?", "english", False),
    ],
)
def test_what_a_yes_or_a_no_answers(question: str, language: str, whether: bool) -> None:
    assert asks_of(question, language).whether is whether


@pytest.mark.parametrize(
    ("question", "language", "said", "figure"),
    [
        ("Wie hoch ist die Miete?", "german", "Sie beträgt 850 Euro.", True),
        ("Wie lange ist die Frist?", "german", "Man kann mit einer Frist von drei Monaten kündigen.", True),
        ("Wie lange ist die Frist?", "german", "Der Mieter kann mit einer Frist kündigen.", False),
        ("Was kostet der Leim?", "german", "Er kostet 8,95 Euro.", True),
        ("Wer ist der Mieter?", "german", "Er zahlt 850 Euro.", False),
        ("Combien de clés y a-t-il ?", "french", "Il y a deux clés.", True),
        ("How much is the rent?", "english", "It is two pounds.", True),
    ],
)
def test_a_question_for_a_figure_prefers_a_number(question: str, language: str, said: str, figure: bool) -> None:
    assert (asks_of(question, language).bonus(said, "sentence") > 0) is figure
