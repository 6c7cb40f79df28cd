"""Read one generation of a copy like a folder, as long as it is recent enough."""

from __future__ import annotations

import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from anabranch.errors import CorpusDamagedError, CorpusEmptyError, CorpusUnreachableError
from anabranch.models.embedder import Embedder
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.connections import Connections, connect_read_only
from anabranch.store.corpus_folder import size_of
from anabranch.store.corpus_snapshot import Listed, Overview
from anabranch.store.index.manifest import home_of
from anabranch.store.local_reader import LocalReader
from anabranch.store.local_snapshot import LocalSnapshot


class Freshness:
    """When a generation was last known to be the current one."""

    def __init__(self, place: str, most: float, wall: float) -> None:
        """Take the place of the corpus, the greatest age in seconds, and the time in seconds since 1970."""
        self.place = place
        self._most = most
        self.confirm(wall)

    def confirm(self, wall: float) -> None:
        """Note that it was the current one at that time."""
        self._wall = wall
        self._monotonic = time.monotonic() - max(time.time() - wall, 0.0)

    @property
    def age(self) -> float:
        """Seconds since then."""
        # By both clocks: people may set one, and the other stops while the machine sleeps.
        return max(time.time() - self._wall, time.monotonic() - self._monotonic)

    @property
    def holds(self) -> bool:
        """Whether the age is within the bound."""
        return self.age <= self._most

    def error(self, why: str = "") -> CorpusUnreachableError:
        """Return the error for a copy that is too old."""
        msg = (
            f"The copy of {self.place} is out of date: it was last compared {self.age:.0f} seconds ago, "
            f"but only {self._most:.0f} are allowed.{f' {why}' if why else ''}"
        )
        hint = "Open it again, or allow older copies with ANABRANCH_REPLICA_AGE, in seconds."
        return CorpusUnreachableError(msg, hint=hint)


class ReplicaConnections(Connections):
    """Connections to the database of one generation, which is not removed while this object lives."""

    def __init__(self, home: Path, freshness: Freshness) -> None:
        """Open the database."""
        super().__init__(home)
        self.damaged = False
        self._freshness = freshness
        # SQLite's lock tells other processes that the database is being read, and ends with this process.
        lease = connect_read_only(home / DATABASE)
        lease.execute("BEGIN")
        lease.execute("SELECT count(*) FROM meta").fetchone()
        self._let_go = weakref.finalize(self, lease.close)

    def let_go(self) -> None:
        """Lend no more connections, because the corpus holds no passage."""
        self._let_go()

    @contextmanager
    def lend(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection as long as the copy is recent enough; every read uses this.

        Raises:
            CorpusUnreachableError: The copy is too old.
            CorpusEmptyError: The corpus holds no passage any more.
            CorpusDamagedError: The database cannot be read; it is rebuilt when the corpus is opened next.
        """
        if not self._let_go.alive:
            raise CorpusEmptyError(f"The corpus in {self._freshness.place} holds no passage.")
        if not self._freshness.holds:
            raise self._freshness.error()
        try:
            with super().lend() as connection:
                yield connection
        except CorpusDamagedError:
            self.damaged = True
            raise


def is_read(home: Path) -> bool:
    """Tell whether any process reads a generation."""
    try:
        with closing(sqlite3.connect(home / DATABASE, isolation_level=None, timeout=0)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        return error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
    except sqlite3.DatabaseError:
        return False
    return False


class ReplicaListing:
    """The content of a generation, implementing `CorpusListing`; its database lacks the tables for writers."""

    def __init__(self, reader: ReplicaReader, connection: sqlite3.Connection) -> None:
        """Take a connection in a transaction."""
        self._reader = reader
        self._snapshot = LocalSnapshot(reader.folder, connection)

    def overview(self) -> Overview:
        """Return its counts; `bytes` is the size of its files on this machine."""
        found = self._reader.manifest
        return Overview(
            path=self._reader.address, generation=found.number, documents=found.documents, chunks=found.chunks,
            leaves=found.leaves, tokens=found.tokens, embedder=found.embedder, dimension=found.dimension,
            bytes=size_of(self._reader.folder), is_current=True,
        )  # fmt: skip

    def listed(self, most: int | None) -> Iterator[Listed]:
        """Yield its documents by source."""
        return self._snapshot.listed(most)


class ReplicaReader(LocalReader):
    """One generation of a published corpus."""

    def __init__(self, folder: Path, name: str, embedder: Embedder, place: str, freshness: Freshness) -> None:
        """Open the files.

        Raises:
            IndexDamagedError: A file is missing or is not what the manifest says.
        """
        self._connections = ReplicaConnections(home_of(folder, name), freshness)
        super().__init__(folder, name, embedder, self._connections)
        self.freshness = freshness
        self.address = place

    @contextmanager
    def listing(self) -> Iterator[ReplicaListing]:
        """Hold one state of its database."""
        with self._connections.lend() as connection:
            yield ReplicaListing(self, connection)

    def let_go(self) -> None:
        """Refuse further reads, because the corpus holds no passage."""
        self._connections.let_go()

    @property
    def damaged(self) -> bool:
        """Whether a file on this machine was found to be damaged."""
        return self.watch.problem is not None or self._connections.damaged
