"""Nearest neighbours of one segment by inner product: FAISS, read where it lies on disk.

A segment's vectors lie in shards, so that neither writing nor searching one needs them all in memory and cores can
share a search. A large shard has 8-bit codes beside its vectors: they are scanned, a quarter of the bytes, and the best
of them are scored again from the vectors themselves, so every score is the exact cosine.

A mask is applied before ranking, so a filter can never starve a search: where k allowed rows exist, k come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from anabranch.corpus.segments.ranking import Ranked, best
from anabranch.errors import CorpusDamagedError
from anabranch.models.embedding import Vectors

Mask = NDArray[np.bool_]

SHARD_BYTES = 192 << 20
"""Of vectors in a shard: what building one may hold in memory."""

QUANTISED = 16_384
"""Rows from which a shard gets codes; below, scanning the vectors themselves is as quick."""

# Codes blur a cosine by less than .002; so many more candidates make up for it (recall in benchmarks/).
_WIDER = 2
_MORE = 32

# From 20 queries on FAISS multiplies matrices, which rounds differently: a result would depend on its companions.
_TOGETHER = 16

# Up to this share of allowed rows, it is quicker to score those alone than to ask for each row whether it is allowed.
_SPARSE = 1 / 500


class Shard:
    """Consecutive rows of a segment."""

    def __init__(self, folder: Path, number: int, first: int) -> None:
        """Map the shard's files; takes microseconds, whatever their size.

        Raises:
            CorpusDamagedError: FAISS cannot read one.
        """
        self.first = first
        self._flat = _opened(folder / f"dense.{number}.faiss")
        self.dimension = int(self._flat.d)
        self.rows = int(self._flat.ntotal)
        codes = folder / f"codes.{number}.faiss"
        self._codes = _opened(codes) if codes.exists() else None

    @property
    def vectors(self) -> Vectors:
        """The rows themselves, shape (rows, dimension), where they lie on disk."""
        size = self.rows * self.dimension
        if not size:
            return np.zeros((0, self.dimension), dtype=np.float32)
        view: Vectors = faiss.rev_swig_ptr(self._flat.get_xb(), size).reshape(self.rows, self.dimension)
        return view

    def search(self, queries: Vectors, k: int, mask: Mask | None) -> list[Ranked]:
        """Return the `k` nearest allowed rows to each query, as numbers within the segment."""
        allowed = self.rows if mask is None else int(np.count_nonzero(mask))
        k = min(k, allowed)
        if k < 1:
            return [Ranked(np.zeros(0, np.int64), np.zeros(0, np.float64)) for _ in queries]
        if mask is not None and allowed <= max(k, self.rows * _SPARSE):
            found = [np.flatnonzero(mask)] * len(queries)
        else:
            wide = k if self._codes is None else min(allowed, _WIDER * k + _MORE)
            found = self._candidates(queries, wide, mask)
        return [self._scored(query, rows, k) for query, rows in zip(queries, found, strict=True)]

    def _candidates(self, queries: Vectors, k: int, mask: Mask | None) -> list[NDArray[np.int64]]:
        # OpenMP keeps this number per calling thread; the cores already share the shards.
        faiss.omp_set_num_threads(1)
        index = self._flat if self._codes is None else self._codes
        found: list[NDArray[np.int64]] = []
        for start in range(0, len(queries), _TOGETHER):
            part = queries[start : start + _TOGETHER]
            if mask is None:
                _, rows = index.search(part, k)
            else:
                bits = np.packbits(mask, bitorder="little")
                selector = faiss.IDSelectorBitmap(len(mask), faiss.swig_ptr(bits))
                _, rows = index.search(part, k, params=_restricted(selector))
            found += [row[row >= 0] for row in rows]
        return found

    def _scored(self, query: Vectors, rows: NDArray[np.int64], k: int) -> Ranked:
        rows = np.sort(rows)
        # One row at a time in its own order of summing: a score depends on nothing but the two vectors.
        scores = np.einsum("ij,j->i", self.vectors[rows], query, dtype=np.float64)
        ranked = best(rows, scores, k)
        return Ranked(ranked.rows + self.first, ranked.scores)


def open_shards(folder: Path) -> list[Shard]:
    """Return the shards of a segment, in row order."""
    shards: list[Shard] = []
    while (folder / f"dense.{len(shards)}.faiss").exists():
        first = shards[-1].first + shards[-1].rows if shards else 0
        shards.append(Shard(folder, len(shards), first))
    return shards


def write_shards(folder: Path, batches: Iterable[Vectors], dimension: int) -> int:
    """Write unit vectors, given in batches in row order, as shards.

    Returns:
        How many rows there are.
    """
    size = max(1, SHARD_BYTES // (4 * max(1, dimension)))
    total = 0
    for number, index in enumerate(_filled(batches, dimension, size)):
        faiss.write_index(index, str(folder / f"dense.{number}.faiss"))
        total += int(index.ntotal)
        if index.ntotal >= QUANTISED:
            faiss.write_index(_quantised(index), str(folder / f"codes.{number}.faiss"))
    return total


def _filled(batches: Iterable[Vectors], dimension: int, size: int) -> Iterator[Any]:
    index: Any = faiss.IndexFlatIP(dimension)
    for batch in batches:
        rest = np.ascontiguousarray(batch, dtype=np.float32)
        while len(rest):
            room = size - index.ntotal
            index.add(rest[:room])
            rest = rest[room:]
            if index.ntotal == size:
                yield index
                index = faiss.IndexFlatIP(dimension)
    if index.ntotal:
        yield index


def _quantised(flat: Any) -> Any:  # noqa: ANN401  # SWIG
    vectors = faiss.rev_swig_ptr(flat.get_xb(), flat.ntotal * flat.d).reshape(flat.ntotal, flat.d)
    codes: Any = faiss.IndexScalarQuantizer(flat.d, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
    codes.train(vectors)
    codes.add(vectors)
    return codes


def _opened(file: Path) -> Any:  # noqa: ANN401  # SWIG
    # The flag that maps a flat index came after the one that maps inverted lists.
    flags = getattr(faiss, "IO_FLAG_MMAP_IFC", 0)
    try:
        return faiss.read_index(str(file), flags)
    except RuntimeError as error:
        msg = f"The dense index {str(file)!r} cannot be read: {str(error)[:200]}"
        raise CorpusDamagedError(msg, hint="Build it again: anabranch corpus rebuild") from error


def _restricted(selector: object) -> object:
    # SWIG makes this constructor at run time, so its arguments are unknown to type checkers.
    return faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]
