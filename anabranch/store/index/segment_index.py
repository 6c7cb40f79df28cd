"""The whole index of one generation, which answers queries."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import EmbedderMismatchError
from anabranch.models.embedder import Vectors
from anabranch.store.index.bm25 import BM25, Inverted, Mask
from anabranch.store.index.dense import Shard
from anabranch.store.index.manifest import Manifest, read_dead, read_manifest, segment_home
from anabranch.store.index.segment import Segment
from anabranch.store.index.topk import RankedRows, merge_rankings

Masks = tuple[Mask | None, ...]
"""Which rows of each segment may be seen; None for all of them."""

# Scans are bound by memory and cores: more scans than cores would only wait for each other.
_SCANS = ThreadPoolExecutor(max_workers=os.cpu_count() or 1, thread_name_prefix="anabranch-scan")


class Index:
    """All segments of one generation, opened; rows are numbered through all of them."""

    def __init__(self, folder: Path, name: str) -> None:
        """Open a generation.

        Raises:
            IndexDamagedError: A file is missing or is not what it should be.
        """
        self.manifest: Manifest = read_manifest(folder, name)
        self.segments = [Segment(segment_home(folder, each)) for each in self.manifest.segments]
        self._dead = read_dead(folder, self.manifest)
        self._firsts = [0, *accumulate(segment.rows for segment in self.segments)]
        alive = zip(self.segments, self._firsts, self.masks(None), strict=False)
        self.bm25 = BM25([Inverted(segment.postings, first, mask) for segment, first, mask in alive])

    def masks(self, allowed: NDArray[np.int64] | None) -> Masks:
        """Return which rows may be seen.

        Args:
            allowed: Numbers of the documents that may be; None for all.
        """
        return tuple(self._mask(segment, allowed) for segment in self.segments)

    def _mask(self, segment: Segment, allowed: NDArray[np.int64] | None) -> Mask | None:
        dead = self._dead[segment.name]
        if allowed is not None:
            documents = np.isin(segment.documents[:, 0], allowed)
            # A search without a mask is quicker.
            if documents.all():
                return self._mask(segment, None)
            mask = documents[segment.owners]
        elif len(dead):
            mask = np.ones(segment.rows, dtype=np.bool_)
        else:
            return None
        mask[dead] = False
        return mask

    def nearest(self, vectors: Vectors, k: int, masks: Masks) -> list[RankedRows]:
        """Return the `k` rows nearest to each vector, or all allowed ones where there are fewer.

        Args:
            vectors: Shape (queries, dimension), unit rows.
            k: Most rows per query.
            masks: One per segment; rows outside are as good as absent.

        Returns:
            Rows and cosines in descending order, ties by row.

        Raises:
            EmbedderMismatchError: The vectors have another length than the index.
        """
        dimension = self.manifest.dimension
        if vectors.shape[1:] != (dimension,):
            msg = f"The corpus has vectors of length {dimension}, the question {vectors.shape[1:]!r}."
            raise EmbedderMismatchError(msg, hint="Embed the corpus again: anabranch corpus rebuild --embedder ...")
        # FAISS reads raw memory, and accepts no other layout.
        queries = np.ascontiguousarray(vectors, dtype=np.float32)
        todo = [
            (shard, first, None if mask is None else mask[shard.first : shard.first + shard.rows])
            for segment, first, mask in zip(self.segments, self._firsts, masks, strict=False)
            for shard in segment.shards
        ]

        def scan(each: tuple[Shard, int, Mask | None]) -> list[RankedRows]:
            shard, first, mask = each
            return [RankedRows(found.rows + first, found.scores) for found in shard.search(queries, k, mask)]

        # A single scan stays in the thread of its search.
        found = [scan(each) for each in todo] if len(todo) == 1 else list(_SCANS.map(scan, todo))
        return [merge_rankings(parts, k) for parts in zip(*found, strict=True)]

    def vectors(self, rows: NDArray[np.int64]) -> Vectors:
        """Return the vectors of these rows, shape (rows, dimension)."""
        found = np.zeros((len(rows), self.manifest.dimension), dtype=np.float32)
        for segment, first in zip(self.segments, self._firsts, strict=False):
            for shard in segment.shards:
                start = first + shard.first
                inside = np.flatnonzero((rows >= start) & (rows < start + shard.rows))
                if len(inside):
                    found[inside] = shard.vectors[rows[inside] - start]
        return found

    def rows(self, owners: Mapping[str, int], masks: Masks) -> dict[str, int]:
        """Return the row of each chunk that may be seen, given the number of its document."""
        numbers = np.fromiter(set(owners.values()), np.int64)
        found: dict[str, int] = {}
        for segment, first, mask in zip(self.segments, self._firsts, masks, strict=False):
            rows = segment.rows_of(segment.places_of(numbers))
            rows = rows if mask is None else rows[mask[rows]]
            names = (bytes(name).decode("ascii") for name in segment.ids[rows])
            found.update((name, first + row) for name, row in zip(names, rows.tolist(), strict=True) if name in owners)
        return found

    def ids(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the chunk ids of rows that are alive."""
        # Filled segment by segment, because reading single rows of a mapped file is slow.
        names = np.empty(len(rows), dtype="S16")
        for segment, first in zip(self.segments, self._firsts, strict=False):
            inside = (rows >= first) & (rows < first + segment.rows)
            names[inside] = segment.ids[rows[inside] - first]
        ids: list[str] = names.astype("U16").tolist()
        return ids

    def damage(self) -> list[str]:
        """Return what is wrong with the files of its segments, by checksum; reads all of them."""
        return [problem for segment in self.segments for problem in segment.damage()]


def allows_any(masks: Sequence[Mask | None]) -> bool:
    """Tell whether any row may be seen."""
    return any(mask is None or bool(mask.any()) for mask in masks)
