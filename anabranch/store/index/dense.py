"""Nearest neighbours of one segment by inner product: FAISS, read where it lies on disk.

A segment's vectors lie in shards, so that neither writing nor searching one needs them all in memory and cores can
share a search. A large shard has codes beside its vectors: product quantisation with 4 bits for each pair of dimensions
(Jegou et al. 2011), scanned in registers (Andre et al. 2015), a sixteenth of the bytes. The best by their codes are
scored again from the vectors themselves, so every score is the exact cosine.

A mask is applied before ranking, so a filter can never starve a search: where k allowed rows exist, k come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from anabranch.errors import IndexDamagedError
from anabranch.models.embedder import Vectors
from anabranch.store.index.bm25 import Mask
from anabranch.store.index.topk import RankedRows, pick_best

SHARD_BYTES = 192 << 20
"""Vector bytes in a shard: building one holds them in memory."""

QUANTISED = 8_192
"""Rows from which a shard gets codes; below, scanning the vectors themselves is as quick."""

# Codes blur a cosine; this many times more candidates make up for it. In the bundled embedder's vectors, of the 50
# nearest 99.99 % were found among 10,000 passages and 99.9 % among 32,000, of the 10 nearest 100 % and 99.9 %
# (benchmarks/ has the recall at scale).
_WIDER = 4
_MORE = 200

_SAMPLE = 16_384
_ROUNDS = 10

# From 20 queries on FAISS multiplies matrices, which rounds differently: a result would depend on its batch.
_TOGETHER = 16

# Up to this share of allowed rows, scoring only those is quicker than testing every row against the mask.
_SPARSE = 1 / 500
# Codes are scanned without a mask; up to this share of allowed rows, too many of the best would be masked.
_THIN = 1 / 16


class Shard:
    """Consecutive rows of a segment."""

    def __init__(self, folder: Path, number: int, first: int) -> None:
        """Map the shard's files; takes microseconds, whatever their size.

        Raises:
            IndexDamagedError: FAISS cannot read one.
        """
        self.first = first
        self._flat = _open(folder / f"dense.{number}.faiss")
        self.dimension = int(self._flat.d)
        self.rows = int(self._flat.ntotal)
        codes = folder / f"codes.{number}.faiss"
        self._codes: Any = _open(codes) if codes.exists() else None

    @property
    def vectors(self) -> Vectors:
        """The vectors, shape (rows, dimension), mapped from disk."""
        return _rows_of(self._flat)

    def search(self, queries: Vectors, k: int, mask: Mask | None) -> list[RankedRows]:
        """Return the `k` nearest allowed rows to each query, as numbers within the segment."""
        allowed = self.rows if mask is None else int(np.count_nonzero(mask))
        k = min(k, allowed)
        if k < 1:
            return [RankedRows(np.zeros(0, np.int64), np.zeros(0, np.float64)) for _ in queries]
        # OpenMP keeps this number per calling thread; the cores already share the shards.
        faiss.omp_set_num_threads(1)
        if mask is not None and allowed <= max(k, self.rows * _SPARSE):
            found = [np.flatnonzero(mask)] * len(queries)
        elif self._codes is None or allowed <= self.rows * _THIN:
            found = self._search_vectors(queries, k, mask)
        else:
            found = self._search_codes(queries, k, mask, allowed)
        return [self._rescore(query, rows, k) for query, rows in zip(queries, found, strict=True)]

    def _search_vectors(self, queries: Vectors, k: int, mask: Mask | None) -> list[NDArray[np.int64]]:
        found: list[NDArray[np.int64]] = []
        for start in range(0, len(queries), _TOGETHER):
            part = queries[start : start + _TOGETHER]
            if mask is None:
                _, rows = self._flat.search(part, k)
            else:
                bits = np.packbits(mask, bitorder="little")
                selector = faiss.IDSelectorBitmap(len(mask), faiss.swig_ptr(bits))
                # SWIG makes this constructor at run time, so its arguments are unknown to type checkers.
                restricted: Any = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]
                _, rows = self._flat.search(part, k, params=restricted)
            found += [row[row >= 0] for row in rows]
        return found

    def _search_codes(self, queries: Vectors, k: int, mask: Mask | None, allowed: int) -> list[NDArray[np.int64]]:
        """Return more candidates than asked for; if a mask leaves too few of them, search exactly."""
        wanted = min(allowed, _WIDER * k + _MORE)
        wide = wanted if mask is None else min(self.rows, 2 * wanted * self.rows // allowed)
        found = []
        for query in queries:
            rows = self._codes.search(query[None], wide)[1][0]
            rows = rows[rows >= 0] if mask is None else rows[mask[rows] & (rows >= 0)]
            found.append(rows if len(rows) >= wanted else self._search_vectors(query[None], k, mask)[0])
        return found

    def _rescore(self, query: Vectors, rows: NDArray[np.int64], k: int) -> RankedRows:
        rows = np.sort(rows)
        ranked = pick_best(rows, cosines(self.vectors[rows], query), k)
        return RankedRows(ranked.rows + self.first, ranked.scores)


def cosines(vectors: Vectors, query: Vectors) -> NDArray[np.float64]:
    """Return the cosine between a query and each row of unit vectors, the same to the last bit everywhere."""
    # Sum each row by itself, so that a score depends only on the two vectors.
    found: NDArray[np.float64] = np.einsum("ij,j->i", vectors, query, dtype=np.float64)
    return found


def open_shards(folder: Path) -> list[Shard]:
    """Return the shards of a segment, in row order."""
    shards: list[Shard] = []
    while (folder / f"dense.{len(shards)}.faiss").exists():
        first = shards[-1].first + shards[-1].rows if shards else 0
        shards.append(Shard(folder, len(shards), first))
    return shards


def write_shards(folder: Path, batches: Iterable[Vectors], dimension: int) -> None:
    """Write unit vectors, given in batches in row order, as shards."""
    size = max(1, SHARD_BYTES // (4 * max(1, dimension)))
    # OpenMP threads wait by spinning: on a busy machine, two take many times as long as one.
    faiss.omp_set_num_threads(1)
    trained: Any = None
    for number, index in enumerate(_fill(batches, dimension, size)):
        _write(index, folder / f"dense.{number}.faiss")
        if index.ntotal >= QUANTISED:
            trained = trained or _train(_rows_of(index))
            codes = faiss.clone_index(trained)
            codes.add(_rows_of(index))
            _write(codes, folder / f"codes.{number}.faiss")


def _fill(batches: Iterable[Vectors], dimension: int, size: int) -> Iterator[Any]:
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


def _train(vectors: Vectors) -> Any:  # noqa: ANN401  # SWIG
    """Return an empty index of codes, its centroids learnt from a sample; the same vectors always give the same."""
    dimension = vectors.shape[1]
    pairs = dimension // 2 if dimension % 2 == 0 else dimension
    codes: Any = faiss.IndexPQFastScan(dimension, pairs, 4, faiss.METRIC_INNER_PRODUCT)
    codes.pq.cp.niter = _ROUNDS
    codes.train(np.ascontiguousarray(vectors[:: max(1, len(vectors) // _SAMPLE)]))
    return codes


def _rows_of(flat: Any) -> Vectors:  # noqa: ANN401  # SWIG
    """Return the vectors of a flat index where they lie, shape (rows, dimension)."""
    rows: Vectors = faiss.rev_swig_ptr(flat.get_xb(), flat.ntotal * flat.d).reshape(flat.ntotal, flat.d)
    return rows


def _write(index: Any, file: Path) -> None:  # noqa: ANN401  # SWIG
    # Given a path, FAISS does not report a full disk at the end of a file.
    with file.open("wb") as out:
        faiss.write_index(index, faiss.PyCallbackIOWriter(out.write))  # type: ignore[attr-defined]


def _open(file: Path) -> Any:  # noqa: ANN401  # SWIG
    # Newer versions of FAISS have a separate flag for mapping a flat index.
    flags = getattr(faiss, "IO_FLAG_MMAP_IFC", 0)
    try:
        return faiss.read_index(str(file), flags)
    except RuntimeError as error:
        msg = f"The dense index {str(file)!r} cannot be read: {str(error)[:200]}"
        raise IndexDamagedError(msg, hint="Build it again: anabranch corpus rebuild") from error
