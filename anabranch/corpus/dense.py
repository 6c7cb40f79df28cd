"""The dense arm: exact inner product over unit vectors, in a FAISS file that is mapped, not read.

Filters are applied inside the scan (an id selector), so that k allowed rows come back whenever k are allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from anabranch.models.embedding import Vectors

FILE = "dense.faiss"

Hits = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Rows and their scores, best first."""


def build(folder: Path, blocks: Iterable[Vectors], dimension: int) -> None:
    """Write an index of the vectors, rows numbered in the order they come.

    Args:
        folder: Where to write `dense.faiss`.
        blocks: Arrays of shape (n, dimension), rows of unit length.
        dimension: Length of each vector.
    """
    index = faiss.IndexFlatIP(dimension)
    for block in blocks:
        index.add(np.ascontiguousarray(block, dtype=np.float32))
    faiss.write_index(index, str(folder / FILE))


class DenseIndex:
    """An opened index."""

    def __init__(self, index: Any) -> None:  # noqa: ANN401  # faiss has no types
        """Take over an index of faiss's."""
        self._index = index

    @classmethod
    def open(cls, folder: Path) -> DenseIndex:
        """Map the index of a folder into memory.

        Raises:
            RuntimeError: The file is missing or is no index.
        """
        return cls(faiss.read_index(str(folder / FILE), faiss.IO_FLAG_MMAP_IFC))

    def search(self, vectors: Vectors, k: int, mask: NDArray[np.bool_] | None = None) -> list[Hits]:
        """Return the k nearest rows of each vector by cosine, best first, ties by row.

        Args:
            vectors: Shape (n, dimension), rows of unit length.
            k: Length of each list at most.
            mask: Shape (rows,): which rows may be found; None for all.
        """
        allowed = self._index.ntotal if mask is None else int(np.count_nonzero(mask))
        k = min(k, allowed)
        if k == 0:
            return [(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in vectors]
        parameters = None
        if mask is not None:
            bits = np.packbits(mask, bitorder="little")
            selector = faiss.IDSelectorBitmap(len(mask), faiss.swig_ptr(bits))
            parameters = faiss.SearchParameters(sel=selector)
        scores, rows = self._index.search(np.ascontiguousarray(vectors, dtype=np.float32), k, params=parameters)
        return [_ordered(found, score) for found, score in zip(rows, scores, strict=True)]


def _ordered(rows: NDArray[np.int64], scores: NDArray[np.float32]) -> Hits:
    """Order ties by row, so that equal texts come in the same order on every machine."""
    real = rows >= 0
    rows, scores = rows[real], scores[real]
    order = np.lexsort((rows, -scores))
    return rows[order], scores[order]
