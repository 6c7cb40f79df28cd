"""The inverted file of one segment: which rows hold a term and how often, read where it lies on disk.

Postings hold term frequencies, not finished weights: a BM25 weight depends on statistics of the whole corpus, which a
document elsewhere changes, and the frequencies it does not. The forward lists, the distinct terms of each row, say
what is lost when a row is.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.store.index.mmap_file import mapped, save
from anabranch.store.index.vocabulary import Vocabulary, encoded, write_terms

Counts = NDArray[np.int64]


class Postings:
    """One immutable inverted file.

    Attributes:
        vocabulary: Its terms; a term's position is its number.
        starts: Shape (terms + 1,); the postings of term n are [starts[n], starts[n + 1]).
        rows: Shape (postings,), ascending within a term.
        counts: Shape (postings,), how often the row holds the term.
        lengths: Shape (rows,), terms in each row, duplicates counted.
        forward_starts: Shape (rows + 1,), as `starts`.
        forward: Shape (postings,), the distinct terms of each row by number.
    """

    def __init__(self, folder: Path) -> None:
        """Map what `write_postings` or a merge wrote; reads a few kilobytes, whatever its size."""
        self.vocabulary = Vocabulary(folder)
        self.starts = mapped(folder / "bm25.starts.npy")
        self.rows = mapped(folder / "bm25.rows.npy")
        self.counts = mapped(folder / "bm25.counts.npy")
        self.lengths = mapped(folder / "bm25.lengths.npy")
        self.forward_starts = mapped(folder / "bm25.forward_starts.npy")
        self.forward = mapped(folder / "bm25.forward.npy")

    def frequencies(self, numbers: NDArray[np.int64]) -> Counts:
        """Return in how many rows each of these terms is."""
        return np.asarray(self.starts[numbers + 1] - self.starts[numbers], dtype=np.int64)

    def terms_of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], Counts]:
        """Return the terms of these rows, ascending, and how many of the rows hold each."""
        parts = [self.forward[self.forward_starts[row] : self.forward_starts[row + 1]] for row in rows.tolist()]
        terms = np.concatenate(parts) if parts else np.zeros(0, np.int32)
        numbers, counts = np.unique(terms, return_counts=True)
        return numbers.astype(np.int64), counts.astype(np.int64)


def write_postings(folder: Path, documents: Iterable[Sequence[str]]) -> int:
    """Write the inverted file of `documents` (terms of each, in row order) into `folder`.

    Returns:
        How many rows there are.
    """
    numbers: dict[str, int] = {}
    terms, counts, sizes, lengths = array("i"), array("i"), array("i"), array("i")
    for document in documents:
        lengths.append(len(document))
        distinct = Counter(document)
        sizes.append(len(distinct))
        terms.extend(numbers.setdefault(term, len(numbers)) for term in distinct)
        counts.extend(distinct.values())
    names = [encoded(term) for term in numbers]
    order = sorted(range(len(names)), key=names.__getitem__)
    write_terms(folder, [names[place] for place in order])
    renumbered = np.empty(len(order), dtype=np.int32)
    renumbered[order] = np.arange(len(order), dtype=np.int32)
    forward = renumbered[np.asarray(terms, dtype=np.int32)]
    save(folder / "bm25.forward.npy", forward)
    save(folder / "bm25.forward_starts.npy", starts_of(np.asarray(sizes, dtype=np.int64)))
    save(folder / "bm25.lengths.npy", np.asarray(lengths, dtype=np.int32))
    _invert(folder, forward, np.asarray(sizes, dtype=np.int32), np.asarray(counts, dtype=np.int32), len(order))
    return len(lengths)


def _invert(
    folder: Path, forward: NDArray[np.int32], sizes: NDArray[np.int32], counts: NDArray[np.int32], terms: int
) -> None:
    # Stable, so that the rows of a term stay in ascending order.
    by_term = np.argsort(forward, kind="stable")
    rows = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    save(folder / "bm25.starts.npy", starts_of(np.bincount(forward, minlength=terms)))
    save(folder / "bm25.rows.npy", rows[by_term])
    narrow = np.uint16 if int(counts.max(initial=0)) <= np.iinfo(np.uint16).max else np.int32
    save(folder / "bm25.counts.npy", counts[by_term].astype(narrow))


def starts_of(sizes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return where each of consecutive stretches begins, and where the last one ends; shape (n + 1,)."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts
