"""Exact nearest neighbours by inner product: FAISS, read where it lies on disk.

A mask is applied before ranking, so a filter can never starve a search: where k allowed rows exist, k come back.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from anabranch.corpus.ranking import Ranked, best
from anabranch.errors import CorpusDamagedError, EmbedderMismatchError
from anabranch.models.embedding import Vectors

Mask = NDArray[np.bool_]

# From 20 queries on FAISS multiplies matrices, which rounds differently: a result would depend on its companions.
_TOGETHER = 16


class DenseIndex:
    """One immutable index of unit vectors."""

    def __init__(self, file: Path) -> None:
        """Map what `build` wrote.

        Raises:
            CorpusDamagedError: FAISS cannot read it.
        """
        # The flag that maps a flat index came after the one that maps inverted lists.
        flags = getattr(faiss, "IO_FLAG_MMAP_IFC", 0)
        try:
            self._index: Any = faiss.read_index(str(file), flags)
        except RuntimeError as error:
            msg = f"The dense index {str(file)!r} cannot be read: {str(error)[:200]}"
            raise CorpusDamagedError(msg, hint="Build it again: anabranch corpus rebuild") from error
        self.dimension = int(self._index.d)
        self.rows = int(self._index.ntotal)

    @classmethod
    def open(cls, file: Path) -> DenseIndex:
        """Return the index in `file`; takes microseconds, whatever its size."""
        return cls(file)

    def search(self, vectors: Vectors, k: int, mask: Mask | None = None) -> list[Ranked]:
        """Return the `k` rows nearest to each vector, or all allowed ones where there are fewer.

        Args:
            vectors: Shape (queries, dimension), unit rows.
            k: Most rows per query.
            mask: Shape (rows,); rows outside it are as good as absent.

        Returns:
            Rows and cosines in descending order, ties by row.

        Raises:
            EmbedderMismatchError: The vectors have another length than the index.
        """
        if vectors.shape[1:] != (self.dimension,):
            msg = f"The corpus has vectors of length {self.dimension}, the question {vectors.shape[1:]!r}."
            raise EmbedderMismatchError(msg, hint="Embed the corpus again: anabranch corpus rebuild --embedder ...")
        allowed = self.rows if mask is None else int(np.count_nonzero(mask))
        k = min(k, allowed)
        if k < 1:
            return [Ranked(np.zeros(0, np.int64), np.zeros(0, np.float64)) for _ in vectors]
        batches = [vectors[start : start + _TOGETHER] for start in range(0, len(vectors), _TOGETHER)]
        return [ranked for batch in batches for ranked in self._search_batch(batch, k, mask)]

    def _search_batch(self, vectors: Vectors, k: int, mask: Mask | None) -> list[Ranked]:
        # OpenMP keeps this number per calling thread; FAISS gives each query to one thread.
        faiss.omp_set_num_threads(min(len(vectors), os.cpu_count() or 1))
        queries = np.ascontiguousarray(vectors, dtype=np.float32)
        if mask is None:
            scores, rows = self._index.search(queries, k)
        else:
            bits = np.packbits(mask, bitorder="little")
            selector = faiss.IDSelectorBitmap(len(mask), faiss.swig_ptr(bits))
            scores, rows = self._index.search(queries, k, params=_restricted(selector))
        return [best(found[found >= 0], score[found >= 0], k) for found, score in zip(rows, scores, strict=True)]


def _restricted(selector: object) -> object:
    # SWIG makes this constructor at run time, so its arguments are unknown to type checkers.
    return faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]


def build(file: Path, batches: Iterable[Vectors], dimension: int) -> int:
    """Write an index of unit vectors, given in batches in row order.

    Returns:
        How many rows there are.
    """
    index: Any = faiss.IndexFlatIP(dimension)
    for batch in batches:
        index.add(np.ascontiguousarray(batch, dtype=np.float32))
    faiss.write_index(index, str(file))
    return int(index.ntotal)
