"""The words of many passages, counted at once: what the database keeps of them, as columns of numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from anabranch_postgres.bm25_counts import term_number

MOST_COUNTED = 32_767
"""How often one leaf can have a term: what two bytes hold."""

Int64s = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WordCounts:
    """What was counted of some leaves.

    Attributes:
        lengths: Terms of each leaf.
        distinct: The numbers of all terms, in order.
        rows: Which leaf each posting is of, by its place; those of a leaf stand together, in the order of their terms.
        places: Which of `distinct` each posting is of.
        counts: How often that leaf has the term.
    """

    lengths: Int64s
    distinct: Int64s
    rows: Int64s
    places: Int64s
    counts: Int64s

    def spans(self) -> tuple[Int64s, Int64s]:
        """Return which posting is the first one of each leaf, and which the last one, counted from 1."""
        postings = np.bincount(self.rows, minlength=len(self.lengths))
        ends = np.cumsum(postings)
        return ends - postings + 1, ends

    def by_term(self) -> Int64s:
        """Return the order of the postings by term and leaf."""
        return np.argsort(self.places * len(self.lengths) + self.rows)

    def frequencies(self, groups: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """Return terms, groups, and how many leaves of that group have that term, in that order.

        Args:
            groups: A number of each leaf, from 0.
        """
        width = int(groups.max(initial=0)) + 1
        found, counts = np.unique(self.places * width + groups[self.rows], return_counts=True)
        return self.distinct[found // width], found % width, counts


def word_counts(terms: Sequence[Sequence[str]]) -> WordCounts:
    """Count the terms of each leaf."""
    lengths = np.fromiter(map(len, terms), dtype=np.int64, count=len(terms))
    # Numbered as they come, and put in order afterwards: each word is hashed once, however often it is there.
    seen: defaultdict[str, int] = defaultdict(count().__next__)
    coming = np.fromiter(map(seen.__getitem__, chain.from_iterable(terms)), dtype=np.int64, count=lengths.sum())
    distinct, place = np.unique(
        np.fromiter(map(term_number, seen), dtype=np.int64, count=len(seen)), return_inverse=True
    )
    width = max(1, len(distinct))
    found, counts = np.unique(np.repeat(np.arange(len(terms)), lengths) * width + place[coming], return_counts=True)
    return WordCounts(lengths, distinct, found // width, found % width, np.minimum(counts, MOST_COUNTED))
