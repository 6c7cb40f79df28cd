"""BM25 over the postings of all segments, with the scores of `rank_bm25.BM25Okapi` over the rows that are alive.

Only the postings of the query's own terms are touched, and the best rows are picked without sorting the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anabranch.corpus.segments.postings import Postings
from anabranch.corpus.segments.ranking import Ranked, best, pooled
from anabranch.corpus.segments.statistics import Statistics
from anabranch.corpus.segments.vocabulary import encoded

K1 = 1.5
B = 0.75

Mask = NDArray[np.bool_]
"""Shape (rows,): which rows of a segment a search may return."""

Contribution = tuple[NDArray[np.int32], NDArray[np.float64]]
"""The rows of a segment that hold a term, and what it adds to the score of each."""

_TERMS = 4_096
"""Terms whose weights are kept."""

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

    def __init__(self, postings: Postings, dead: Dead, first: int) -> None:
        """Take the postings of one segment, whose first row has the number `first` among all segments' rows."""
        self.postings = postings
        self.dead = dead
        self.first = first
        self.norms: NDArray[np.float64] = np.zeros(0)

    def alive(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return in how many rows that are alive each term is; 0 for the number -1."""
        known = np.flatnonzero(numbers >= 0)
        frequencies = np.zeros(len(numbers), dtype=np.int64)
        frequencies[known] = self.postings.frequencies(numbers[known]) - self.dead.of(numbers[known])
        return frequencies


class BM25:
    """Ranks the rows of all segments."""

    def __init__(self, inverted: Sequence[Inverted], statistics: Statistics) -> None:
        """Take the segments in row order; lengths are normed here, once."""
        self._inverted = inverted
        self._statistics = statistics
        self._floor = statistics.floor()
        # A question's terms are looked up by a search, by the scores of what others found, and again the next round.
        self._known: dict[str, _Weight] = {}
        for each in inverted:
            each.norms = _norms(each.postings.lengths, statistics.mean_length)

    def idf(self, term: str) -> float | None:
        """Return the inverse document frequency of a term, None where no row has it."""
        return self._weights([term])[term].idf

    def search(self, queries: Sequence[Sequence[str]], k: int, masks: Sequence[Mask | None]) -> list[Ranked]:
        """Return for each query the rows that share a term with it, best first, at most `k`.

        Args:
            queries: Analysed terms; one that is repeated counts as often as it stands there.
            k: Most rows per query.
            masks: One per segment, None to allow all its rows; rows outside are as good as absent, and a mask never
                changes a score.

        Returns:
            Rows and scores in descending order, ties by row. In a tiny corpus scores can be zero or negative.
        """
        weights = self._weights({term for query in queries for term in query})
        parts: list[list[Ranked]] = [[] for _ in queries]
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
                    found.append(Ranked(ranked.rows + each.first, ranked.scores))
        return [pooled(found, k) for found in parts]

    def scores(self, queries: Sequence[Sequence[str]], rows: NDArray[np.int64]) -> list[NDArray[np.float64]]:
        """Return for each query the score of each row, the same that `search` gives it; 0 where it shares no term."""
        weights = self._weights({term for query in queries for term in query})
        scores = [np.zeros(len(rows), dtype=np.float64) for _ in queries]
        for place, each in enumerate(self._inverted):
            inside = np.flatnonzero((rows >= each.first) & (rows < each.first + len(each.norms)))
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
        weights = self._weights(set(terms))
        found = np.zeros((len(terms), len(rows)), dtype=np.bool_)
        for place, each in enumerate(self._inverted):
            inside = np.flatnonzero((rows >= each.first) & (rows < each.first + len(each.norms)))
            for line, term in enumerate(terms):
                number = weights[term].numbers[place]
                if number is not None and len(inside):
                    found[line, inside] = _counts_of(each, number, rows[inside] - each.first) > 0
        return found

    def knows(self, terms: Iterable[str]) -> bool:
        """Tell whether all these terms were looked up lately, so that their idf takes no look at a file."""
        return all(term in self._known for term in terms)

    def rare(self) -> float:
        """Return what a term that one row holds adds to that row's score at most; 0 in an index of a row or two."""
        return max(0.0, self._statistics.idf(1, self._floor) * (K1 + 1)) if self._statistics.rows else 0.0

    def _weights(self, terms: Sequence[str] | set[str]) -> dict[str, _Weight]:
        known = {term: self._known.get(term) or self._weight(term) for term in terms}
        if len(self._known) > _TERMS:
            self._known.clear()
        self._known.update(known)
        return known

    def _weight(self, term: str) -> _Weight:
        name = encoded(term)
        numbers = tuple(each.postings.vocabulary.find(name) for each in self._inverted)
        frequency = sum(
            int(each.alive(np.asarray([number]))[0])
            for each, number in zip(self._inverted, numbers, strict=True)
            if number is not None
        )
        return _Weight(self._statistics.idf(frequency, self._floor) if frequency else None, numbers)


@dataclass(frozen=True, slots=True)
class _Weight:
    """What a term counts, and its number in each segment."""

    idf: float | None
    numbers: tuple[int | None, ...]


def _ranked(
    segment: Inverted, terms: Sequence[tuple[int, float]], k: int, mask: Mask | None, known: dict[int, Contribution]
) -> Ranked:
    scores = np.zeros(len(segment.norms), dtype=np.float64)
    matched = np.zeros(len(segment.norms), dtype=np.bool_)
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
    return rows, idf * (counts * (K1 + 1) / (counts + segment.norms[rows]))


def _contribution_to(segment: Inverted, number: int, idf: float, wanted: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what a term adds to these rows alone."""
    counts = _counts_of(segment, number, wanted).astype(float)
    return np.asarray(idf * (counts * (K1 + 1) / (counts + segment.norms[wanted])), dtype=np.float64)


def _counts_of(segment: Inverted, number: int, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each of these rows has a term, found in its postings by bisection."""
    postings = segment.postings
    first, end = int(postings.starts[number]), int(postings.starts[number + 1])
    places = np.minimum(np.searchsorted(postings.rows[first:end], wanted), end - first - 1)
    return np.where(postings.rows[first:end][places] == wanted, postings.counts[first:end][places], 0)


def _best(rows: NDArray[np.int64], scores: NDArray[np.float64], k: int) -> Ranked:
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
