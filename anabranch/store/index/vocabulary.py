"""The terms of an index as sorted bytes on disk: nothing to load, a term is found by bisection."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.store.index.mmap_file import mapped, save

# Below this share of the vocabulary, bisecting for each term is quicker than reading all terms once.
_FEW = 50


class Vocabulary(Sequence[bytes]):
    """Terms in the order of their UTF-8 bytes; a term's position is its number."""

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
