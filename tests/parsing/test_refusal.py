from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing.refusal import is_refusal

ENGLISH = [
    "I don't know.",
    "I don’t have enough information to answer that.",
    "I'm sorry, I cannot answer this question.",
    "The context does not contain the revenue of 2019.",
    "The provided passages do not mention Lyft's headcount.",
    "The given passages do not explicitly state who wrote it.",
    "The documents don't say when.",
    "The founder is not mentioned in the passages.",
    "There is no information about that in the text.",
    "Based on the passages, the answer cannot be determined.",
    "Not enough information.",
    "Unknown",
    "N/A",
    "I could not find the date.",
    "Nothing in these passages helps to answer the question.",
    "There is nothing relevant here.",
]
OTHERS = [
    "Ich weiß es nicht.",
    "Die Passagen sagen nicht, wer das Wehr gebaut hat.",
    "In den Dokumenten wird das nicht erwähnt.",
    "Je ne sais pas.",
    "Les passages ne disent pas qui a construit le barrage.",
    "Le document ne mentionne pas la date.",
    "No lo sé.",
    "Los pasajes no dicen quién construyó la presa.",
    "El texto no menciona la fecha.",
    "Non lo so.",
    "I brani non dicono chi ha costruito la diga.",
    "As passagens não dizem quem construiu a barragem.",
    "De passages zeggen niet wie de dam heeft gebouwd.",
    "Jag vet inte.",
    "Jeg ved det ikke.",
    "En tiedä.",
    "Bilmiyorum.",
    "В тексте не сказано, кто построил плотину.",
    "Я не знаю.",
    "لا أعرف.",
    "Δεν ξέρω.",
    "मुझे नहीं पता।",
    "Unbekannt.",
    "Inconnu",
]


@pytest.mark.parametrize("text", [*ENGLISH, *OTHERS])
def test_refusals(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Revenue was $3.2 billion.",
        "The passages do not say who founded it. However, they name its director as Ann Lee.",
        "Members may not be fined, and no fee is due.",
        "The unknown soldier was buried in 1921.",
        "The gold was never found.",
        "The police did not find the knife.",
        "Die Spiele finden nicht statt.",
        "Das weiße Haus ist nicht alt.",
        "Die Passagen sagen nicht, wer es baute. Das Wehr ist aber von 1850.",
        "No se permite fumar en el edificio.",
        "Las partes no se encuentran obligadas.",
        "I lavori non sono finiti.",
        "Le bateau n'est pas arrivé.",
        "Não são seis casas.",
        "Ved mødet var der ikke nogen.",
        "Kira sözleşmesi bu metin ile sona erer ve bir yıl sürer.",
        "x" * 500 + " I don't know",
    ],
)
def test_answers(text: str) -> None:
    assert not is_refusal(text)


@pytest.mark.work(10)
@pytest.mark.parametrize("unit", ["a'", "no ", "not the text. ", "\n", "’"])
def test_a_long_text_is_an_answer(unit: str) -> None:
    assert not is_refusal(unit * 100_000)


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    assert is_refusal(text) in (True, False)
