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
from anabranch.store.corpus_facts import History, history_in
from anabranch.store.corpus_folder import require_corpus
from anabranch.store.index.manifest import Manifest, current_name, read_manifest
from anabranch.store.index.publisher import publish
from anabranch.store.local_reader import LocalReader
from anabranch.store.schema import version_of
from anabranch.store.write_lock import hold_write_lock

# Each handle keeps mapped files and caches open; a server of many corpora would run out of descriptors.
HANDLES = 8
ATTEMPTS = 5

_log = logging.getLogger(__name__)


class _Home:
    """The locks of one corpus in this process.

    Attributes:
        opening: Held while a handle is made, so that branches that come together share it.
        indexing: Held while an index or the tables are made; never taken while `opening` is held.
    """

    def __init__(self) -> None:
        self.opening = threading.Lock()
        self.indexing = threading.Lock()


_open = LRU[Path, LocalReader](HANDLES)
"""The last handle on each corpus. Handles are dropped, never closed: a running search keeps its own alive."""

_homes: WeakValueDictionary[Path, _Home] = WeakValueDictionary()
"""The locks of the corpora that are being opened now; the opening threads keep them alive."""

_lock = threading.Lock()
"""Guards `_homes`; hold it for no other work."""


def open_folder(path: StrPath) -> LocalReader:
    """Return a handle on the current generation of a corpus in a folder; the same handle until there is a new one.

    If a run died before indexing its documents, they are indexed first, unless another process is writing. A damaged
    derived file is rebuilt from the database, with a warning in the log.

    Raises:
        CorpusNotFoundError: There is no corpus at `path`.
        CorpusEmptyError: It holds no passage.
        EmbedderMismatchError: Its embedder is not available here, or has changed since.
        CorpusDamagedError: The database is damaged, or a derived file is and cannot be rebuilt here.
    """
    folder = require_corpus(os.path.abspath(folder_of(path)))  # noqa: PTH100  # resolve() would follow links
    home = _home(folder)
    # A writer may publish twice between reading the pointer and opening the files, and sweep them. The next try finds
    # the new generation; the tries are bounded because real damage would loop.
    for _ in range(ATTEMPTS):
        name = None
        try:
            name = current_name(folder)
            name = _resolve_generation(folder, home, name)
            with home.opening:
                return _handle(folder, name)
        except IndexDamagedError as error:
            if _is_current(folder, name):
                _mend(folder, home, name, error)
    name = _resolve_generation(folder, home, current_name(folder))
    with home.opening:
        return _handle(folder, name)


def _home(folder: Path) -> _Home:
    with _lock:
        home = _homes.get(folder)
        if home is None:
            home = _homes[folder] = _Home()
        return home


def _is_current(folder: Path, name: str | None) -> bool:
    """Tell whether the pointer is unchanged; if not, its files were swept while being opened."""
    try:
        return current_name(folder) == name
    except IndexDamagedError:
        return name is None


def _handle(folder: Path, name: str) -> LocalReader:
    handle = _open.get(folder)
    # A damaged handle is opened again, which raises again until its files are repaired. A database that was restored
    # may have the same index.
    is_usable = handle is not None and handle.watch.problem is None and handle.connections.is_valid
    if handle is None or not is_usable or handle.manifest.name != name:
        handle = LocalReader(folder, name, embedder_of(folder, read_manifest(folder, name)))
        # Replaces the former handle, which keeps removed files on the disk.
        _open.set(folder, handle)
    return handle


def _resolve_generation(folder: Path, home: _Home, name: str | None) -> str:
    """Return the generation to open; index now if a dead run left the index out of date.

    Raises:
        IndexDamagedError: The index is of another corpus, or of a state that this one is not in any more.
    """
    # Read after the pointer: a writer notes a count before it points at an index of it.
    history = _history(folder)
    made_at = None if name is None else read_manifest(folder, name).changes
    if made_at is not None and made_at not in history.indexed:
        msg = f"The index {name} is not of {folder / DATABASE} as it is now, which was replaced or lost changes."
        raise IndexDamagedError(msg, hint="Run `anabranch corpus rebuild`, then ingest the documents again.")
    if made_at != history.changes:
        _catch_up(folder, home, name)
        name = current_name(folder)
    if name is None:
        msg = f"The corpus at {folder} holds no passage."
        raise CorpusEmptyError(msg, hint=f"Add documents: anabranch ingest YOUR_FOLDER --corpus {folder}")
    return name


def _catch_up(folder: Path, home: _Home, name: str | None) -> None:
    """Index the documents, if that can be done here and now.

    While another thread indexes, callers search the previous index; without one they wait.

    Raises:
        OperationError: The disk is full or fails, or the database is damaged, and there is no previous index.
        SettingsError: The folder cannot be written to, and there is no previous index.
    """
    # Do not wait: indexing a large corpus takes minutes, and the previous index can answer meanwhile. One lock per
    # corpus, so that others are not held up.
    if not home.indexing.acquire(blocking=name is None):
        return
    try:
        with hold_write_lock(folder), closing(CorpusDatabase(folder)) as database:
            publish(database)
    except CorpusLockedError:
        return  # the running ingest will index it
    except (OperationError, SettingsError) as error:
        if name is None:
            raise
        _log.warning("%s Searching the previous index.", error.message)
    finally:
        home.indexing.release()


def _mend(folder: Path, home: _Home, name: str | None, error: IndexDamagedError) -> None:
    """Rebuild a damaged index from the database and log it; once for all threads that found it.

    Raises:
        CorpusDamagedError: This process cannot write here now, or the database is damaged, too.
    """
    with home.indexing:
        # Another thread repaired it while this one waited for the lock.
        if not _is_current(folder, name):
            return
        _log.warning("%s Rebuilding it from %s.", error.message, folder / DATABASE)
        try:
            with hold_write_lock(folder), closing(CorpusDatabase(folder)) as database:
                publish(database, anew=True)
        # The database is damaged: its error comes before that of the index.
        except CorpusDamagedError:
            raise
        except (OperationError, SettingsError) as refused:
            raise error from refused


def _history(folder: Path) -> History:
    with open_for_reading(folder) as connection:
        # A first run may have been killed before it created the tables.
        return history_in(connection) if version_of(connection) else History(0, frozenset())


def embedder_of(folder: Path, manifest: Manifest) -> Embedder:
    """Load the embedder that the corpus was made with; questions embedded by another one would find nothing."""
    # Read from the manifest, which matches the searched vectors: a rebuild with another embedder changes the database
    # first.
    hint = "Restore it, or embed the corpus again: anabranch corpus rebuild --corpus CORPUS --embedder minilm"
    return embedder_of_vectors(manifest.spec, manifest.base_url, manifest.embedder, where=f"at {folder}", hint=hint)
