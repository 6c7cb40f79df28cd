"""Counts an index anew from its postings: what its statistics have to be after any number of changes."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from anabranch.corpus.segments.generation import Tombs
from anabranch.corpus.segments.segment import Segment
from anabranch.corpus.segments.statistics import Statistics, histogram_of

BLOCK = 1 << 20
"""Terms whose frequencies are in memory at a time."""


def alive_rows(segment: Segment, tombs: Tombs) -> NDArray[np.bool_]:
    """Return which rows of a segment are alive, shape (rows,)."""
    alive = np.ones(segment.rows, dtype=np.bool_)
    alive[tombs.rows] = False
    return alive


def counted_anew(segments: Sequence[Segment], tombs: dict[str, Tombs]) -> Statistics:
    """Return the statistics of the rows that are alive.

    Args:
        segments: All segments of an index.
        tombs: Their dead rows, by name.
    """
    rows = length = 0
    for segment in segments:
        alive = alive_rows(segment, tombs[segment.name])
        rows += int(np.count_nonzero(alive))
        length += int(np.sum(np.asarray(segment.postings.lengths)[alive], dtype=np.int64))
    return Statistics(rows, length, _histogram(segments, tombs))


def has_right_dead_terms(segment: Segment, tombs: Tombs) -> bool:
    """Tell whether the terms that count for nothing are those of the dead rows."""
    terms, counts = segment.postings.terms_of(tombs.rows)
    return np.array_equal(terms, tombs.dead.terms) and np.array_equal(counts, tombs.dead.counts)


def _histogram(segments: Sequence[Segment], tombs: dict[str, Tombs]) -> NDArray[np.int64]:
    """Count how many terms are in how many rows; the terms of all segments go by side by side, in order."""
    named = heapq.merge(*(_frequencies(segment, tombs[segment.name]) for segment in segments))
    totals = (sum(rows for _, rows in group) for _, group in groupby(named, key=itemgetter(0)))
    total = histogram_of(np.zeros(0, dtype=np.int64))
    while len(block := np.fromiter(islice(totals, BLOCK), dtype=np.int64)):
        frequencies, terms = np.concatenate([total, histogram_of(block)], axis=1)
        distinct, place = np.unique(frequencies, return_inverse=True)
        total = np.stack([distinct, np.bincount(place, weights=terms).astype(np.int64)])
    return total


def _frequencies(segment: Segment, tombs: Tombs) -> Iterator[tuple[bytes, int]]:
    vocabulary = segment.postings.vocabulary
    numbers = np.arange(len(vocabulary), dtype=np.int64)
    alive = segment.postings.frequencies(numbers) - tombs.dead.of(numbers)
    return zip(vocabulary, alive.tolist(), strict=True)
