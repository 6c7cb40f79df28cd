"""BM25 over the postings of all segments: the scores of `rank_bm25.BM25Okapi` with epsilon 0, over the permitted rows.

Statistics cover only the rows that the caller may read: a score that counted hidden rows would reveal their words.

Only the postings of the query's own terms are touched, and the best rows are picked without sorting the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anabranch.store.index.postings import Postings, encode_term
from anabranch.store.index.topk import RankedRows, merge_rankings, pick_best

# The defaults of `rank_bm25`, which the tests compare with.
K1 = 1.5
B = 0.75

Mask = NDArray[np.bool_]
"""Shape (rows,): which rows of a segment a search may return."""

Contribution = tuple[NDArray[np.int32], NDArray[np.float64]]
"""The rows of a segment that hold a term, and what it adds to the score of each."""


class Inverted:
    """A segment's postings, and which of its rows count."""

    def __init__(self, postings: Postings, first: int, mask: Mask | None) -> None:
        """Take the postings of one segment.

        Args:
            postings: Its inverted file.
            first: Number of its first row among all segments' rows.
            mask: Shape (rows,), the only rows that count, none of them dead; None for all.
        """
        self.postings = postings
        self.first = first
        self.mask = mask
        self.mean = 0.0
        self.norms: NDArray[np.float64] | None = None

    @property
    def rows(self) -> int:
        """How many rows it has, including masked ones."""
        return len(self.postings.lengths)

    def norms_of(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the length of each of these rows on the scale of the mean."""
        return _norms(self.postings.lengths[rows], self.mean) if self.norms is None else self.norms[rows]

    def size(self) -> tuple[int, int]:
        """Return how many rows count, and how many terms these have in all."""
        lengths = self.postings.lengths if self.mask is None else self.postings.lengths[self.mask]
        return len(lengths), int(np.sum(lengths, dtype=np.int64))

    def frequency(self, number: int) -> int:
        """Return in how many rows that count a term is."""
        start, end = int(self.postings.starts[number]), int(self.postings.starts[number + 1])
        return end - start if self.mask is None else int(np.count_nonzero(self.mask[self.postings.rows[start:end]]))


class BM25:
    """Ranks the rows of all segments."""

    def __init__(self, inverted: Sequence[Inverted], *, keeps_norms: bool = True) -> None:
        """Take the segments in row order.

        Args:
            inverted: The segments.
            keeps_norms: Norm all lengths now; the many results of `restrict` share rows and norm only what they need.
        """
        self._inverted = inverted
        sizes = [each.size() for each in inverted]
        self._rows = sum(rows for rows, _ in sizes)
        mean = sum(length for _, length in sizes) / self._rows if self._rows else 0.0
        for each in inverted:
            each.mean = mean
            each.norms = _norms(each.postings.lengths, mean) if keeps_norms else None

    def restrict(self, masks: Sequence[Mask | None]) -> BM25:
        """Return the BM25 of an index with only the rows of these masks, exact to the last bit.

        Its scores reveal nothing about the other rows: not their words, number or lengths.

        Args:
            masks: One per segment, None for all rows of a segment without dead ones.
        """
        parts = [Inverted(each.postings, each.first, mask) for each, mask in zip(self._inverted, masks, strict=True)]
        made = BM25(parts, keeps_norms=False)
        # If the masks hide nothing, share the existing norms.
        return self if made._rows == self._rows else made

    def idf(self, term: str) -> float | None:
        """Return the inverse document frequency of a term, None where no row has it."""
        return self._weight(term).idf

    def search(self, queries: Sequence[Sequence[str]], k: int, masks: Sequence[Mask | None]) -> list[RankedRows]:
        """Return for each query the rows that share a term with it, best first, at most `k`.

        Args:
            queries: Analysed terms; a repeated term counts each time.
            k: Most rows per query.
            masks: One per segment, None to allow all its rows; rows outside are as good as absent, and a mask never
                changes a score.

        Returns:
            Rows and scores in descending order, ties by row. A score is zero where each of the terms is in most rows.
        """
        weights = {term: self._weight(term) for query in queries for term in query}
        parts: list[list[RankedRows]] = [[] for _ in queries]
        for place, (each, mask) in enumerate(zip(self._inverted, masks, strict=True)):
            # Queries for one question have most of their terms in common.
            # Cached for this call only: the postings of one word of a large corpus are megabytes.
            known: dict[int, Contribution] = {}
            for query, found in zip(queries, parts, strict=True):
                terms = [
                    (number, weight.idf)
                    for weight in (weights[term] for term in query)
                    if weight.idf is not None and (number := weight.numbers[place]) is not None
                ]
                if terms:
                    ranked = _rank(each, terms, k, mask, known)
                    found.append(RankedRows(ranked.rows + each.first, ranked.scores))
        return [merge_rankings(found, k) for found in parts]

    def scores(self, queries: Sequence[Sequence[str]], rows: NDArray[np.int64]) -> list[NDArray[np.float64]]:
        """Return for each query the score of each row, the same that `search` gives it; 0 where it shares no term."""
        weights = {term: self._weight(term) for query in queries for term in query}
        scores = [np.zeros(len(rows), dtype=np.float64) for _ in queries]
        for place, each in enumerate(self._inverted):
            inside = np.flatnonzero((rows >= each.first) & (rows < each.first + each.rows))
            own = rows[inside] - each.first
            known = {
                term: _weigh(each, own, _counts_of(each, number, own), weight.idf)
                for term, weight in weights.items()
                if weight.idf is not None and (number := weight.numbers[place]) is not None
            }
            for query, added in zip(queries, scores, strict=True):
                # Add in the order of the query's terms, as a search does: another order differs in the last bit.
                for term in query:
                    if term in known:
                        added[inside] += known[term]
        return scores

    def find_terms(self, terms: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
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

    def _idf(self, frequency: int) -> float:
        # Negative for a term of more than half of the rows, which then counts as zero: BM25Okapi's default floor above
        # zero would give it more than a slightly rarer term.
        return max(0.0, math.log(self._rows - frequency + 0.5) - math.log(frequency + 0.5))

    def _weight(self, term: str) -> _Weight:
        name = encode_term(term)
        numbers = tuple(each.postings.vocabulary.find(name) for each in self._inverted)
        frequency = sum(
            each.frequency(number) for each, number in zip(self._inverted, numbers, strict=True) if number is not None
        )
        return _Weight(self._idf(frequency) if frequency else None, numbers)


@dataclass(frozen=True, slots=True)
class _Weight:
    """The weight of a term, and its number in each segment."""

    idf: float | None
    numbers: tuple[int | None, ...]


def _rank(
    segment: Inverted, terms: Sequence[tuple[int, float]], k: int, mask: Mask | None, known: dict[int, Contribution]
) -> RankedRows:
    scores = np.zeros(segment.rows, dtype=np.float64)
    matched = np.zeros(segment.rows, dtype=np.bool_)
    for number, idf in terms:
        if number not in known:
            known[number] = _contribution(segment, number, idf)
        rows, values = known[number]
        scores[rows] += values
        # Matches are tracked apart from the scores: a word of weight zero still matches.
        matched[rows] = True
    if mask is not None:
        matched &= mask
    candidates = np.flatnonzero(matched)
    return pick_best(candidates, scores[candidates], k)


def _contribution(segment: Inverted, number: int, idf: float) -> Contribution:
    postings = segment.postings
    part = slice(int(postings.starts[number]), int(postings.starts[number + 1]))
    rows = np.asarray(postings.rows[part])
    return rows, _weigh(segment, rows, postings.counts[part], idf)


def _weigh(
    segment: Inverted, rows: NDArray[np.integer], counts: NDArray[np.integer], idf: float
) -> NDArray[np.float64]:
    counted = counts.astype(np.float64)
    return np.asarray(idf * (counted * (K1 + 1) / (counted + segment.norms_of(rows))), dtype=np.float64)


def _counts_of(segment: Inverted, number: int, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each of these rows has a term, found in its postings by bisection."""
    postings = segment.postings
    first, end = int(postings.starts[number]), int(postings.starts[number + 1])
    # A row past the last posting would be found one place behind the end.
    places = np.minimum(np.searchsorted(postings.rows[first:end], wanted), end - first - 1)
    return np.where(postings.rows[first:end][places] == wanted, postings.counts[first:end][places], 0)


def _norms(lengths: NDArray[np.int32], mean: float) -> NDArray[np.float64]:
    if mean <= 0:
        return np.zeros(len(lengths), dtype=np.float64)
    return np.asarray(K1 * (1 - B + B * lengths / mean), dtype=np.float64)
