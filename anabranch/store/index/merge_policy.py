"""A generation in the making: its segments so far, put in order by merging.

Segments are kept in a geometric order of sizes, as in a log-structured merge tree (O'Neil et al. 1996), so that a
passage is copied a logarithmic number of times, and a search meets few segments.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import IndexDamagedError
from anabranch.store.index.manifest import NONE_DEAD, Dead, Manifest, read_dead, segment_home
from anabranch.store.index.segment import REBUILD, Segment
from anabranch.store.index.segment_merger import Source, merge

SMALL = 1 << 14
"""Segments of up to so many rows together are merged before a change is published: it takes less than a second."""

# With 3, a passage is copied some log3(n) times, and a search meets at most about as many segments.
RATIO = 3
# Dead rows are scanned and masked in each search; a quarter is what a search may be slowed by.
MOST_DEAD = 0.25


@dataclass(slots=True)
class IndexDraft:
    """Segments in row order, and their dead rows."""

    folder: Path
    segments: list[Segment]
    dead: Dead

    @classmethod
    def of(cls, folder: Path, manifest: Manifest) -> IndexDraft:
        """Return what a generation is made of.

        Raises:
            IndexDamagedError: A file is missing or is not what it should be.
        """
        segments = [Segment(segment_home(folder, name)) for name in manifest.segments]
        return cls(folder, segments, read_dead(folder, manifest))

    def tidy(self, *, quick: bool = False) -> None:
        """Merge until sizes are in order; `quick` leaves what takes long for later."""
        most = SMALL if quick else None
        while (run := self._due(most)) is not None:
            self.merge(*run)

    def _due(self, most: int | None) -> tuple[int, int] | None:
        """Return the first and one past the last of the segments to merge next, of at most `most` rows together."""
        sizes = [self.alive(segment) for segment in self.segments]
        # From the newest on: merging it with its neighbours may make it large enough for the one before.
        first = len(sizes) - 1
        while first > 0 and _belongs(sizes[first - 1], sum(sizes[first:]), most):
            first -= 1
        if first < len(sizes) - 1:
            return first, len(sizes)
        for place, segment in enumerate(self.segments):
            dead = segment.rows - sizes[place]
            if dead > MOST_DEAD * segment.rows and (most is None or segment.rows <= most):
                return place, place + 1
        return None

    def merge(self, first: int, last: int) -> None:
        """Put one segment in the place of several; one that is whole already stays.

        Raises:
            IndexDamagedError: One of them is not what was written.
        """
        run = self.segments[first:last]
        if len(run) == 1 and not len(self.dead[run[0].name]):
            return
        # A segment without a row that is alive leaves nothing to copy: it just goes.
        alive = [segment for segment in run if self.alive(segment)]
        made: list[Segment] = []
        if alive:
            home = new_home(self.folder)
            merge(home, [Source(segment, self.dead[segment.name]) for segment in alive])
            made = [Segment(home)]
        # In the place of those it is made of: rows keep the order of their documents, and ties in scores with it.
        self.segments[first:last] = made
        for segment in run:
            del self.dead[segment.name]
        self.dead |= {segment.name: NONE_DEAD for segment in made}

    def alive(self, segment: Segment) -> int:
        """Return how many rows of a segment are alive."""
        return segment.rows - len(self.dead[segment.name])


def _belongs(size: int, after: int, most: int | None) -> bool:
    """Tell whether a segment should be merged with those after it."""
    return (size < RATIO * after or size + after <= SMALL) and (most is None or size + after <= most)


def must_be_sound(segments: Sequence[Segment]) -> None:
    """Read all files of segments.

    Raises:
        IndexDamagedError: One is not what was written.
    """
    for segment in segments:
        if problems := segment.damage():
            raise IndexDamagedError(f"The index is damaged: {problems[0]}.", hint=REBUILD)


def new_home(folder: Path) -> Path:
    """Return the folder of a new segment, which is not made yet."""
    return segment_home(folder, secrets.token_hex(6))
