"""Counts an index anew from its postings: what its statistics have to be after any number of changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anabranch.store.index.bm25 import Inverted
from anabranch.store.index.manifest import Tombs
from anabranch.store.index.segment import Segment
from anabranch.store.index.statistics import Statistics, summed


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
    inverted = (Inverted(segment.postings, tombs[segment.name].dead, 0) for segment in segments)
    return Statistics(rows, length, summed([each.frequencies() for each in inverted]))


def has_right_dead_terms(segment: Segment, tombs: Tombs) -> bool:
    """Tell whether the terms that count for nothing are those of the dead rows."""
    terms, counts = segment.postings.terms_of(tombs.rows)
    return np.array_equal(terms, tombs.dead.terms) and np.array_equal(counts, tombs.dead.counts)
