"""The terms of an index as sorted bytes on disk: nothing to load, a term is found by bisection."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.corpus.mapping import mapped


class Vocabulary(Sequence[bytes]):
    """Terms in the order of their UTF-8 bytes; a term's position is its number."""

    def __init__(self, folder: Path) -> None:
        """Open what `write_vocabulary` wrote."""
        self._bytes = mapped(folder / "bm25.terms.npy")
        self._ends = mapped(folder / "bm25.term_ends.npy")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> bytes:  # type: ignore[override]  # no slices needed
        start = int(self._ends[number - 1]) if number else 0
        return self._bytes[start : int(self._ends[number])].tobytes()

    def find(self, term: str) -> int | None:
        """Return the number of a term, None where it is not there; about 20 looks at a million terms."""
        wanted = term.encode("utf-8", "replace")
        number = bisect_left(self, wanted)
        return number if number < len(self) and self[number] == wanted else None


def write_vocabulary(folder: Path, terms: Sequence[str]) -> NDArray[np.intp]:
    """Write distinct terms, sorted; return the positions in `terms` in that order."""
    encoded = [term.encode("utf-8", "replace") for term in terms]
    order = sorted(range(len(encoded)), key=encoded.__getitem__)
    np.save(folder / "bm25.terms.npy", np.frombuffer(b"".join(encoded[each] for each in order), dtype=np.uint8))
    np.save(folder / "bm25.term_ends.npy", np.cumsum([len(encoded[each]) for each in order], dtype=np.int64))
    return np.asarray(order, dtype=np.intp)
