"""Measures how much of a claim a piece of text has: shared words and numbers, in any language.

No model is asked: this is lexical entailment by coverage of the claim's content words (Glickman et al. 2005). It does
not see that a text denies what the claim says, nor that it says it of somebody else.
"""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.citations.quantities import Figure, figures, has
from anabranch.text.analyzer import analyser


@dataclass(frozen=True, slots=True)
class Wording:
    """What of a text is compared, read once.

    Attributes:
        words: Content words, stemmed; without numbers.
        figures: Its numbers, in order.
    """

    words: frozenset[str]
    figures: tuple[Figure, ...]

    def joined(self, other: Wording) -> Wording:
        """Return the wording of two texts together."""
        return Wording(self.words | other.words, self.figures + other.figures)

    def support_by(self, text: Wording) -> float:
        """Return the share of these words and numbers that a text has, 0 to 1."""
        whole = len(self.words) + len(self.figures)
        matched = sum(has(text.figures, figure) for figure in self.figures)
        return (len(self.words & text.words) + matched) / whole if whole else 0.0


def wording(text: str) -> Wording:
    """Read a text for all comparisons."""
    terms = analyser().terms(text)
    return Wording(frozenset(term for term in terms if not any(map(str.isdigit, term))), figures(text))
