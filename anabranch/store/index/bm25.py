"""BM25 over the postings of all segments, with the scores of `rank_bm25.BM25Okapi` over the rows that are alive.

For a caller who may not read all of them, over those that they may read: a score that counts the words of hidden rows
tells what these are about.

Only the postings of the query's own terms are touched, and the best rows are picked without sorting the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from anabranch.store.index.postings import Postings, encoded
from anabranch.store.index.statistics import NOTHING, Statistics, summed
from anabranch.store.index.topk import RankedRows, best, pooled

K1 = 1.5
B = 0.75

Mask = NDArray[np.bool_]
"""Shape (rows,): which rows of a segment a search may return."""

Contribution = tuple[NDArray[np.int32], NDArray[np.float64]]
"""The rows of a segment that hold a term, and what it adds to the score of each."""

# The best score among so many candidates is a bound that spares most of the others the selection.
_SAMPLE = 4_096


@dataclass(frozen=True, slots=True)
class Dead:
    """Terms of a segment that some of its rows no longer count for.

    Attributes:
        terms: Shape (n,), term numbers, ascending.
        counts: Shape (n,), how many dead rows hold each.
    """

    terms: NDArray[np.int64]
    counts: NDArray[np.int64]

    def of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many dead rows hold each of these terms."""
        if not len(self.terms):
            return np.zeros(len(numbers), dtype=np.int64)
        places = np.minimum(np.searchsorted(self.terms, numbers), len(self.terms) - 1)
        return np.where(self.terms[places] == numbers, self.counts[places], 0)


NONE_DEAD = Dead(np.zeros(0, np.int64), np.zeros(0, np.int64))


class Inverted:
    """A segment's postings with what is dead of them."""

    def __init__(self, postings: Postings, dead: Dead, first: int, seen: Mask | None = None) -> None:
        """Take the postings of one segment.

        Args:
            postings: Its inverted file.
            dead: Terms that dead rows hold.
            first: Number of its first row among all segments' rows.
            seen: Shape (rows,), the only rows that count, none of them dead; None for all that are alive.
        """
        self.postings = postings
        self.dead = dead
        self.first = first
        self.seen = seen
        self.mean = 0.0
        self.norms: NDArray[np.float64] | None = None

    @property
    def rows(self) -> int:
        """How many rows it has, dead ones and such that do not count included."""
        return len(self.postings.lengths)

    def norms_of(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the length of each of these rows on the scale of the mean."""
        return _norms(self.postings.lengths[rows], self.mean) if self.norms is None else self.norms[rows]

    def size(self) -> tuple[int, int]:
        """Return how many rows count, and how many terms these have in all; of a segment without dead rows, or seen."""
        lengths = self.postings.lengths if self.seen is None else self.postings.lengths[self.seen]
        return len(lengths), int(np.sum(lengths, dtype=np.int64))

    def frequency(self, number: int) -> int:
        """Return in how many rows that count a term is."""
        if self.seen is None:
            return int(self.alive(np.asarray([number]))[0])
        part = slice(int(self.postings.starts[number]), int(self.postings.starts[number + 1]))
        return int(np.count_nonzero(self.seen[self.postings.rows[part]]))

    def frequencies(self) -> Iterator[tuple[bytes, int]]:
        """Yield every term in the order of the vocabulary, and in how many rows that count it is."""
        terms = self.postings.vocabulary
        if self.seen is None:
            found = self.alive(np.arange(len(terms), dtype=np.int64))
        else:
            theirs = np.repeat(self.seen, np.diff(self.postings.forward_starts))
            found = np.bincount(self.postings.forward[theirs], minlength=len(terms))
        return zip(terms, found.tolist(), strict=True)

    def alive(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return in how many rows that are alive each term is; 0 for the number -1."""
        known = np.flatnonzero(numbers >= 0)
        frequencies = np.zeros(len(numbers), dtype=np.int64)
        frequencies[known] = self.postings.frequencies(numbers[known]) - self.dead.of(numbers[known])
        return frequencies


class BM25:
    """Ranks the rows of all segments."""

    def __init__(
        self, inverted: Sequence[Inverted], statistics: Statistics, floor: Callable[[], float] | None = None
    ) -> None:
        """Take the segments in row order.

        Args:
            inverted: The segments.
            statistics: Of the rows that count.
            floor: Returns what stands for an inverse document frequency below zero, asked for once and only where a
                term has one; None to read it off the statistics.
        """
        self._inverted = inverted
        self._statistics = statistics
        self._floor = cache(statistics.floor if floor is None else floor)
        for each in inverted:
            each.mean = statistics.mean_length
            # Those of `within` are many over the same rows: they norm the lengths that they come to need.
            each.norms = _norms(each.postings.lengths, each.mean) if floor is None else None

    def within(self, masks: Sequence[Mask | None]) -> BM25:
        """Return the BM25 of an index that has no other rows than these masks let through, to the last bit.

        What it returns tells nothing about the other rows: not which words they hold, how many they are or how long.

        Args:
            masks: One per segment, None for all rows of a segment without dead ones.
        """
        seen = [
            Inverted(each.postings, NONE_DEAD, each.first, mask)
            for each, mask in zip(self._inverted, masks, strict=True)
        ]
        sizes = [each.size() for each in seen]
        statistics = Statistics(sum(rows for rows, _ in sizes), sum(length for _, length in sizes), NOTHING.histogram)

        def floor() -> float:
            # Takes a look at every word there is, which most questions can do without.
            return replace(statistics, histogram=summed([each.frequencies() for each in seen])).floor()

        return self if statistics.rows == self._statistics.rows else BM25(seen, statistics, floor)

    def idf(self, term: str) -> float | None:
        """Return the inverse document frequency of a term, None where no row has it."""
        return self._weight(term).idf

    def search(self, queries: Sequence[Sequence[str]], k: int, masks: Sequence[Mask | None]) -> list[RankedRows]:
        """Return for each query the rows that share a term with it, best first, at most `k`.

        Args:
            queries: Analysed terms; one that is repeated counts as often as it stands there.
            k: Most rows per query.
            masks: One per segment, None to allow all its rows; rows outside are as good as absent, and a mask never
                changes a score.

        Returns:
            Rows and scores in descending order, ties by row. In a tiny corpus scores can be zero or negative.
        """
        weights = {term: self._weight(term) for query in queries for term in query}
        parts: list[list[RankedRows]] = [[] for _ in queries]
        for place, (each, mask) in enumerate(zip(self._inverted, masks, strict=True)):
            # Queries for one question have most of their terms in common.
            known: dict[int, Contribution] = {}
            for query, found in zip(queries, parts, strict=True):
                terms = [
                    (number, weight.idf)
                    for weight in (weights[term] for term in query)
                    if weight.idf is not None and (number := weight.numbers[place]) is not None
                ]
                if terms:
                    ranked = _ranked(each, terms, k, mask, known)
                    found.append(RankedRows(ranked.rows + each.first, ranked.scores))
        return [pooled(found, k) for found in parts]

    def scores(self, queries: Sequence[Sequence[str]], rows: NDArray[np.int64]) -> list[NDArray[np.float64]]:
        """Return for each query the score of each row, the same that `search` gives it; 0 where it shares no term."""
        weights = {term: self._weight(term) for query in queries for term in query}
        scores = [np.zeros(len(rows), dtype=np.float64) for _ in queries]
        for place, each in enumerate(self._inverted):
            inside = np.flatnonzero((rows >= each.first) & (rows < each.first + each.rows))
            own = rows[inside] - each.first
            known = {
                term: _contribution_to(each, number, weight.idf, own)
                for term, weight in weights.items()
                if weight.idf is not None and (number := weight.numbers[place]) is not None
            }
            for query, added in zip(queries, scores, strict=True):
                # In the order of the query's terms, as in a search: a sum in another order differs in its last bit.
                for term in query:
                    if term in known:
                        added[inside] += known[term]
        return scores

    def holding(self, terms: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of these rows hold which terms, shape (terms, rows)."""
        weights = [self._weight(term) for term in terms]
        found = np.zeros((len(terms), len(rows)), dtype=np.bool_)
        for place, each in enumerate(self._inverted):
            inside = np.flatnonzero((rows >= each.first) & (rows < each.first + each.rows))
            for line, weight in enumerate(weights):
                number = weight.numbers[place]
                if number is not None and len(inside):
                    found[line, inside] = _counts_of(each, number, rows[inside] - each.first) > 0
        return found

    def rare(self) -> float:
        """Return what a term that one row holds adds to that row's score at most; 0 in an index of a row or two."""
        return max(0.0, self._idf(1) * (K1 + 1)) if self._statistics.rows else 0.0

    def _idf(self, frequency: int) -> float:
        raw = self._statistics.idf(frequency)
        return self._floor() if raw < 0 else raw

    def _weight(self, term: str) -> _Weight:
        name = encoded(term)
        numbers = tuple(each.postings.vocabulary.find(name) for each in self._inverted)
        frequency = sum(
            each.frequency(number) for each, number in zip(self._inverted, numbers, strict=True) if number is not None
        )
        return _Weight(self._idf(frequency) if frequency else None, numbers)


@dataclass(frozen=True, slots=True)
class _Weight:
    """What a term counts, and its number in each segment."""

    idf: float | None
    numbers: tuple[int | None, ...]


def _ranked(
    segment: Inverted, terms: Sequence[tuple[int, float]], k: int, mask: Mask | None, known: dict[int, Contribution]
) -> RankedRows:
    scores = np.zeros(segment.rows, dtype=np.float64)
    matched = np.zeros(segment.rows, dtype=np.bool_)
    for number, idf in terms:
        if number not in known:
            known[number] = _contribution(segment, number, idf)
        rows, values = known[number]
        scores[rows] += values
        matched[rows] = True
    if mask is not None:
        matched &= mask
    candidates = np.flatnonzero(matched)
    return _best(candidates, scores[candidates], k)


def _contribution(segment: Inverted, number: int, idf: float) -> Contribution:
    postings = segment.postings
    part = slice(int(postings.starts[number]), int(postings.starts[number + 1]))
    rows = np.asarray(postings.rows[part])
    counts = postings.counts[part].astype(np.float64)
    return rows, idf * (counts * (K1 + 1) / (counts + segment.norms_of(rows)))


def _contribution_to(segment: Inverted, number: int, idf: float, wanted: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what a term adds to these rows alone."""
    counts = _counts_of(segment, number, wanted).astype(float)
    return np.asarray(idf * (counts * (K1 + 1) / (counts + segment.norms_of(wanted))), dtype=np.float64)


def _counts_of(segment: Inverted, number: int, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each of these rows has a term, found in its postings by bisection."""
    postings = segment.postings
    first, end = int(postings.starts[number]), int(postings.starts[number + 1])
    places = np.minimum(np.searchsorted(postings.rows[first:end], wanted), end - first - 1)
    return np.where(postings.rows[first:end][places] == wanted, postings.counts[first:end][places], 0)


def _best(rows: NDArray[np.int64], scores: NDArray[np.float64], k: int) -> RankedRows:
    """Do what `best` does; of many rows, only those that can be among the best are looked at closely."""
    if len(rows) > 4 * _SAMPLE and 0 < k <= _SAMPLE:
        step = len(rows) // _SAMPLE
        sample = scores[::step]
        bound = np.partition(sample, len(sample) - k)[len(sample) - k] if k <= len(sample) else -np.inf
        kept = np.flatnonzero(scores >= bound)
        rows, scores = rows[kept], scores[kept]
    return best(rows, scores, k)


def _norms(lengths: NDArray[np.int32], mean: float) -> NDArray[np.float64]:
    if mean <= 0:
        return np.zeros(len(lengths), dtype=np.float64)
    return np.asarray(K1 * (1 - B + B * lengths / mean), dtype=np.float64)
