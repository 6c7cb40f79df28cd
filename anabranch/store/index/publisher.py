"""Brings the index up to the documents: a segment for what is new, tombstones for what is gone, one pointer swapped.

The cost of a change is that of the change; `anabranch.store.index.segment_merger` says when segments are merged.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from anabranch.errors import IndexDamagedError
from anabranch.store.corpus_language import settled_language
from anabranch.store.corpus_writer import Truth
from anabranch.store.index.manifest import (
    KEPT,
    NO_TOMBS,
    Manifest,
    current,
    next_number,
    read_manifest,
    sweep,
    write_generation,
)
from anabranch.store.index.segment import Segment
from anabranch.store.index.segment_builder import BEFORE_ALL, Part, build_segment, dimension_of, parts
from anabranch.store.index.segment_merger import Draft, must_be_sound, new_home
from anabranch.store.index.statistics import NOTHING, Statistics, histogram_of
from anabranch.store.index.tombstones import buried
from anabranch.text.analyzer import analyser

PART = 1 << 17
"""Leaves that become one segment at a time: what making it holds in memory is bounded."""

REACHED = "retired_until"
"""Fact about a corpus: the count of changes of the index that knows all documents which had died by then."""

_log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
"""Told leaves done and leaves in all."""


def out_of_date(folder: Path, truth: Truth) -> bool:
    """Tell whether the current index is not one of the documents as they are, or cannot be read."""
    try:
        name = current(folder)
        if name is None:
            return _has_leaves(truth)
        manifest = read_manifest(folder, name)
        return (manifest.changes, manifest.language) != (truth.changes, truth.meta("language") or manifest.language)
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
    usable = None if anew else _usable(folder, truth)
    if usable is not None and usable[0].changes == truth.changes:
        return usable[0]
    with _cleared(folder):
        if usable is None:
            return _make_anew(folder, truth, progress)
        try:
            return _add(folder, truth, *usable, progress)
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


def _add(folder: Path, truth: Truth, before: Manifest, draft: Draft, progress: Progress | None) -> Manifest:
    """Add to a generation what has changed since."""
    fresh = _build(folder, truth, parts(truth, before.changes, PART), progress)
    _bury(truth, draft, fresh)
    draft.tidy_small()
    return _finish(folder, truth, draft)


def _bury(truth: Truth, draft: Draft, fresh: Sequence[Segment]) -> None:
    """Mark what is dead now, and count what is alive."""
    try:
        change = buried(truth, draft.segments, draft.tombs)
        draft.statistics = change.applied(draft.statistics, draft.segments, draft.tombs, fresh)
    except (IndexError, ValueError, OverflowError):
        # Numbers that lead nowhere: large segments are not looked at before they are used.
        must_be_sound(draft.segments)
        raise
    draft.tombs = change.tombs | {segment.name: NO_TOMBS for segment in fresh}
    draft.segments += fresh


def tidy(folder: Path, truth: Truth, *, progress: Progress | None = None) -> Manifest | None:
    """Publish, then merge what should be merged by now, however large; returns as `publish` does."""
    manifest = publish(folder, truth, progress=progress)
    return _merged(folder, truth, manifest, Draft.tidy)


def compact(folder: Path, truth: Truth, *, progress: Progress | None = None) -> Manifest | None:
    """Publish, merge all segments into one without dead rows, and let go of every former generation."""
    manifest = publish(folder, truth, progress=progress)
    manifest = _merged(folder, truth, manifest, lambda draft: draft.merge(0, len(draft.segments)))
    sweep(folder, 1)
    return manifest


def _merged(folder: Path, truth: Truth, manifest: Manifest | None, merging: Callable[[Draft], None]) -> Manifest | None:
    """Return a generation of the same documents after merging, the given one if that left it as it was."""
    if manifest is None:
        return None
    with _cleared(folder):
        try:
            draft = Draft.of(folder, manifest)
            merging(draft)
        except IndexDamagedError as error:
            _log.warning("%s Making the index anew.", error.message)
            return _make_anew(folder, truth, None)
        if tuple(segment.name for segment in draft.segments) == manifest.segments:
            return manifest
        return _finish(folder, truth, draft)


def _has_leaves(truth: Truth) -> bool:
    return truth.one("SELECT 1 FROM chunks WHERE level = 2 LIMIT 1") is not None


def _usable(folder: Path, truth: Truth) -> tuple[Manifest, Draft] | None:
    """Return the current generation, opened, if a change can be added to it."""
    try:
        name = current(folder)
        if name is None:
            if next_number(folder) > 1:
                _log.warning("%s is gone. Making the index anew.", folder / "CURRENT")
            return None
        manifest = read_manifest(folder, name)
        draft = Draft.of(folder, manifest)
    except IndexDamagedError as error:
        _log.warning("%s Making the index anew.", error.message)
        return None
    language = settled_language(truth)
    made_by = (manifest.embedder, manifest.language, manifest.analyser)
    same = made_by == (truth.meta("embedder"), language, analyser(language).name)
    # An earlier generation, from a copy of the folder say, knows of deaths that are no longer kept in mind.
    reaches = int(truth.meta(REACHED) or 0) <= manifest.changes <= truth.changes
    return (manifest, draft) if same and reaches else None


def _make_anew(folder: Path, truth: Truth, progress: Progress | None) -> Manifest:
    segments = _build(folder, truth, parts(truth, BEFORE_ALL, PART), progress)
    draft = Draft(folder, segments, {segment.name: NO_TOMBS for segment in segments}, NOTHING)
    draft.merge(0, len(segments))
    (whole,) = draft.segments
    length = int(np.sum(whole.postings.lengths, dtype=np.int64))
    draft.statistics = Statistics(whole.rows, length, histogram_of(np.diff(np.asarray(whole.postings.starts))))
    return _finish(folder, truth, draft)


def _build(folder: Path, truth: Truth, todo: Sequence[Part], progress: Progress | None) -> list[Segment]:
    words = analyser(settled_language(truth))
    total, done = sum(part.leaves for part in todo), 0

    def told(leaves: int) -> None:
        nonlocal done
        done += leaves
        if progress is not None:
            progress(done, total)

    segments = []
    for part in todo:
        home = new_home(folder)
        build_segment(home, truth, part, words, told)
        segments.append(Segment(home))
    return segments


def _finish(folder: Path, truth: Truth, draft: Draft) -> Manifest:
    number = next_number(folder)
    language = settled_language(truth)
    manifest = Manifest(
        name=f"{number:06d}-{secrets.token_hex(2)}", number=number, embedder=truth.meta("embedder") or "",
        spec=truth.meta("spec") or "", base_url=truth.meta("base_url") or "", dimension=dimension_of(truth),
        language=language, analyser=analyser(language).name, changes=truth.changes,
        documents=truth.one("SELECT count(*) FROM documents")[0], leaves=draft.statistics.rows,
        chunks=truth.one("SELECT count(*) FROM chunks")[0],
        tokens=truth.one("SELECT coalesce(sum(tokens), 0) FROM documents")[0], length=draft.statistics.length,
        segments=tuple(segment.name for segment in draft.segments), files={},
    )  # fmt: skip
    (folder / "generations").mkdir(exist_ok=True)
    written = write_generation(folder, manifest, draft.statistics, draft.tombs)
    _forget_retired(truth)
    sweep(folder, KEPT)
    return written


def _forget_retired(truth: Truth) -> None:
    with truth.transaction():
        truth.connection.execute("DELETE FROM retired")
        truth.set_meta(REACHED, str(truth.changes))
