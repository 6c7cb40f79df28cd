"""Opening a corpus: once per generation and process, checked, outside the event loop."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import threading
from collections import OrderedDict
from contextlib import closing, suppress
from pathlib import Path

from anabranch.corpus.embedded import EmbeddedCorpus
from anabranch.corpus.lock import writing
from anabranch.corpus.passages import read_only
from anabranch.corpus.schema import VERSION, version_of
from anabranch.corpus.segments.generation import Manifest, current, read_manifest
from anabranch.corpus.segments.publishing import publish
from anabranch.corpus.truth import DATABASE, Truth
from anabranch.errors import (
    CorpusDamagedError,
    CorpusEmptyError,
    CorpusLockedError,
    CorpusNotFoundError,
    EmbedderMismatchError,
    SettingsError,
)
from anabranch.models.embedders import load_embedder
from anabranch.models.embedding import Embedder

HANDLES = 8
ATTEMPTS = 5

_log = logging.getLogger(__name__)

_lock = threading.Lock()
_open: OrderedDict[tuple[str, str, str | None, str | None], EmbeddedCorpus] = OrderedDict()


async def open_corpus(path: str | Path, embedder: str | None = None, base_url: str | None = None) -> EmbeddedCorpus:
    """Return a handle on the current generation; the same handle until there is a new one.

    Documents that a run committed before it died, without an index of them, are indexed first, unless another process
    is writing. A derived file that is damaged is made anew from the database, with a warning in the log.

    Args:
        path: Folder of the corpus.
        embedder: The embedder it has to be of; None for whatever it was made with.
        base_url: OpenAI-compatible server of an `openai:` embedder; None for the one it was made with.

    Raises:
        CorpusNotFoundError: There is no corpus at `path`.
        CorpusEmptyError: It holds no passage.
        EmbedderMismatchError: Its embedder cannot be had here, or is another one now.
        CorpusDamagedError: The database is damaged, or a derived file is and cannot be made anew here.
    """
    return await asyncio.to_thread(open_now, path, embedder, base_url)


def open_now(path: str | Path, embedder: str | None = None, base_url: str | None = None) -> EmbeddedCorpus:
    """Do what `open_corpus` does, in this thread."""
    folder = Path(os.path.abspath(path))  # noqa: PTH100  # unlike resolve(), it does not follow links
    if not (folder / DATABASE).is_file():
        msg = f"There is no corpus at {folder}."
        raise CorpusNotFoundError(msg, hint=f"Make one: anabranch ingest YOUR_FOLDER --corpus {folder}")
    # One opening at a time: N branches that arrive together must share the handle, not make N of them.
    with _lock:
        changes = _changes(folder)
        for _ in range(ATTEMPTS):
            name = None
            try:
                name = _caught_up(folder, changes)
                return _handle(folder, name, embedder, base_url)
            except CorpusDamagedError as error:
                _forget(folder, name)
                # If there is another one by now, this one was swept away while it was being opened.
                if name is None or name == current(folder):
                    _mend(folder, error)
        return _handle(folder, _caught_up(folder, changes), embedder, base_url)


def _handle(folder: Path, name: str, embedder: str | None, base_url: str | None) -> EmbeddedCorpus:
    key = (str(folder), name, embedder, base_url)
    if key not in _open:
        manifest = read_manifest(folder, name)
        _open[key] = EmbeddedCorpus(folder, name, _embedder(folder, manifest, embedder, base_url))
    _open[key].watch.check()
    _open.move_to_end(key)
    while len(_open) > HANDLES:
        _open.popitem(last=False)
    return _open[key]


def _forget(folder: Path, name: str | None) -> None:
    for key in [key for key in _open if key[:2] == (str(folder), name)]:
        del _open[key]


def _caught_up(folder: Path, changes: int) -> str:
    """Return the generation to open, made now if a run that died has left the index behind the documents."""
    name = current(folder)
    if name is None or _changes_of(folder, name) != changes:
        # A run in progress makes its index itself; a folder that cannot be written to is read as it is.
        with suppress(CorpusLockedError, SettingsError), writing(folder), closing(Truth(folder)) as truth:
            publish(folder, truth)
        name = current(folder)
    if name is None:
        msg = f"The corpus at {folder} holds no passage."
        raise CorpusEmptyError(msg, hint=f"Add documents: anabranch ingest YOUR_FOLDER --corpus {folder}")
    return name


def _changes_of(folder: Path, name: str) -> int:
    """Return the count of changes that a generation was made at; one that is open here needs no file."""
    for handle in _open.values():
        if (handle.folder, handle.manifest.name) == (folder, name):
            return handle.manifest.changes
    return read_manifest(folder, name).changes


def _mend(folder: Path, error: CorpusDamagedError) -> None:
    """Make a damaged index anew from the database, and say so.

    Raises:
        CorpusDamagedError: What was found, if this process may not write here now.
    """
    _log.warning("%s Making it anew from %s.", error.message, folder / DATABASE)
    try:
        with writing(folder), closing(Truth(folder)) as truth:
            publish(folder, truth, anew=True)
    except (CorpusLockedError, SettingsError) as refused:
        raise error from refused


def _changes(folder: Path) -> int:
    """Return how often the documents have changed.

    A corpus of an earlier version is brought up first.
    """
    try:
        with closing(read_only(folder / DATABASE)) as connection:
            version = version_of(connection)
            row = connection.execute("SELECT value FROM meta WHERE name = 'changes'").fetchone()
    except sqlite3.DatabaseError as error:
        msg = f"{folder / DATABASE} cannot be read: {error}"
        raise CorpusDamagedError(msg, hint="Save what can be read: anabranch corpus export") from error
    if version != VERSION:
        with writing(folder), closing(Truth(folder)):
            pass
    return int(row[0]) if row else 0


def _embedder(folder: Path, manifest: Manifest, wanted: str | None, base_url: str | None) -> Embedder:
    """Load the embedder that the corpus was made with; questions embedded by another one would find nothing."""
    hint = f"Bring it back, or embed the corpus anew: anabranch corpus rebuild --embedder {wanted or 'minilm'}"
    try:
        embedder = load_embedder(
            wanted or manifest.spec, base_url or (manifest.base_url if not wanted else None) or None
        )
    except SettingsError as error:
        if wanted:
            raise
        msg = f"The embedder {manifest.spec!r} of the corpus at {folder} cannot be had here: {error.message}"
        raise EmbedderMismatchError(msg, hint=hint) from error
    if embedder.name != manifest.embedder:
        msg = f"The corpus at {folder} was made with the embedder {manifest.embedder!r}; here it is {embedder.name!r}."
        raise EmbedderMismatchError(msg, hint=hint)
    return embedder
