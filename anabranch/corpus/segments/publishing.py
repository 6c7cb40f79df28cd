"""Brings the index up to the documents: a segment for what is new, tombstones for what is gone, mergers now and then.

The cost of a change is that of the change. Segments are kept in a geometric order of sizes, as in a log-structured
merge tree (O'Neil et al. 1996), so that a passage is copied a logarithmic number of times, and a search meets few
segments.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anabranch.corpus.analysis import analyser
from anabranch.corpus.segments.building import BEFORE_ALL, Part, build_segment, dimension_of, parts
from anabranch.corpus.segments.changes import buried
from anabranch.corpus.segments.generation import (
    KEPT,
    NO_TOMBS,
    Manifest,
    Tombs,
    current,
    next_number,
    read_manifest,
    read_statistics,
    read_tombs,
    segment_home,
    sweep,
    write_generation,
)
from anabranch.corpus.segments.merging import Source, merge
from anabranch.corpus.segments.segment import REBUILD, Segment
from anabranch.corpus.segments.statistics import Statistics, histogram_of
from anabranch.corpus.truth import Truth
from anabranch.errors import IndexDamagedError

PART = 1 << 17
"""Leaves that become one segment at a time: what making it holds in memory is bounded."""

SMALL = 1 << 14
"""Segments of up to so many rows together are merged before a change is published: it takes less than a second."""

RATIO = 3
MOST_DEAD = 0.25

REACHED = "retired_until"
"""Fact about a corpus: the count of changes of the index that knows all documents which had died by then."""

_log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
"""Told leaves done and leaves in all."""


@dataclass(slots=True)
class _State:
    """A generation in the making."""

    segments: list[Segment]
    tombs: dict[str, Tombs]
    statistics: Statistics

    def source(self, segment: Segment) -> Source:
        tombs = self.tombs[segment.name]
        return Source(segment, tombs.rows, tombs.dead)

    def alive(self, segment: Segment) -> int:
        return segment.rows - len(self.tombs[segment.name].rows)


def out_of_date(folder: Path, truth: Truth) -> bool:
    """Tell whether the current index is not one of the documents as they are, or cannot be read."""
    try:
        name = current(folder)
        if name is None:
            return _has_leaves(truth)
        return read_manifest(folder, name).changes != truth.changes
    except IndexDamagedError:
        return True


def publish(folder: Path, truth: Truth, *, anew: bool = False, progress: Progress | None = None) -> Manifest | None:
    """Make a generation of the documents as they are and point CURRENT at it; an empty corpus has none.

    Args:
        folder: The corpus.
        truth: Its database; a leaf without a vector is an error, not a gap.
        anew: Make everything from the database, whatever there is; done in any case where the index cannot be used.
        progress: Told how far it is.

    Returns:
        What was made, or what there is if nothing had changed.

    Raises:
        CorpusDamagedError: A leaf has no vector of the corpus's embedder, or is not what was written.
    """
    if not _has_leaves(truth):
        (folder / "CURRENT").unlink(missing_ok=True)
        sweep(folder, 0)
        _forget_retired(truth)
        return None
    before = None if anew else _usable(folder, truth)
    if before is not None and before.changes == truth.changes:
        return before
    with _cleared(folder):
        if before is None:
            return _make_anew(folder, truth, progress)
        try:
            return _add(folder, truth, before, progress)
        except IndexDamagedError as error:
            _log.warning("%s Making the index anew.", error.message)
            return _make_anew(folder, truth, progress)


@contextmanager
def _cleared(folder: Path) -> Iterator[None]:
    """Remove what a run that was killed has left behind, and what this one leaves if it fails: room may be scarce."""
    sweep(folder, KEPT)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            sweep(folder, KEPT)
        raise


def _add(folder: Path, truth: Truth, before: Manifest, progress: Progress | None) -> Manifest:
    """Add to a generation what has changed since."""
    state = _opened(folder, before)
    fresh = _build(folder, truth, parts(truth, before.changes, PART), progress)
    _bury(truth, state, fresh)
    _tidy(folder, state, SMALL)
    return _finish(folder, truth, state)


def _bury(truth: Truth, state: _State, fresh: Sequence[Segment]) -> None:
    """Mark what is dead now, and count what is alive."""
    try:
        change = buried(truth, state.segments, state.tombs)
        state.statistics = change.applied(state.statistics, state.segments, state.tombs, fresh)
    except (IndexError, ValueError, OverflowError):
        # Numbers that lead nowhere: large segments are not looked at before they are used.
        _must_be_sound(state.segments)
        raise
    state.tombs = change.tombs | {segment.name: NO_TOMBS for segment in fresh}
    state.segments += fresh


def tidy(folder: Path, truth: Truth, *, progress: Progress | None = None) -> Manifest | None:
    """Publish, then merge what should be merged by now, however large; returns as `publish` does."""
    manifest = publish(folder, truth, progress=progress)
    return _merged(folder, truth, manifest, lambda state: _tidy(folder, state, None))


def compact(folder: Path, truth: Truth, *, progress: Progress | None = None) -> Manifest | None:
    """Publish, merge all segments into one without dead rows, and let go of every former generation."""
    manifest = publish(folder, truth, progress=progress)
    manifest = _merged(folder, truth, manifest, lambda state: _replace(folder, state, 0, len(state.segments)))
    sweep(folder, 1)
    return manifest


def _merged(
    folder: Path, truth: Truth, manifest: Manifest | None, merging: Callable[[_State], None]
) -> Manifest | None:
    """Return a generation of the same documents after merging, the given one if that left it as it was."""
    if manifest is None:
        return None
    with _cleared(folder):
        try:
            state = _opened(folder, manifest)
            merging(state)
        except IndexDamagedError as error:
            _log.warning("%s Making the index anew.", error.message)
            return _make_anew(folder, truth, None)
        if tuple(segment.name for segment in state.segments) == manifest.segments:
            return manifest
        return _finish(folder, truth, state)


def _has_leaves(truth: Truth) -> bool:
    return truth.one("SELECT 1 FROM chunks WHERE level = 2 LIMIT 1") is not None


def _usable(folder: Path, truth: Truth) -> Manifest | None:
    """Return the current generation if a change can be added to it."""
    try:
        name = current(folder)
        if name is None:
            if next_number(folder) > 1:
                _log.warning("%s is gone. Making the index anew.", folder / "CURRENT")
            return None
        manifest = read_manifest(folder, name)
        for segment in manifest.segments:
            Segment(segment_home(folder, segment))
    except IndexDamagedError as error:
        _log.warning("%s Making the index anew.", error.message)
        return None
    language = truth.meta("language") or "english"
    made_by = (manifest.embedder, manifest.language, manifest.analyser)
    same = made_by == (truth.meta("embedder"), language, analyser(language).name)
    # An earlier generation, from a copy of the folder say, knows of deaths that are no longer kept in mind.
    reaches = int(truth.meta(REACHED) or 0) <= manifest.changes <= truth.changes
    return manifest if same and reaches else None


def _opened(folder: Path, manifest: Manifest) -> _State:
    segments = [Segment(segment_home(folder, name)) for name in manifest.segments]
    return _State(segments, read_tombs(folder, manifest), read_statistics(folder, manifest))


def _make_anew(folder: Path, truth: Truth, progress: Progress | None) -> Manifest:
    segments = _build(folder, truth, parts(truth, BEFORE_ALL, PART), progress)
    state = _State(
        segments,
        {segment.name: NO_TOMBS for segment in segments},
        Statistics(0, 0, histogram_of(np.zeros(0, np.int64))),
    )
    _replace(folder, state, 0, len(segments))
    postings = state.segments[0].postings
    frequencies = np.diff(np.asarray(postings.starts))
    state.statistics = Statistics(
        state.segments[0].rows, int(np.sum(postings.lengths, dtype=np.int64)), histogram_of(frequencies)
    )
    return _finish(folder, truth, state)


def _build(folder: Path, truth: Truth, todo: Sequence[Part], progress: Progress | None) -> list[Segment]:
    words = analyser(truth.meta("language") or "english")
    total, done = sum(part.leaves for part in todo), 0

    def told(leaves: int) -> None:
        nonlocal done
        done += leaves
        if progress is not None:
            progress(done, total)

    segments = []
    for part in todo:
        home = _new_home(folder)
        build_segment(home, truth, part, words, told)
        segments.append(Segment(home))
    return segments


def _tidy(folder: Path, state: _State, most: int | None) -> None:
    """Merge until sizes are in order; runs of more than `most` rows are left for later."""
    while (run := _due(state, most)) is not None:
        _replace(folder, state, *run)


def _due(state: _State, most: int | None) -> tuple[int, int] | None:
    """Return the first and one past the last of the segments to merge next."""
    sizes = [state.alive(segment) for segment in state.segments]
    first = len(sizes) - 1
    while first > 0 and _belongs(sizes[first - 1], sum(sizes[first:]), most):
        first -= 1
    if first < len(sizes) - 1:
        return first, len(sizes)
    for place, segment in enumerate(state.segments):
        dead = segment.rows - sizes[place]
        if dead > MOST_DEAD * segment.rows and (most is None or segment.rows <= most):
            return place, place + 1
    return None


def _belongs(size: int, after: int, most: int | None) -> bool:
    """Tell whether a segment should be merged with those after it."""
    return (size < RATIO * after or size + after <= SMALL) and (most is None or size + after <= most)


def _replace(folder: Path, state: _State, first: int, last: int) -> None:
    """Put one segment in the place of several; one that is whole already stays."""
    run = state.segments[first:last]
    if len(run) == 1 and not len(state.tombs[run[0].name].rows):
        return
    sources = [state.source(segment) for segment in run if state.alive(segment)]
    # What was subtracted from the statistics was read from here; `merge` looks at the others.
    _must_be_sound([segment for segment in run if not state.alive(segment)])
    made: list[Segment] = []
    if sources:
        home = _new_home(folder)
        merge(home, sources)
        made = [Segment(home)]
    state.segments[first:last] = made
    for segment in run:
        del state.tombs[segment.name]
    state.tombs |= {segment.name: NO_TOMBS for segment in made}


def _must_be_sound(segments: Sequence[Segment]) -> None:
    for segment in segments:
        if problems := segment.damage():
            raise IndexDamagedError(f"The index is damaged: {problems[0]}.", hint=REBUILD)


def _new_home(folder: Path) -> Path:
    return segment_home(folder, secrets.token_hex(6))


def _finish(folder: Path, truth: Truth, state: _State) -> Manifest:
    number = next_number(folder)
    language = truth.meta("language") or "english"
    manifest = Manifest(
        name=f"{number:06d}-{secrets.token_hex(2)}", number=number, embedder=truth.meta("embedder") or "",
        spec=truth.meta("spec") or "", base_url=truth.meta("base_url") or "", dimension=dimension_of(truth),
        language=language, analyser=analyser(language).name, changes=truth.changes,
        documents=truth.one("SELECT count(*) FROM documents")[0], leaves=state.statistics.rows,
        chunks=truth.one("SELECT count(*) FROM chunks")[0],
        tokens=truth.one("SELECT coalesce(sum(tokens), 0) FROM documents")[0], length=state.statistics.length,
        segments=tuple(segment.name for segment in state.segments), files={},
    )  # fmt: skip
    (folder / "generations").mkdir(exist_ok=True)
    written = write_generation(folder, manifest, state.statistics, state.tombs)
    _forget_retired(truth)
    sweep(folder, KEPT)
    return written


def _forget_retired(truth: Truth) -> None:
    with truth.transaction():
        truth.connection.execute("DELETE FROM retired")
        truth.set_meta(REACHED, str(truth.changes))
