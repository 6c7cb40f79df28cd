"""Read-only connections to the database of a corpus."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from anabranch.errors import CorpusDamagedError, CorpusNotFoundError, OperationError
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.corpus_folder import SAVE
from anabranch.store.schema import checked_version


@contextmanager
def open_for_reading(folder: Path, hint: str = SAVE) -> Iterator[sqlite3.Connection]:
    """Lend a connection for one read transaction: it sees one moment, whatever is written meanwhile.

    Raises:
        CorpusDamagedError: The database cannot be read, or is of another version.
    """
    try:
        with closing(connect_read_only(folder / DATABASE)) as connection:
            connection.execute("BEGIN")
            checked_version(connection)
            yield connection
    except sqlite3.DatabaseError as error:
        raise CorpusDamagedError(f"{folder / DATABASE} cannot be read: {error}", hint=hint) from error


class Connections:
    """Lends connections to any thread, one read transaction each; opens them on demand and keeps them."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of the corpus."""
        self._database = folder / DATABASE
        # If another corpus replaces this one, SQLite goes on reading the old file, and index and text no longer match;
        # the path alone does not show that.
        self._file = _identity(self._database)
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        # The last user drops a handle, in any thread, so nobody knows when to close it.
        weakref.finalize(self, _close_all, self._idle)

    @property
    def is_valid(self) -> bool:
        """Whether the database is still the file that it was."""
        return self._file is not None and _identity(self._database) == self._file

    @contextmanager
    def lend(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for one read transaction, which sees one moment.

        Raises:
            CorpusNotFoundError: The corpus is not there any more, or another one is in its place.
            CorpusDamagedError: The database cannot be read.
        """
        if not self.is_valid:
            raise self._corpus_missing()
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        try:
            connection = connection or connect_read_only(self._database)
            # Without a transaction, a writer may replace a document between two statements of one answer.
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")
        except BaseException as error:
            if connection is not None:
                connection.close()
            if not isinstance(error, sqlite3.DatabaseError):
                raise
            if not self._database.exists():
                raise self._corpus_missing() from error
            msg = f"{self._database} cannot be read: {error}"
            raise CorpusDamagedError(msg, hint="Run `anabranch corpus verify`.") from error
        if isinstance(connection, _Unguarded):
            connection.close()
            return
        with self._lock:
            self._idle.append(connection)

    def _corpus_missing(self) -> CorpusNotFoundError:
        msg = f"The corpus at {self._database.parent} no longer exists."
        return CorpusNotFoundError(msg, hint="It was moved or removed: open it where it is now.")


def _identity(database: Path) -> tuple[int, int] | None:
    try:
        found = database.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class _Unguarded(sqlite3.Connection):
    """Takes no locks, so it may see half of a write: use it once and do not keep it."""


def connect_read_only(database: Path) -> sqlite3.Connection:
    """Open a database that this process must not change; the caller closes it.

    Raises:
        sqlite3.DatabaseError: It cannot be read.
        OperationError: It has a log, which cannot be read here.
    """
    uri = f"file:{quote(str(database))}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=30, isolation_level=None)
    try:
        # SQLite opens the file at the first statement, so a damaged file raises here.
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        # A read-only folder cannot hold the index of the write-ahead log. A log with content must not be skipped.
        if _has_log(database):
            msg = f"The log of {database} cannot be read: {error}."
            hint = "It holds documents: open the corpus once where its folder is writable and has room."
            raise OperationError(msg, hint=hint) from error
        return sqlite3.connect(
            f"{uri}&immutable=1", uri=True, check_same_thread=False, isolation_level=None, factory=_Unguarded
        )
    except BaseException:
        connection.close()
        raise
    return connection


def _has_log(database: Path) -> bool:
    try:
        return database.with_name(f"{database.name}-wal").stat().st_size > 0
    except OSError:
        return False


def _close_all(connections: list[sqlite3.Connection]) -> None:
    for connection in connections:
        connection.close()
