"""A generation in the making: its segments so far, put in order by merging.

Segments are kept in a geometric order of sizes, as in a log-structured merge tree (O'Neil et al. 1996), so that a
passage is written a logarithmic number of times, and a search meets few segments. Merging makes one segment of their
documents from the database: it holds nothing that was removed, and there is only one way to make a segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.index.manifest import NONE_DEAD, Dead, Manifest, read_dead, segment_home
from anabranch.store.index.segment import Segment, damage_error
from anabranch.store.index.segment_builder import SegmentPart, build_segment

SMALL = 1 << 12
"""Segments with up to this many rows together are merged before publishing, which takes about half a second."""

# Making a segment holds its postings in memory. A shard of the bundled embedder's vectors has this size, so larger
# segments would not be searched in fewer pieces.
LARGEST = 1 << 17
"""Most rows of a merged segment."""

# With 3, a passage is written some log3(n) times, and a search meets at most about as many segments.
RATIO = 3
# Dead rows are scanned and masked in each search; they may slow it down by a quarter.
MOST_DEAD = 0.25


@dataclass(slots=True)
class IndexDraft:
    """Segments in row order, and their dead rows."""

    database: CorpusDatabase
    segments: list[Segment]
    dead: Dead

    @classmethod
    def from_manifest(cls, database: CorpusDatabase, manifest: Manifest) -> IndexDraft:
        """Return the segments of a generation as a draft.

        Raises:
            IndexDamagedError: A file is missing or is not what it should be.
        """
        segments = [Segment(segment_home(database.folder, name)) for name in manifest.segments]
        return cls(database, segments, read_dead(database.folder, manifest))

    def add(self, fresh: Sequence[Segment]) -> None:
        """Add segments of new documents, and mark the rows of retired ones as dead in those before.

        Raises:
            IndexDamagedError: The files of a former segment are not what was written.
        """
        # The database keeps removals until an index knows them, so that a kill in between loses none.
        retired = np.array(self.database.all("SELECT number, born FROM retired"), dtype=np.int64).reshape(-1, 2)
        try:
            for segment in self.segments:
                rows = segment.rows_of(_retired_places(segment, retired))
                self.dead[segment.name] = np.union1d(self.dead[segment.name], rows)
        except (IndexError, ValueError, OverflowError):
            # Numbers out of range: large segments are not checked before use.
            _require_sound(self.segments)
            raise
        self.segments += fresh
        self.dead |= {segment.name: NONE_DEAD for segment in fresh}

    def tidy(self, *, quick: bool = False) -> None:
        """Merge until sizes are in order; `quick` postpones long merges.

        Raises:
            IndexDamagedError: A segment is not what was written.
        """
        while (run := self._next_merge(SMALL if quick else LARGEST)) is not None:
            self._merge(*run)

    def count_alive(self, segment: Segment) -> int:
        """Return how many rows of a segment are alive."""
        return segment.rows - len(self.dead[segment.name])

    def _next_merge(self, most: int) -> tuple[int, int] | None:
        """Return the first and one past the last of the segments to merge next, of at most `most` rows together."""
        sizes = [self.count_alive(segment) for segment in self.segments]
        # Start with the newest: merged with its neighbours, it may be large enough for the one before.
        first = len(sizes) - 1
        while first > 0 and _should_merge(sizes[first - 1], sum(sizes[first:]), most):
            first -= 1
        if first < len(sizes) - 1:
            return first, len(sizes)
        for place, segment in enumerate(self.segments):
            dead = segment.rows - sizes[place]
            if dead > MOST_DEAD * segment.rows and sizes[place] <= most:
                return place, place + 1
        return None

    def _merge(self, first: int, last: int) -> None:
        """Put one segment in the place of several."""
        run = self.segments[first:last]
        # The rows name the documents to write: if they are damaged, a document would be silently lost.
        _require_sound(run)
        numbers = sorted({number for segment in run for number in self._documents(segment)})
        # A segment without live rows is dropped.
        made: list[Segment] = []
        if numbers:
            part = SegmentPart(numbers, sum(map(self.count_alive, run)))
            made = [build_segment(self.database, part)]
        # The new segment takes their place: rows keep the order of their documents, which breaks ties in scores.
        self.segments[first:last] = made
        for segment in run:
            del self.dead[segment.name]
        self.dead |= {segment.name: NONE_DEAD for segment in made}

    def _documents(self, segment: Segment) -> list[int]:
        """Return the numbers of the documents with rows that are alive; the database has no other edition of these."""
        owners = np.delete(np.asarray(segment.owners), self.dead[segment.name])
        numbers: list[int] = segment.documents[np.unique(owners), 0].tolist()
        return numbers


def _should_merge(size: int, after: int, most: int) -> bool:
    """Tell whether a segment should be merged with those after it."""
    return (size < RATIO * after or size + after <= SMALL) and size + after <= most


def _retired_places(segment: Segment, retired: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which documents of a segment are among the retired editions, pairs of number and birth."""
    # A changed document keeps its number, so compare births, too: the newer edition must survive.
    editions = set(map(tuple, retired.tolist()))
    places = segment.places_of(retired[:, 0])
    facts = segment.documents[places, :2].tolist()
    return places[[tuple(fact) in editions for fact in facts]] if len(places) else places


def _require_sound(segments: Sequence[Segment]) -> None:
    """Read all files of segments.

    Raises:
        IndexDamagedError: One is not what was written.
    """
    for segment in segments:
        if problems := segment.damage():
            raise damage_error(f"The index is damaged: {problems[0]}.")
