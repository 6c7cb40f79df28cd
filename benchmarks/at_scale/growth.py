"""How the vocabulary grows with the text, and the words that keep it growing where the text is used again.

A corpus made of the same sentences over and over would have a vocabulary that stops growing and no rare words, which is
what most of an inverted index consists of.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.at_scale.prose import words

POINTS = 20


@dataclass(frozen=True, slots=True)
class Heaps:
    """Heaps' law: `factor` x tokens^`exponent` distinct words."""

    factor: float
    exponent: float

    def vocabulary(self, tokens: int) -> int:
        """Return how many distinct words so many tokens should have."""
        return int(self.factor * tokens**self.exponent)


def fitted(texts: Iterable[str]) -> Heaps:
    """Return the law of a real text, by least squares in logarithms over the later nine tenths of its growth."""
    seen: set[str] = set()
    tokens, curve = 0, []
    for text in texts:
        for word in words(text):
            seen.add(word)
            tokens += 1
        curve.append((tokens, len(seen)))
    chosen = np.unique(np.geomspace(max(1, len(curve) // 10), len(curve) - 1, POINTS).astype(int))
    counts = np.log(np.array(curve)[chosen])
    exponent, offset = np.polyfit(counts[:, 0], counts[:, 1], 1)
    return Heaps(float(np.exp(offset)), float(exponent))


class Coiner:
    """Makes new words out of the halves of real ones.

    Each new one comes with one from before, the likelier the more often it was used (Simon 1955), so that the rare
    words have Zipf's distribution, too.
    """

    def __init__(self, texts: Sequence[str], law: Heaps, chance: random.Random) -> None:
        """Take the real text whose law and whose words are to be followed."""
        real = sorted({word for text in texts for word in words(text) if word.isalpha() and len(word) >= 6})
        self._real = frozenset(real)
        self._fronts = sorted({word[: len(word) // 2] for word in real})
        self._backs = sorted({word[len(word) // 2 :] for word in real})
        chance.shuffle(self._fronts)
        chance.shuffle(self._backs)
        self._law, self._chance = law, chance
        self._known: set[str] = set()
        self._history = array("I")
        self._coined = self._next = 0
        self.tokens = 0

    @property
    def vocabulary(self) -> int:
        """How many distinct words there are by now."""
        return len(self._known) + self._coined

    def read(self, sentence: str) -> None:
        """Take note of the words of a sentence that was not used before."""
        self._known.update(words(sentence))

    def due(self, tokens: int) -> list[str]:
        """Return the words that so many more tokens need; at most one token in ten becomes one of them."""
        self.tokens += tokens
        lacking = self._law.vocabulary(self.tokens) - self.vocabulary
        coined: list[str] = []
        for _ in range(min(max(lacking, 0), tokens // 20)):
            coined.append(self._new())
            again = self._chance.choice(self._history)
            self._history.append(again)
            coined.append(self._word(again))
        return coined

    def _new(self) -> str:
        while (word := self._word(self._next)) in self._real:
            self._next += 1
        self._history.append(self._next)
        self._next += 1
        self._coined += 1
        return word

    def _word(self, number: int) -> str:
        """Return a word of its own for each number; kept as numbers, millions of them take little memory."""
        turn, front = divmod(number, len(self._fronts))
        return self._fronts[front] + self._backs[(turn + front) % len(self._backs)]
