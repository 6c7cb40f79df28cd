"""Updates the index: a segment for new documents, tombstones for removed ones, and one swap of the pointer.

The cost depends on the change, not on the corpus; `anabranch.store.index.merge_policy` says when segments are merged.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anabranch.errors import IndexDamagedError
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_facts import INDEXED, counts_in, history_in
from anabranch.store.corpus_language import resolve_language
from anabranch.store.index import merge_policy
from anabranch.store.index.manifest import (
    KEPT,
    Manifest,
    current_name,
    next_number,
    read_manifest,
    sweep,
    write_generation,
)
from anabranch.store.index.merge_policy import IndexDraft
from anabranch.store.index.segment import Segment
from anabranch.store.index.segment_builder import build_segment, parts
from anabranch.text.analyzer import analyser

BEFORE_ALL = -1
"""A count of changes before the birth of any document."""

_log = logging.getLogger(__name__)


def publish(
    database: CorpusDatabase, *, anew: bool = False, progress: Callable[[int, int], None] | None = None
) -> Manifest | None:
    """Make a generation of the current documents and point CURRENT at it; an empty corpus has none.

    Args:
        database: The corpus; a leaf without a vector is an error, not a gap.
        anew: Rebuild everything from the database; also done if the index cannot be used.
        progress: Told leaves done and leaves in all.

    Returns:
        The new generation, or the current one if nothing has changed.

    Raises:
        CorpusDamagedError: A leaf has no vector of the corpus's embedder, or is not what was written.
    """
    # An empty corpus has no index: FAISS and mapping have special cases for empty files.
    if database.one("SELECT 1 FROM chunks WHERE level = 2 LIMIT 1") is None:
        (database.folder / "CURRENT").unlink(missing_ok=True)
        sweep(database.folder, 0)
        _forget_retired(database)
        return None
    # Never add to an index that is damaged or has other settings: the result would pass for sound.
    usable = None if anew else _usable_index(database)
    if usable is not None and usable[0].changes == database.changes:
        return usable[0]
    with _clear_leftovers(database.folder):
        if usable is None:
            return _make_anew(database, progress)
        try:
            return _add(database, *usable, progress)
        except IndexDamagedError as error:
            _log.warning("%s Rebuilding the index.", error.message)
            return _make_anew(database, progress)


@contextmanager
def _clear_leftovers(folder: Path) -> Iterator[None]:
    """Remove the leftovers of a killed run, and those of this one if it fails: the disk may be nearly full."""
    # Clear first: the leftovers of a killed run may take the room that this one needs.
    sweep(folder, KEPT)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            sweep(folder, KEPT)
        raise


def _add(
    database: CorpusDatabase, before: Manifest, draft: IndexDraft, progress: Callable[[int, int], None] | None
) -> Manifest:
    """Add the changes since a generation to it."""
    draft.add(_build(database, before.changes, progress))
    # Merge small segments before publishing, which takes less than a second: a watched folder adds a segment per save.
    draft.tidy(quick=True)
    return _finish(database, draft)


def tidy(database: CorpusDatabase, *, progress: Callable[[int, int], None] | None = None) -> Manifest | None:
    """Publish, then merge due segments of any size; returns what `publish` returns."""
    manifest = publish(database, progress=progress)
    if manifest is None:
        return None
    with _clear_leftovers(database.folder):
        try:
            draft = IndexDraft.from_manifest(database, manifest)
            draft.tidy()
        except IndexDamagedError as error:
            _log.warning("%s Rebuilding the index.", error.message)
            return _make_anew(database, None)
        if tuple(segment.name for segment in draft.segments) == manifest.segments:
            return manifest
        return _finish(database, draft)


def _usable_index(database: CorpusDatabase) -> tuple[Manifest, IndexDraft] | None:
    """Return the current generation, opened, if a change can be added to it."""
    try:
        name = current_name(database.folder)
        if name is None:
            if next_number(database.folder) > 1:
                _log.warning("%s is missing. Rebuilding the index.", database.folder / "CURRENT")
            return None
        manifest = read_manifest(database.folder, name)
        draft = IndexDraft.from_manifest(database, manifest)
    except IndexDamagedError as error:
        _log.warning("%s Rebuilding the index.", error.message)
        return None
    # Detected each time: the language of a young corpus may change with its documents.
    language = resolve_language(database)
    made_by = (manifest.embedder, manifest.language, manifest.analyser)
    same = made_by == (database.meta("embedder"), language, analyser(language).name)
    # One of an earlier state, for example from a copy of the folder, misses removals that the database has forgotten.
    # One of a later state, or of another corpus, holds what was never in this database.
    is_own = manifest.changes in history_in(database.connection).indexed
    if not is_own:
        _log.warning("The index %s is not of %s as it is now. Rebuilding the index.", name, database.folder / DATABASE)
    return (manifest, draft) if same and is_own else None


def _make_anew(database: CorpusDatabase, progress: Callable[[int, int], None] | None) -> Manifest:
    draft = IndexDraft(database, [], {})
    draft.add(_build(database, BEFORE_ALL, progress))
    return _finish(database, draft)


def _build(database: CorpusDatabase, born: int, progress: Callable[[int, int], None] | None) -> list[Segment]:
    """Make segments of the documents born after a count of changes."""
    todo = list(parts(database, born, merge_policy.LARGEST))
    total, done = sum(part.leaves for part in todo), 0

    def count(leaves: int) -> None:
        nonlocal done
        done += leaves
        if progress is not None:
            progress(done, total)

    return [build_segment(database, part, count) for part in todo]


def _finish(database: CorpusDatabase, draft: IndexDraft) -> Manifest:
    number = next_number(database.folder)
    language = resolve_language(database)
    manifest = Manifest(
        name=f"{number:06d}-{secrets.token_hex(2)}", number=number, embedder=database.meta("embedder") or "",
        spec=database.meta("spec") or "", base_url=database.meta("base_url") or "", dimension=database.dimension(),
        language=language, analyser=analyser(language).name, changes=database.changes,
        **counts_in(database.connection),
        segments=tuple(segment.name for segment in draft.segments), files={},
    )  # fmt: skip
    (database.folder / "generations").mkdir(exist_ok=True)
    # Note the count before an index has it, and forget the removals that this index knows only afterwards: after a kill
    # in between they are applied twice, which changes nothing.
    with database.transaction():
        database.set_meta(INDEXED, f"{database.meta(INDEXED) or ''} {database.changes}")
    written = write_generation(database.folder, manifest, draft.dead)
    _forget_retired(database)
    sweep(database.folder, KEPT)
    return written


def _forget_retired(database: CorpusDatabase) -> None:
    with database.transaction():
        database.connection.execute("DELETE FROM retired")
        database.set_meta(INDEXED, str(database.changes))
