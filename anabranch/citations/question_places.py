"""How close each sentence of some passages is to a question, by shared words; rare words count more."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from anabranch.citations.passage_text import PassageText

# Share of the best place's score that another place needs.
ENOUGH_OF_BEST = 0.6
# Least score of a place.
LEAST_PLACE = 0.2


class QuestionPlaces:
    """Scores of sentences by their closeness to a question.

    Attributes:
        rarity: Inverse document frequency of each stem over the sentences; "" is that of an unknown stem.
        by_passage: For each sentence, by passage number, the share of the question's words that it has; words of its
            neighbours count half.
        best: The largest of these.
    """

    def __init__(self, question: frozenset[str], passages: Mapping[int, PassageText]) -> None:
        """Read the passages for the stems of a question."""
        self._question = question
        self.rarity = _rarity(passages.values())
        self._all = self._rare(question) or 1.0
        self.by_passage = {number: self._places(passage) for number, passage in passages.items()}
        self.best = max((place for places in self.by_passage.values() for place in places), default=0.0)

    def speaks(self, place: float) -> bool:
        """Tell whether a place is close to the question; every place is if there is no question."""
        return not self._question or (place >= LEAST_PLACE and place >= ENOUGH_OF_BEST * self.best)

    def share(self, own: frozenset[str], near: frozenset[str]) -> float:
        """Return the share of the question's words in a place; words that are only near count half."""
        return (self._rare(own) + 0.5 * self._rare(near - own)) / self._all

    def _places(self, passage: PassageText) -> list[float]:
        pieces = [piece.terms & self._question for piece in passage.sentences]
        label = passage.about.terms & self._question
        # Neighbours count, because a sentence may not name what the previous one has named.
        near = [label.union(*pieces[max(at - 1, 0) : at + 2]) for at in range(len(pieces))]
        return [self.share(own, by) for own, by in zip(pieces, near, strict=True)]

    def _rare(self, terms: Iterable[str]) -> float:
        return math.fsum(self.rarity.get(term, self.rarity[""]) for term in terms)


def _rarity(passages: Iterable[PassageText]) -> dict[str, float]:
    pieces = [piece for passage in passages for piece in passage.sentences]
    counts = Counter(term for piece in pieces for term in piece.terms)
    whole = len(pieces) + 1
    return {term: math.log(1 + whole / count) for term, count in counts.items()} | {"": math.log(1 + whole)}
