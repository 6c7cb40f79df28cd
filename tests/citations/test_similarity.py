"""Claims in other words: they are placed by similarity, unless something speaks against the place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from anabranch.citations.passage_text import PassageText
from anabranch.citations.similarity import add_similar
from anabranch.citations.verification import Attribution, attribute
from anabranch.models.embedder import Embedder, Vectors
from anabranch.models.embedders import load_embedder

BRIDGE = (
    "The buyer of the house was a corn merchant named Thaddeus Orr. Edmund refuses to sell the old lantern to the "
    "museum. He kept it in the blue room until 1894."
)
KESSEL = "Vor der Reinigung muss der Hauptschalter ausgeschaltet werden. Den Filter wechselt Anna Berg im November."
QIAO = "青石桥建于1743年，由石匠陈永福主持修建。现在桥上禁止汽车通行，自行车可以通行。"


class Counting:
    """The bundled embedder, or another one by name, with the texts that it was asked for."""

    def __init__(self, name: str = "") -> None:
        self._model: Embedder = load_embedder("minilm")
        self.name = name or self._model.name
        self.dimension = self._model.dimension
        self.count = self._model.count
        self.offsets = self._model.offsets
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(list(texts))
        return self._model.embed(texts)


def attributed(claim: str, question: str, text: str) -> Attribution:
    return attribute(claim, {1: PassageText("p", text)}, question)


def shown(found: Attribution) -> list[str]:
    return [record.quote for record in found.set_markers().citations]


@pytest.mark.parametrize(
    ("claim", "question", "text", "quote"),
    [
        (
            "Thaddeus Orr, a dealer in grain, acquired the property.", "Who bought the house?", BRIDGE,
            "The buyer of the house was a corn merchant named Thaddeus Orr.",
        ),
        (
            "Man muss den Hauptschalter ausschalten, bevor man reinigt.", "Was ist vor der Reinigung zu tun?", KESSEL,
            "Vor der Reinigung muss der Hauptschalter ausgeschaltet werden.",
        ),
    ],
)  # fmt: skip
def test_a_sentence_that_is_alike_supports_a_claim_in_other_words(
    claim: str, question: str, text: str, quote: str
) -> None:
    found, embedder = attributed(claim, question, text), Counting()
    assert shown(found) == []
    similar = add_similar(found, embedder)
    (record,) = similar.set_markers().citations
    assert record.quote.startswith(quote)
    assert record.grade == "found"
    (texts,) = embedder.asked
    assert claim in texts
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("claim", "question", "text"),
    [
        ("Edmund, a dealer in grain, acquired the property.", "Who bought the house?", BRIDGE),
        ("Thaddeus Orr, a dealer in grain, acquired the property in 1894.", "Who bought the house?", BRIDGE),
        ("Thaddeus Orr, a dealer in grain, never acquired the property.", "Who bought the house?", BRIDGE),
        ("Man muss den Hauptschalter nicht ausschalten, bevor man reinigt.", "Was tun vor der Reinigung?", KESSEL),
        ("Man muss den Hauptschalter ausschalten, bevor Karl Ost reinigt.", "Was tun vor der Reinigung?", KESSEL),
        ("Breakfast is served in the garden.", "Who bought the house?", BRIDGE),
    ],
)
def test_what_speaks_against_a_span_does_so_however_alike_it_is(claim: str, question: str, text: str) -> None:
    assert shown(add_similar(attributed(claim, question, text), Counting())) == []


@pytest.mark.parametrize(
    ("claim", "question", "text", "name"),
    [
        ("Edmund refuses to sell the old lantern to the museum.", "Who sells the lantern?", BRIDGE, ""),
        ("青石桥由李国栋主持修建。", "青石桥是谁主持修建的？", QIAO, ""),
        ("Thaddeus Orr, a dealer in grain, acquired the property.", "Who bought the house?", BRIDGE, "other"),
    ],
    ids=["all is placed", "another script", "another embedder"],
)
def test_nothing_is_embedded_where_it_would_tell_nothing(claim: str, question: str, text: str, name: str) -> None:
    found, embedder = attributed(claim, question, text), Counting(name)
    assert add_similar(found, embedder) == found
    assert embedder.asked == []


def test_one_call_is_made_for_all_claims_and_the_others_stay_as_they_are() -> None:
    answer = (
        "Thaddeus Orr, a dealer in grain, acquired the property. Edmund refuses to sell the old lantern. "
        "It was purchased by Thaddeus Orr, who traded in grain."
    )
    found, embedder = attributed(answer, "Who bought the house?", BRIDGE), Counting()
    similar = add_similar(found, embedder)
    assert len(embedder.asked) == 1
    assert [one.grade for _, one in similar.found] == ["found", "quoted", "found"]
    placed = [one for _, one in found.found if one.number]
    assert placed
    assert [one for _, one in similar.found if one in placed] == placed
