"""The inverted file of one segment: which rows hold a term and how often, read where it lies on disk.

Postings hold term frequencies, not finished weights: a BM25 weight depends on statistics of the whole corpus, which a
document elsewhere changes, and the frequencies it does not. The forward lists, the distinct terms of each row, say
what is lost when a row is.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.store.index.mmap_file import mapped, save

# Below this share of the vocabulary, bisecting for each term is quicker than reading all terms once.
_FEW = 50


class Vocabulary(Sequence[bytes]):
    """Terms in the order of their UTF-8 bytes, where they lie on disk; a term's position is its number."""

    def __init__(self, folder: Path) -> None:
        """Open what `write_terms` wrote."""
        self._bytes = mapped(folder / "bm25.terms.npy")
        self._ends = mapped(folder / "bm25.term_ends.npy")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> bytes:  # type: ignore[override]  # no slices needed
        start = int(self._ends[number - 1]) if number else 0
        return self._bytes[start : int(self._ends[number])].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        everything, start = self._bytes.tobytes(), 0
        for end in self._ends.tolist():
            yield everything[start:end]
            start = end

    def find(self, term: bytes) -> int | None:
        """Return the number of a term, None where it is not there; about 20 looks at a million terms."""
        number = bisect_left(self, term)
        return number if number < len(self) and self[number] == term else None

    def numbers(self, terms: Sequence[bytes]) -> NDArray[np.int64]:
        """Return the number of each term, -1 where it is not there."""
        if len(terms) * _FEW < len(self):
            found = (self.find(term) for term in terms)
            return np.fromiter((-1 if each is None else each for each in found), np.int64, len(terms))
        known = {term: number for number, term in enumerate(self)}
        return np.fromiter((known.get(term, -1) for term in terms), np.int64, len(terms))


def encoded(term: str) -> bytes:
    """Return a term as vocabularies have it."""
    return term.encode("utf-8", "replace")


def write_terms(folder: Path, terms: Sequence[bytes]) -> None:
    """Write distinct terms, sorted by the caller."""
    save(folder / "bm25.terms.npy", np.frombuffer(b"".join(terms), dtype=np.uint8))
    save(folder / "bm25.term_ends.npy", np.cumsum([len(term) for term in terms], dtype=np.int64))


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

    def frequencies(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return in how many rows each of these terms is."""
        return np.asarray(self.starts[numbers + 1] - self.starts[numbers], dtype=np.int64)

    def terms_of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the terms of these rows, ascending, and how many of the rows hold each."""
        parts = [self.forward[self.forward_starts[row] : self.forward_starts[row + 1]] for row in rows.tolist()]
        terms = np.concatenate(parts) if parts else np.zeros(0, np.int32)
        numbers, counts = np.unique(terms, return_counts=True)
        return numbers.astype(np.int64), counts.astype(np.int64)


def write_postings(folder: Path, documents: Iterable[Sequence[str]]) -> None:
    """Write the inverted file of `documents` (terms of each, in row order) into `folder`."""
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
