"""Counts the words of many passages at once, as columns of numbers for the database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from anabranch_postgres.bm25_counts import term_number

MOST_COUNTED = 32_767
"""Most occurrences of a term in a leaf, which fit two bytes."""

Int64s = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WordCounts:
    """The word counts of some leaves.

    Attributes:
        lengths: Terms of each leaf.
        distinct: The numbers of all terms, in order.
        rows: The place of each posting's leaf; postings are sorted by leaf and term.
        places: The index of each posting's term in `distinct`.
        counts: How often the leaf has the term.
    """

    lengths: Int64s
    distinct: Int64s
    rows: Int64s
    places: Int64s
    counts: Int64s

    def spans(self) -> tuple[Int64s, Int64s]:
        """Return the first and last posting of each leaf, counted from 1."""
        postings = np.bincount(self.rows, minlength=len(self.lengths))
        ends = np.cumsum(postings)
        return ends - postings + 1, ends

    def by_term(self) -> Int64s:
        """Return the order of the postings by term and leaf."""
        return np.argsort(self.places * len(self.lengths) + self.rows)

    def frequencies(self, groups: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """Return terms, groups, and how many leaves of that group have that term, in that order.

        Args:
            groups: The number of each leaf's group, from 0.
        """
        width = int(groups.max(initial=0)) + 1
        found, counts = np.unique(self.places * width + groups[self.rows], return_counts=True)
        return self.distinct[found // width], found % width, counts


def word_counts(terms: Sequence[Sequence[str]]) -> WordCounts:
    """Count the terms of each leaf."""
    lengths = np.fromiter(map(len, terms), dtype=np.int64, count=len(terms))
    # Number terms as they come and sort them afterwards, so that each word is hashed only once.
    seen: defaultdict[str, int] = defaultdict(count().__next__)
    coming = np.fromiter(map(seen.__getitem__, chain.from_iterable(terms)), dtype=np.int64, count=lengths.sum())
    distinct, place = np.unique(
        np.fromiter(map(term_number, seen), dtype=np.int64, count=len(seen)), return_inverse=True
    )
    width = max(1, len(distinct))
    found, counts = np.unique(np.repeat(np.arange(len(terms)), lengths) * width + place[coming], return_counts=True)
    return WordCounts(lengths, distinct, found // width, found % width, np.minimum(counts, MOST_COUNTED))
