"""Opening a corpus: once per generation and process, checked, outside the event loop."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import closing
from pathlib import Path
from weakref import WeakValueDictionary

from anabranch.errors import (
    CorpusDamagedError,
    CorpusEmptyError,
    CorpusLockedError,
    IndexDamagedError,
    OperationError,
    SettingsError,
)
from anabranch.models.embedder import Embedder
from anabranch.models.lru import LRU
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.connections import open_for_reading
from anabranch.store.corpus_address import StrPath, folder_of
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_embedder import embedder_of_vectors
from anabranch.store.corpus_facts import changes_in
from anabranch.store.corpus_folder import require_corpus
from anabranch.store.index.manifest import Manifest, current_name, read_manifest
from anabranch.store.index.publisher import publish
from anabranch.store.local_reader import LocalReader
from anabranch.store.schema import version_of
from anabranch.store.write_lock import hold_write_lock

# Each holds mapped files open and its caches in memory; a server of many corpora would run out of descriptors.
HANDLES = 8
ATTEMPTS = 5

_log = logging.getLogger(__name__)


class _Home:
    """Who opens and who indexes one corpus, in this process.

    Attributes:
        opening: Held for as long as a handle is made: N branches that come together share it.
        indexing: Held while an index is made or the tables are brought up; never asked for with `opening` held.
    """

    def __init__(self) -> None:
        self.opening = threading.Lock()
        self.indexing = threading.Lock()


_open = LRU[Path, LocalReader](HANDLES)
"""The last handle on each corpus. Only let go of, never closed: whoever searches with one right now keeps it alive."""

_homes: WeakValueDictionary[Path, _Home] = WeakValueDictionary()
"""Of the corpora that are being opened now; each belongs to the threads that do."""

_lock = threading.Lock()
"""Of `_homes`; nothing is read or made while it is held."""


def open_folder(path: StrPath) -> LocalReader:
    """Return a handle on the current generation of a corpus in a folder; the same handle until there is a new one.

    Documents that a run committed before it died, without an index of them, are indexed first, unless another process
    is writing. A derived file that is damaged is made anew from the database, with a warning in the log.

    Raises:
        CorpusNotFoundError: There is no corpus at `path`.
        CorpusEmptyError: It holds no passage.
        EmbedderMismatchError: Its embedder cannot be had here, or is another one now.
        CorpusDamagedError: The database is damaged, or a derived file is and cannot be made anew here.
    """
    folder = require_corpus(os.path.abspath(folder_of(path)))  # noqa: PTH100  # unlike resolve(), it does not follow links
    home = _home(folder)
    # Between reading the pointer and opening the files, a writer may publish twice and sweep what was read of. That is
    # no damage, and the next try finds the new generation; a bound, because real damage would loop.
    for _ in range(ATTEMPTS):
        changes, name = _changes(folder), None
        try:
            name = current_name(folder)
            name = _resolve_generation(folder, home, name, changes)
            with home.opening:
                return _handle(folder, name)
        except IndexDamagedError as error:
            if _is_current(folder, name):
                _mend(folder, home, name, error)
    name = _resolve_generation(folder, home, current_name(folder), _changes(folder))
    with home.opening:
        return _handle(folder, name)


def _home(folder: Path) -> _Home:
    with _lock:
        home = _homes.get(folder)
        if home is None:
            home = _homes[folder] = _Home()
        return home


def _is_current(folder: Path, name: str | None) -> bool:
    """Tell whether the pointer still is as it was; if not, what it named was swept away while it was being opened."""
    try:
        return current_name(folder) == name
    except IndexDamagedError:
        return name is None


def _handle(folder: Path, name: str) -> LocalReader:
    handle = _open.get(folder)
    # One that was found damaged is opened anew, which says so again as long as its files are what they are.
    if handle is None or handle.manifest.name != name or handle.watch.problem is not None:
        handle = LocalReader(folder, name, embedder_of(folder, read_manifest(folder, name)))
        # In the place of the one before, which keeps files on the disk that are removed already.
        _open.set(folder, handle)
    return handle


def _resolve_generation(folder: Path, home: _Home, name: str | None, changes: int) -> str:
    """Return the generation to open, made now if a run that died has left the index behind the documents."""
    if name is None or read_manifest(folder, name).changes != changes:
        _catch_up(folder, home, name)
        name = current_name(folder)
    if name is None:
        msg = f"The corpus at {folder} holds no passage."
        raise CorpusEmptyError(msg, hint=f"Add documents: anabranch ingest YOUR_FOLDER --corpus {folder}")
    return name


def _catch_up(folder: Path, home: _Home, name: str | None) -> None:
    """Make the index of the documents as they are, where that can be done here and now.

    Where another thread is at it, what was indexed before is searched meanwhile; who has nothing to search, waits.

    Raises:
        OperationError: The disk is full or fails, or the database is damaged, and there is no index of before.
        SettingsError: The folder cannot be written to, and there is no index of before.
    """
    # Without waiting: a question that can be answered from the index of before must not wait for the making of a new
    # one, which takes minutes for a large corpus. One lock for each corpus, so that others are not held up.
    if not home.indexing.acquire(blocking=name is None):
        return
    try:
        with hold_write_lock(folder), closing(CorpusDatabase(folder)) as database:
            publish(database)
    except CorpusLockedError:
        return  # a run in progress makes its index itself
    except (OperationError, SettingsError) as error:
        if name is None:
            raise
        _log.warning("%s Searching the previous index.", error.message)
    finally:
        home.indexing.release()


def _mend(folder: Path, home: _Home, name: str | None, error: IndexDamagedError) -> None:
    """Make a damaged index anew from the database, and say so; once for all threads that found it.

    Raises:
        CorpusDamagedError: What was found, if this process may not write here now; or the database is damaged, too.
    """
    with home.indexing:
        # Another thread has mended it while this one waited for the lock.
        if not _is_current(folder, name):
            return
        _log.warning("%s Rebuilding it from %s.", error.message, folder / DATABASE)
        try:
            with hold_write_lock(folder), closing(CorpusDatabase(folder)) as database:
                publish(database, anew=True)
        # The database itself: what it says of that goes before what was found in the index.
        except CorpusDamagedError:
            raise
        except (OperationError, SettingsError) as refused:
            raise error from refused


def _changes(folder: Path) -> int:
    """Return how often the documents have changed."""
    with open_for_reading(folder) as connection:
        # A first run that was killed may not have come as far as the tables.
        return changes_in(connection) if version_of(connection) else 0


def embedder_of(folder: Path, manifest: Manifest) -> Embedder:
    """Load the embedder that the corpus was made with; questions embedded by another one would find nothing."""
    # From the manifest and not from the database: it has to fit the vectors that are searched, and a rebuild with
    # another embedder changes the database first.
    hint = "Restore it, or embed the corpus again: anabranch corpus rebuild --embedder minilm"
    return embedder_of_vectors(manifest.spec, manifest.base_url, manifest.embedder, where=f"at {folder}", hint=hint)
