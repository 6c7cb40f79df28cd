"""Makes one segment of several, from their files alone, without the rows that are dead.

Nothing is analysed, embedded or read from the database again, and only blocks of the sources are in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import IndexDamagedError
from anabranch.models.embedder import Vectors
from anabranch.store.index.dense import write_shards
from anabranch.store.index.mmap_file import reserved, save
from anabranch.store.index.postings import Postings, starts_of, write_terms
from anabranch.store.index.segment import REBUILD, Segment, seal

# Both bound what a merge holds in memory, whatever the size of the segments.
BLOCK_ROWS = 8_192
BLOCK_POSTINGS = 1 << 21


@dataclass(frozen=True, slots=True)
class Source:
    """A segment that goes into another one.

    Attributes:
        segment: Its files.
        dead_rows: Rows that are left out, ascending.
    """

    segment: Segment
    dead_rows: NDArray[np.int64]

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which rows stay, shape (rows,)."""
        alive = np.ones(self.segment.rows, dtype=np.bool_)
        alive[self.dead_rows] = False
        return alive

    @property
    def rows(self) -> int:
        """How many rows stay."""
        return self.segment.rows - len(self.dead_rows)


def merge(home: Path, sources: Sequence[Source]) -> None:
    """Write the rows that are alive of all sources, in their order, as one segment into the new folder `home`.

    Raises:
        IndexDamagedError: A source is not what was written; its copy would pass for sound.
    """
    for source in sources:
        if problems := source.segment.damage():
            raise IndexDamagedError(f"The index is damaged: {problems[0]}.", hint=REBUILD)
    home.mkdir(parents=True)
    _write_rows(home, sources)
    _write_postings(home, sources)
    dimension = max(shard.dimension for source in sources for shard in source.segment.shards)
    write_shards(home, _vectors(sources), dimension)
    seal(home)


def _write_rows(home: Path, sources: Sequence[Source]) -> None:
    ids, owners, documents = [], [], []
    first_row = first_document = 0
    for source in sources:
        segment, alive = source.segment, source.alive
        kept = np.asarray(segment.owners)[alive]
        places, starts = np.unique(kept, return_index=True)
        # Numbered anew without gaps: documents without a row left are not carried over.
        renumbered = np.zeros(len(segment.documents), dtype=np.int32)
        renumbered[places] = np.arange(len(places), dtype=np.int32) + first_document
        facts = np.array(segment.documents[places])
        facts[:, 2] = starts + first_row
        ids.append(np.asarray(segment.ids)[alive])
        owners.append(renumbered[kept])
        documents.append(facts)
        first_row += len(kept)
        first_document += len(places)
    save(home / "rows.npy", np.concatenate(ids))
    save(home / "owners.npy", np.concatenate(owners))
    save(home / "documents.npy", np.concatenate(documents))


def _vectors(sources: Sequence[Source]) -> Iterator[Vectors]:
    for source in sources:
        alive = source.alive
        for shard in source.segment.shards:
            vectors = shard.vectors
            kept = alive[shard.first : shard.first + shard.rows]
            for start in range(0, shard.rows, BLOCK_ROWS):
                yield vectors[start : start + BLOCK_ROWS][kept[start : start + BLOCK_ROWS]]


class _Target:
    """Where the postings of all sources come together."""

    def __init__(self, home: Path, sources: Sequence[Source]) -> None:
        # Terms that only dead rows had are left out: a word of a removed document must not stay in the vocabulary.
        frequencies = [_alive_frequencies(source) for source in sources]
        names = sorted(
            {
                name
                for source, alive in zip(sources, frequencies, strict=True)
                for name, rows in zip(source.segment.postings.vocabulary, alive.tolist(), strict=True)
                if rows
            }
        )
        number = {name: place for place, name in enumerate(names)}
        self.numbers = [
            np.fromiter((number.get(name, -1) for name in source.segment.postings.vocabulary), np.int64)
            for source in sources
        ]
        totals = np.zeros(len(names), dtype=np.int64)
        for numbers, alive in zip(self.numbers, frequencies, strict=True):
            totals[numbers[alive > 0]] += alive[alive > 0]
        starts = starts_of(totals)
        write_terms(home, names)
        save(home / "bm25.starts.npy", starts)
        self.next = starts[:-1].copy()
        size = int(starts[-1])
        # The widest of the sources, or a count past 65,535 would be cut.
        wide = max((source.segment.postings.counts.dtype for source in sources), key=lambda kind: kind.itemsize)
        self.rows = reserved(home / "bm25.rows.npy", np.int32, size)
        self.counts = reserved(home / "bm25.counts.npy", wide, size)

    def close(self) -> None:
        for each in (self.rows, self.counts):
            each.flush()


def _alive_frequencies(source: Source) -> NDArray[np.int64]:
    """Return in how many rows that stay each term is."""
    postings, alive = source.segment.postings, source.alive
    starts = np.asarray(postings.starts)
    found = np.zeros(len(starts) - 1, dtype=np.int64)
    for first, last in _term_blocks(starts):
        kept = starts_of(alive[postings.rows[starts[first] : starts[last]]].astype(np.int64))
        found[first:last] = np.diff(kept[starts[first : last + 1] - starts[first]])
    return found


def _write_postings(home: Path, sources: Sequence[Source]) -> None:
    target = _Target(home, sources)
    lengths = []
    first_row = 0
    for source, numbers in zip(sources, target.numbers, strict=True):
        alive = source.alive
        renumbered = (np.cumsum(alive) - 1 + first_row).astype(np.int32)
        _copy_inverted(target, source.segment.postings, numbers, alive, renumbered)
        lengths.append(np.asarray(source.segment.postings.lengths)[alive])
        first_row += int(alive.sum())
    target.close()
    save(home / "bm25.lengths.npy", np.concatenate(lengths))


def _copy_inverted(
    target: _Target,
    postings: Postings,
    numbers: NDArray[np.int64],
    alive: NDArray[np.bool_],
    renumbered: NDArray[np.int32],
) -> None:
    """Append a source's postings to those of the same terms; a source's rows all come after those before it."""
    starts = np.asarray(postings.starts)
    for first, last in _term_blocks(starts):
        part = slice(int(starts[first]), int(starts[last]))
        rows = np.asarray(postings.rows[part])
        terms = np.repeat(numbers[first:last], np.diff(starts[first : last + 1]))
        kept = alive[rows]
        rows, terms = rows[kept], terms[kept]
        # Numpy would write to the same place for each posting of a term; counting within its run gives each a place of
        # its own.
        within = np.arange(len(terms)) - _first_of_run(terms)
        places = target.next[terms] + within
        target.rows[places] = renumbered[rows]
        target.counts[places] = np.asarray(postings.counts[part])[kept]
        met, times = np.unique(terms, return_counts=True)
        target.next[met] += times


def _term_blocks(starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Divide terms into blocks of bounded postings; a term alone may have more."""
    first, terms = 0, len(starts) - 1
    while first < terms:
        last = int(np.searchsorted(starts, starts[first] + BLOCK_POSTINGS, side="right")) - 1
        last = min(max(last, first + 1), terms)
        yield first, last
        first = last


def _first_of_run(terms: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each place where the run of equal terms around it begins."""
    places = np.arange(len(terms))
    opens = np.ones(len(terms), dtype=np.bool_)
    opens[1:] = terms[1:] != terms[:-1]
    return np.asarray(np.maximum.accumulate(np.where(opens, places, 0)), dtype=np.int64)
