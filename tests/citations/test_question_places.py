"""How much a place speaks of a question."""

from __future__ import annotations

from anabranch.citations.passage_text import PassageText
from anabranch.citations.question_places import QuestionPlaces

# Each word is rarer than the one before it.
STEMS = [f"zoq{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
TEXT = " ".join(f"{' '.join(STEMS[:many]).capitalize()}." for many in range(1, len(STEMS) + 1))


def test_no_share_depends_on_the_order_of_the_words() -> None:
    places = QuestionPlaces(frozenset(STEMS), {1: PassageText("1", TEXT)})
    found = [STEMS[at : at + 6] for at in range(len(STEMS) - 6)]
    found += [STEMS[at::step][:6] for at in range(12) for step in (2, 3, 4)]
    # Sets of the same words may be in another order, as they are in another process; a claim must not depend on it.
    for words in found:
        assert places.share(frozenset(words), frozenset()) == places.share(frozenset(words[::-1]), frozenset())
