"""The inverted file of one segment: which rows hold a term and how often, mapped from disk.

Postings hold term frequencies, not finished weights: a BM25 weight depends on the whole corpus, so any change elsewhere
would change it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.store.index.mmap_file import map_array, save


class Vocabulary(Sequence[bytes]):
    """Terms in the order of their UTF-8 bytes, mapped from disk; a term's position is its number."""

    def __init__(self, folder: Path) -> None:
        """Open what `write_terms` wrote."""
        self._bytes = map_array(folder / "bm25.terms.npy")
        self._ends = map_array(folder / "bm25.term_ends.npy")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> bytes:  # type: ignore[override]  # no slices needed
        start = int(self._ends[number - 1]) if number else 0
        return self._bytes[start : int(self._ends[number])].tobytes()

    def find(self, term: bytes) -> int | None:
        """Return the number of a term, None if it is missing; takes about 20 comparisons among a million terms."""
        number = bisect_left(self, term)
        return number if number < len(self) and self[number] == term else None


def encode_term(term: str) -> bytes:
    """Return a term as vocabularies store it."""
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
    """

    def __init__(self, folder: Path) -> None:
        """Map what `write_postings` wrote; reads a few kilobytes, whatever its size."""
        self.vocabulary = Vocabulary(folder)
        self.starts = map_array(folder / "bm25.starts.npy")
        self.rows = map_array(folder / "bm25.rows.npy")
        self.counts = map_array(folder / "bm25.counts.npy")
        self.lengths = map_array(folder / "bm25.lengths.npy")


def write_postings(folder: Path, documents: Iterable[Sequence[str]]) -> None:
    """Write the inverted file of `documents` (terms of each, in row order) into `folder`."""
    # Terms are numbered as they come and sorted at the end: in memory each takes four bytes per row instead of a
    # string.
    numbers: dict[str, int] = {}
    terms, counts, sizes, lengths = array("i"), array("i"), array("i"), array("i")
    for document in documents:
        lengths.append(len(document))
        distinct = Counter(document)
        sizes.append(len(distinct))
        terms.extend(numbers.setdefault(term, len(numbers)) for term in distinct)
        counts.extend(distinct.values())
    # Sorted by bytes, which can be compared without decoding.
    names = [encode_term(term) for term in numbers]
    order = sorted(range(len(names)), key=names.__getitem__)
    write_terms(folder, [names[place] for place in order])
    renumbered = np.empty(len(order), dtype=np.int32)
    renumbered[order] = np.arange(len(order), dtype=np.int32)
    save(folder / "bm25.lengths.npy", np.asarray(lengths, dtype=np.int32))
    numbered = renumbered[np.asarray(terms, dtype=np.int32)]
    _invert(folder, numbered, np.asarray(sizes, np.int32), np.asarray(counts, np.int32), len(order))


def _invert(
    folder: Path, terms: NDArray[np.int32], sizes: NDArray[np.int32], counts: NDArray[np.int32], distinct: int
) -> None:
    """Turn the distinct terms of each row, one row after the other, into the rows of each term."""
    # Stable, so that the rows of a term stay in ascending order.
    by_term = np.argsort(terms, kind="stable")
    rows = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    sizes_of_terms = np.bincount(terms, minlength=distinct)
    save(folder / "bm25.starts.npy", np.concatenate(([0], np.cumsum(sizes_of_terms)), dtype=np.int64))
    save(folder / "bm25.rows.npy", rows[by_term])
    # 16 bits halve what a search reads; no passage repeats a word more than 65,535 times.
    narrow = np.uint16 if int(counts.max(initial=0)) <= np.iinfo(np.uint16).max else np.int32
    save(folder / "bm25.counts.npy", counts[by_term].astype(narrow))
