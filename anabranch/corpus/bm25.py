"""BM25 over memory-mapped postings, with the scores of `rank_bm25.BM25Okapi`.

Okapi BM25 (Robertson and Zaragoza 2009) with the floor of that package: an inverse document frequency below zero
becomes epsilon times the mean one. Postings hold term frequencies, not finished weights: they take 6 bytes each, the
scores come out in float64 as the package computes them, and a change elsewhere in the corpus leaves them valid.
"""

from __future__ import annotations

import json
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.corpus.mapping import mapped
from anabranch.corpus.ranking import Ranked, best
from anabranch.corpus.vocabulary import Vocabulary, write_vocabulary

K1 = 1.5
B = 0.75
EPSILON = 0.25

Mask = NDArray[np.bool_]
"""Shape (documents,): which rows a search may return."""


class BM25Index:
    """One immutable index, read where it lies on disk; searches only touch the postings of their own terms."""

    def __init__(self, folder: Path) -> None:
        """Open what `build` wrote; `BM25Index.open` reads better."""
        constants: dict[str, Any] = json.loads((folder / "bm25.json").read_text("utf-8"))
        self._vocabulary = Vocabulary(folder)
        self._starts = mapped(folder / "bm25.starts.npy")
        self._rows = mapped(folder / "bm25.rows.npy")
        self._counts = mapped(folder / "bm25.counts.npy")
        self._idf = mapped(folder / "bm25.idf.npy")
        lengths = mapped(folder / "bm25.lengths.npy")
        self._norms = _length_norms(lengths, constants["mean_length"])
        self.documents = len(lengths)

    @classmethod
    def open(cls, folder: Path) -> BM25Index:
        """Return the index in `folder`; reads a few kilobytes, whatever its size."""
        return cls(folder)

    def idf(self, term: str) -> float | None:
        """Return the inverse document frequency of a term, None where no document has it."""
        number = self._vocabulary.find(term)
        return None if number is None else float(self._idf[number])

    def search(self, queries: Sequence[Sequence[str]], k: int, mask: Mask | None = None) -> list[Ranked]:
        """Return for each query the rows that share a term with it, best first, at most `k`.

        Args:
            queries: Analysed terms; one that is repeated counts as often as it stands there.
            k: Most rows per query.
            mask: Rows outside it are as good as absent; it never changes a score.

        Returns:
            Rows and scores in descending order, ties by row. In a tiny corpus scores can be zero or negative.
        """
        return [self._search_one(query, k, mask) for query in queries]

    def _search_one(self, query: Sequence[str], k: int, mask: Mask | None) -> Ranked:
        scores = np.zeros(self.documents, dtype=np.float64)
        matched = np.zeros(self.documents, dtype=np.bool_)
        contributions: dict[str, tuple[NDArray[np.int32], NDArray[np.float64]] | None] = {}
        for term in query:
            if term not in contributions:
                contributions[term] = self._contribution(term)
            if (found := contributions[term]) is not None:
                rows, values = found
                scores[rows] += values
                matched[rows] = True
        if mask is not None:
            matched &= mask
        candidates = np.flatnonzero(matched)
        return best(candidates, scores[candidates], k)

    def _contribution(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.float64]] | None:
        number = self._vocabulary.find(term)
        if number is None:
            return None
        postings = slice(int(self._starts[number]), int(self._starts[number + 1]))
        rows = np.asarray(self._rows[postings])
        counts = self._counts[postings].astype(np.float64)
        return rows, float(self._idf[number]) * (counts * (K1 + 1) / (counts + self._norms[rows]))


def build(folder: Path, documents: Iterable[Sequence[str]]) -> int:
    """Write the index of `documents` (terms of each, in row order) into `folder`.

    Returns:
        How many documents there were.
    """
    numbers: dict[str, int] = {}
    terms, rows, counts, lengths = array("i"), array("i"), array("i"), array("i")
    for row, document in enumerate(documents):
        lengths.append(len(document))
        for term, count in Counter(document).items():
            terms.append(numbers.setdefault(term, len(numbers)))
            rows.append(row)
            counts.append(count)
    frequencies = np.bincount(np.asarray(terms, dtype=np.int32), minlength=len(numbers))
    idf = _inverse_document_frequencies(frequencies, len(lengths))
    order = _write_terms(folder, numbers, frequencies, idf)
    _write_postings(folder, order[np.asarray(terms, dtype=np.int32)], rows, counts)
    np.save(folder / "bm25.lengths.npy", np.asarray(lengths, dtype=np.int32))
    constants = {
        "k1": K1,
        "b": B,
        "epsilon": EPSILON,
        "documents": len(lengths),
        "mean_length": sum(lengths) / len(lengths) if lengths else 0.0,
    }
    (folder / "bm25.json").write_text(json.dumps(constants), "utf-8")
    return len(lengths)


def _inverse_document_frequencies(frequencies: NDArray[np.intp], documents: int) -> NDArray[np.float64]:
    """Return log((N - n + 0.5) / (n + 0.5)) per term, floored as in `BM25Okapi._calc_idf`."""
    raw = [math.log(documents - n + 0.5) - math.log(n + 0.5) for n in frequencies.tolist()]
    floor = EPSILON * (sum(raw) / len(raw)) if raw else 0.0
    return np.asarray([floor if value < 0 else value for value in raw], dtype=np.float64)


def _length_norms(lengths: NDArray[np.int32], mean: float) -> NDArray[np.float64]:
    if mean <= 0:
        return np.zeros(len(lengths), dtype=np.float64)
    return np.asarray(K1 * (1 - B + B * lengths / mean), dtype=np.float64)


def _write_terms(
    folder: Path, numbers: Mapping[str, int], frequencies: NDArray[np.intp], idf: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Write the terms in the vocabulary's order; return the new number of each old one."""
    by_name = write_vocabulary(folder, list(numbers))
    order = np.empty(len(by_name), dtype=np.int32)
    order[by_name] = np.arange(len(by_name), dtype=np.int32)
    np.save(folder / "bm25.idf.npy", idf[by_name])
    starts = np.zeros(len(by_name) + 1, dtype=np.int64)
    np.cumsum(frequencies[by_name], out=starts[1:])
    np.save(folder / "bm25.starts.npy", starts)
    return order


def _write_postings(folder: Path, terms: NDArray[np.int32], rows: array[int], counts: array[int]) -> None:
    # Stable, so that the rows of a term stay in ascending order.
    by_term = np.argsort(terms, kind="stable")
    np.save(folder / "bm25.rows.npy", np.asarray(rows, dtype=np.int32)[by_term])
    sorted_counts = np.asarray(counts, dtype=np.int32)[by_term]
    narrow = np.uint16 if int(sorted_counts.max(initial=0)) <= np.iinfo(np.uint16).max else np.int32
    np.save(folder / "bm25.counts.npy", sorted_counts.astype(narrow))
