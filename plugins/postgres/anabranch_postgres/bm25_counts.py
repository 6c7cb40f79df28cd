"""BM25 from counts: the rarity of terms and the scores of leaves, computed exactly as in a folder."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from anabranch.store.index.bm25 import K1, B


@dataclass(frozen=True, slots=True)
class TermCounts:
    """The BM25 statistics of the leaves that a caller may read.

    Attributes:
        leaves: The number of these leaves.
        mean: Their average number of terms.
        frequencies: How many of them hold a term, by the term's number.
    """

    leaves: int
    mean: float
    frequencies: Mapping[int, int]

    def idf(self, term: str) -> float | None:
        """Return the inverse document frequency of a term, None where no leaf has it."""
        frequency = self.frequencies.get(term_number(term), 0)
        return self._idf(frequency) if frequency > 0 else None

    def _idf(self, frequency: int) -> float:
        # While a removal is being counted, a frequency may exceed the number of leaves, and the logarithm must not
        # fail.
        others = max(self.leaves - frequency, 0)
        return max(0.0, math.log(others + 0.5) - math.log(frequency + 0.5))


# Cached for frequent words: a hash is cheap, but a passage has a hundred.
@lru_cache(1 << 16)
def term_number(term: str) -> int:
    """Return the number of a term: the first 64 bits of a hash of it."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


def term_counts(rows: Sequence[tuple[int | None, int, int]]) -> TermCounts:
    """Return the counts from the rows of `PostgresSearch.statistics`."""
    leaves = sum(row[1] for row in rows if row[0] is None)
    length = sum(row[2] for row in rows if row[0] is None)
    frequencies = {term: frequency for term, frequency, _ in rows if term is not None}
    return TermCounts(leaves, length / leaves if leaves else 0.0, frequencies)


def bm25_scores(
    rows: Sequence[tuple[Any, ...]], asked: Sequence[str], terms: Sequence[str], known: TermCounts
) -> dict[str, float]:
    """Return the score of each leaf for the terms of a question.

    Args:
        rows: Number, name and length of each leaf, and how often it has each distinct one of `asked`.
        asked: The counted terms, which include those of the question.
        terms: The terms of the question.
        known: The statistics for the caller.
    """
    if not rows:
        return {}
    norms = np.array([row[2] for row in rows], dtype=np.float64)
    norms = K1 * (1 - B + B * norms / known.mean) if known.mean > 0 else np.zeros(len(rows))
    counts = dict(zip(dict.fromkeys(asked), np.array([row[3] for row in rows], dtype=np.float64).T, strict=True))
    scores = np.zeros(len(rows), dtype=np.float64)
    # Add in the order of the question's terms, as in a folder: another order differs in the last bit.
    for term in terms:
        idf = known.idf(term)
        if idf is not None:
            scores += idf * (counts[term] * (K1 + 1) / (counts[term] + norms))
    return dict(zip((row[1] for row in rows), scores.tolist(), strict=True))
