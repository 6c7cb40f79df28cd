"""BM25 from counts: how rare a term is, and what a leaf scores, by the same steps as in a folder."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anabranch.store.index.bm25 import K1, B


@dataclass(frozen=True, slots=True)
class TermCounts:
    """What BM25 knows of the leaves that a caller may read.

    Attributes:
        leaves: How many those are.
        mean: Terms of one on the average.
        frequencies: In how many of them a term is, by its number.
    """

    leaves: int
    mean: float
    frequencies: Mapping[int, int]

    def idf(self, term: str) -> float | None:
        """Return the inverse document frequency of a term, None where no leaf has it."""
        frequency = self.frequencies.get(term_number(term), 0)
        return self._idf(frequency) if frequency > 0 else None

    def rare(self) -> float:
        """Return what a term that one leaf holds adds to its score at most."""
        return self._idf(1) * (K1 + 1) if self.leaves > 0 else 0.0

    def _idf(self, frequency: int) -> float:
        # More leaves than there are cannot hold a word; a removal that is being counted must not end in a logarithm.
        others = max(self.leaves - frequency, 0)
        return max(0.0, math.log(others + 0.5) - math.log(frequency + 0.5))


def term_number(term: str) -> int:
    """Return the number of a term: the first 64 bits of a hash of it."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


def bm25_scores(
    rows: Sequence[tuple[Any, ...]], counts: Mapping[tuple[int, int], int], terms: Sequence[str], known: TermCounts
) -> dict[str, float]:
    """Return the score of each leaf: rows of its number, its name and its length."""
    lengths = np.array([row[2] for row in rows], dtype=np.float64)
    norms = K1 * (1 - B + B * lengths / known.mean) if known.mean > 0 else np.zeros(len(rows))
    scores = np.zeros(len(rows), dtype=np.float64)
    # In the order of the question's terms, as in a folder: a sum in another order differs in its last bit.
    for term in terms:
        idf = known.idf(term)
        if idf is not None:
            number = term_number(term)
            own = np.array([counts.get((row[0], number), 0) for row in rows], dtype=np.float64)
            scores += idf * (own * (K1 + 1) / (own + norms))
    return dict(zip((row[1] for row in rows), scores.tolist(), strict=True))
