"""Works out what a change of the documents does to an index: which rows die, and what that does to the statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.index.bm25 import NONE_DEAD, Dead, Inverted
from anabranch.store.index.manifest import Tombs
from anabranch.store.index.segment import Segment
from anabranch.store.index.statistics import Statistics, moved


@dataclass(frozen=True, slots=True)
class Change:
    """What died in the segments there were.

    Attributes:
        tombs: All dead rows of each segment, former ones and new ones.
        terms: Names of the terms of the newly dead rows.
        rows: How many rows died.
        length: Their terms in all.
    """

    tombs: dict[str, Tombs]
    terms: set[bytes] = field(default_factory=set)
    rows: int = 0
    length: int = 0

    def applied(
        self,
        statistics: Statistics,
        segments: Sequence[Segment],
        tombs: dict[str, Tombs],
        fresh: Sequence[Segment],
    ) -> Statistics:
        """Return the statistics after the deaths, and after the segments `fresh` were added.

        Args:
            statistics: Of before.
            segments: Those there were.
            tombs: Theirs before the deaths.
            fresh: New segments.
        """
        names = sorted(self.terms.union(*(segment.postings.vocabulary for segment in fresh)))
        before = _frequencies(segments, tombs, names)
        after = _frequencies(segments, self.tombs, names) + _frequencies(fresh, {}, names)
        changed = before != after
        return Statistics(
            rows=statistics.rows - self.rows + sum(segment.rows for segment in fresh),
            length=statistics.length
            - self.length
            + sum(int(np.sum(segment.postings.lengths, dtype=np.int64)) for segment in fresh),
            histogram=moved(statistics.histogram, before[changed], after[changed]),
        )


def buried(database: CorpusDatabase, segments: Sequence[Segment], tombs: dict[str, Tombs]) -> Change:
    """Return what is dead now that the database's retired documents are."""
    retired = np.array(database.all("SELECT number, born FROM retired"), dtype=np.int64).reshape(-1, 2)
    after: dict[str, Tombs] = {}
    terms: set[bytes] = set()
    rows = length = 0
    for segment in segments:
        places = _places(segment, retired)
        gone = np.setdiff1d(segment.rows_of(places), tombs[segment.name].rows)
        numbers, counts = segment.postings.terms_of(gone)
        after[segment.name] = _added(tombs[segment.name], gone, numbers, counts)
        terms.update(segment.postings.vocabulary[number] for number in numbers.tolist())
        rows += len(gone)
        length += int(np.sum(segment.postings.lengths[gone], dtype=np.int64))
    return Change(after, terms, rows, length)


def _places(segment: Segment, retired: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which documents of a segment are among the retired editions."""
    candidates = np.flatnonzero(np.isin(segment.documents[:, 0], retired[:, 0]))
    editions = set(map(tuple, retired.tolist()))
    facts = np.asarray(segment.documents[candidates, :2]).tolist()
    kept = [place for place, fact in zip(candidates.tolist(), facts, strict=True) if tuple(fact) in editions]
    return np.array(kept, dtype=np.int64)


def _added(tombs: Tombs, gone: NDArray[np.int64], numbers: NDArray[np.int64], counts: NDArray[np.int64]) -> Tombs:
    if not len(gone):
        return tombs
    terms, place = np.unique(np.concatenate([tombs.dead.terms, numbers]), return_inverse=True)
    weights = np.concatenate([tombs.dead.counts, counts])
    dead = Dead(terms, np.bincount(place, weights=weights, minlength=len(terms)).astype(np.int64))
    return Tombs(np.union1d(tombs.rows, gone), dead)


def _frequencies(segments: Sequence[Segment], tombs: dict[str, Tombs], names: Sequence[bytes]) -> NDArray[np.int64]:
    """Return in how many rows that are alive each term is, over these segments."""
    total = np.zeros(len(names), dtype=np.int64)
    for segment in segments:
        dead = tombs[segment.name].dead if segment.name in tombs else NONE_DEAD
        total += Inverted(segment.postings, dead, 0).alive(segment.postings.vocabulary.numbers(names))
    return total
