"""The folder of a corpus: finding and making it, and errors of its disk."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anabranch.errors import CorpusDamagedError, CorpusNotFoundError, OperationError, UserError
from anabranch.readers.corpus_marker import BESIDE_DATABASE, DATABASE, POINTER
from anabranch.store.corpus_address import StrPath, folder_of, read_only_error

SAVE = "Save what can be read: anabranch corpus export --output FILE; then import that into a new folder."

_OF_THE_DISK = {
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
}  # fmt: skip


def require_corpus(corpus: StrPath) -> Path:
    """Return the folder of a corpus; refuse a folder without one before creating anything in it.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        SettingsError: A corpus is published there, which has no database of its own.
    """
    folder = folder_of(corpus)
    if (folder / DATABASE).is_file():
        return folder
    if is_published(folder):
        raise read_only_error(corpus)
    if _has_other_files(folder):
        raise CorpusNotFoundError(
            f"There is no corpus at {folder}, which holds other files.", hint=suggest_own_folder(folder)
        )
    msg = f"There is no corpus at {folder}."
    raise CorpusNotFoundError(msg, hint=f"Make one: anabranch ingest YOUR_FOLDER --corpus {shlex.quote(str(folder))}")


def make_folder(corpus: StrPath) -> Path:
    """Return the folder of a corpus, created if missing; it must not hold other files.

    Raises:
        UserError: It cannot be made, or holds other files and no corpus.
    """
    folder = folder_of(corpus)
    if is_published(folder):
        raise read_only_error(corpus)
    if not (folder / DATABASE).exists() and _has_other_files(folder):
        msg = f"The folder {str(folder)!r} holds other files; a corpus needs a folder of its own."
        raise UserError(msg, hint=suggest_own_folder(folder))
    try:
        # Vectors reveal as much as the text does, so only the owner may read the folder.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError as error:
        raise UserError(f"{str(folder)!r} is not a folder.", hint="Name a folder for the corpus.") from error
    except OSError as error:
        msg = f"The folder {str(folder)!r} cannot be made: {error.strerror or error}."
        raise UserError(msg, hint="Check the path and its permissions.") from error
    return folder


def is_published(folder: Path) -> bool:
    """Tell whether a corpus was published to a folder (the plugin `copies`)."""
    return (folder / POINTER).exists() and not (folder / DATABASE).exists()


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _has_other_files(folder: Path) -> bool:
    return not list_names(folder) <= BESIDE_DATABASE


def list_names(folder: Path) -> set[str]:
    """Return the names of the files in a folder, those that are not hidden; none where it is missing."""
    try:
        # Hidden files do not count: file managers leave some in every folder they show.
        return {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    except OSError:
        return set()


def suggest_own_folder(folder: Path) -> str:
    """Return an example of ingesting a folder into a corpus beside it."""
    name = Path(os.path.abspath(folder)).name  # noqa: PTH100  resolve() would name a link's target
    return f"For example: anabranch ingest {shlex.quote(str(folder))} --corpus {shlex.quote(f'{name}.corpus')}"


@contextmanager
def explain_failures(folder: Path) -> Iterator[None]:
    """Turn what SQLite and the disk raise while a corpus is written into an error that says what to do.

    Raises:
        CorpusDamagedError: The database is damaged.
        OperationError: The disk is full, or fails.
    """
    try:
        yield
    # Tags and settings are JSON in the database: if they do not parse, the disk damaged them.
    except (sqlite3.Error, OSError, json.JSONDecodeError) as error:
        if _is_disk_failure(error):
            msg = f"The corpus at {folder} could not be written: {error}"
            raise OperationError(msg, hint="Free some disk space, then run the same command again.") from error
        msg = f"{folder / DATABASE} is damaged: {error}"
        raise CorpusDamagedError(msg, hint=SAVE) from error


def _is_disk_failure(error: Exception) -> bool:
    # The class alone does not decide: a table hidden by a damaged page is an OperationalError, too.
    return isinstance(error, OSError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _OF_THE_DISK
