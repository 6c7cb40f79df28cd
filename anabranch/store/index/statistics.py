"""What BM25 has to know of the whole corpus, kept up to date at the cost of each change.

Okapi BM25 (Robertson and Zaragoza 2009) with the floor of `rank_bm25.BM25Okapi`: an inverse document frequency below
zero becomes epsilon times the mean one over all terms. That mean only depends on how many terms have each document
frequency, so a histogram of those stands for the vocabulary.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

EPSILON = 0.25
BLOCK = 1 << 20
"""Terms whose frequencies are in memory at a time."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of the rows that are alive.

    Attributes:
        rows: How many there are.
        length: Their terms in all, duplicates counted.
        histogram: Shape (2, n): document frequencies from 1 up, and how many terms have each.
    """

    rows: int
    length: int
    histogram: NDArray[np.int64]

    @property
    def mean_length(self) -> float:
        """Terms in a row, on average."""
        return self.length / self.rows if self.rows else 0.0

    def floor(self) -> float:
        """Return what stands for an inverse document frequency below zero."""
        frequencies, terms = self.histogram
        if not len(terms):
            return 0.0
        raw = np.log(self.rows - frequencies + 0.5) - np.log(frequencies + 0.5)
        return EPSILON * float(np.dot(raw, terms) / terms.sum())

    def idf(self, frequency: int) -> float:
        """Return log((N - n + 0.5) / (n + 0.5)), below zero where `floor` stands for it, as `BM25Okapi._calc_idf`."""
        return math.log(self.rows - frequency + 0.5) - math.log(frequency + 0.5)


NOTHING = Statistics(0, 0, np.zeros((2, 0), dtype=np.int64))
"""Of an index without rows."""


def histogram_of(frequencies: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many terms have each document frequency, terms that are nowhere left out."""
    return np.stack(np.unique(frequencies[frequencies > 0], return_counts=True)).astype(np.int64)


def summed(vocabularies: Sequence[Iterator[tuple[bytes, int]]]) -> NDArray[np.int64]:
    """Return the histogram of several vocabularies as one; their terms go by side by side, each in order.

    Args:
        vocabularies: Terms in the order of their bytes, and the frequency of each.
    """
    named = heapq.merge(*vocabularies)
    totals = (sum(rows for _, rows in group) for _, group in groupby(named, key=itemgetter(0)))
    total = histogram_of(np.zeros(0, dtype=np.int64))
    while len(block := np.fromiter(islice(totals, BLOCK), dtype=np.int64)):
        frequencies, terms = np.concatenate([total, histogram_of(block)], axis=1)
        distinct, place = np.unique(frequencies, return_inverse=True)
        total = np.stack([distinct, np.bincount(place, weights=terms).astype(np.int64)])
    return total


def moved(histogram: NDArray[np.int64], before: NDArray[np.int64], after: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the histogram once terms that had the frequencies `before` have those of `after`."""
    frequencies = np.concatenate([histogram[0], before, after])
    weights = np.concatenate([histogram[1], np.full(len(before), -1), np.full(len(after), 1)])
    distinct, place = np.unique(frequencies, return_inverse=True)
    terms = np.bincount(place, weights=weights, minlength=len(distinct)).astype(np.int64)
    kept = (distinct > 0) & (terms != 0)
    return np.stack([distinct[kept], terms[kept]])
