"""Corpora in the memory of this process, for tests and notebooks: "memory:NAME".

The content is lost with the process. The database is that of a folder, held by SQLite in memory, without an index:
scores are those of a folder up to rounding, from the same analyser, Okapi BM25 and cosines, but every search looks at
every passage, so it is for thousands of them and not for millions.
"""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from anabranch.errors import CorpusEmptyError, CorpusLockedError, CorpusNotFoundError, SettingsError
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_language import resolve_language
from anabranch.store.memory_reader import MemoryReader
from anabranch.store.stores import forget_readers
from anabranch.store.summary_table import SummaryDatabase

MOST = 16
"""Most corpora in one process: nothing else removes them, so a leak must show."""

_lock = threading.Lock()


class MemoryCorpus:
    """What was written under one name."""

    def __init__(self) -> None:
        # All threads share one connection: a second one would open another, empty database.
        self.connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self.writing = threading.Lock()
        self.generation = 0
        self.published: tuple[int, str] = (0, "")
        self.reader: MemoryReader | None = None
        self._lending = threading.RLock()
        weakref.finalize(self, self.connection.close)

    @contextmanager
    def lend(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection to one thread: a reader must not see half of a write."""
        with self._lending:
            yield self.connection


_corpora: dict[str, MemoryCorpus] = {}


def forget(address: str) -> None:
    """Remove a corpus from memory; open readers keep theirs."""
    with _lock:
        _corpora.pop(_name_of(address), None)
    forget_readers(address)


def _name_of(address: StrPath) -> str:
    name = str(address).partition(":")[2]
    if not name:
        raise SettingsError(f"{address!r} names no corpus.", hint='For example: "memory:notes".')
    return name


class MemoryStore:
    """Corpora by their names."""

    async def open(self, address: StrPath) -> MemoryReader:
        """Return a reader of the last published state."""
        corpus = _corpora.get(_name_of(address))
        if corpus is None:
            msg = f"There is no corpus {address!r} in the memory of this process."
            raise CorpusNotFoundError(msg, hint=f"Make one: ingest(YOUR_FOLDER, {address!r})")
        if corpus.reader is None:
            raise CorpusEmptyError(f"The corpus {address!r} holds no passage.", hint="Add documents to it.")
        return corpus.reader

    @contextmanager
    def writer(self, address: StrPath, *, wait: float = 0.0) -> Iterator[MemoryWriter]:
        """Return the one writer of a corpus."""
        name = _name_of(address)
        with _lock:
            # Refuse instead of dropping the oldest, which another part of the program may be using.
            if name not in _corpora and len(_corpora) >= MOST:
                msg = f"There are {MOST} corpora in memory already: {', '.join(sorted(_corpora))}."
                raise SettingsError(msg, hint="Remove one: anabranch.store.memory.forget(ADDRESS)")
            corpus = _corpora.setdefault(name, MemoryCorpus())
        # A thread lock is enough: no other process sees this memory.
        if not corpus.writing.acquire(timeout=max(wait, 0.0)):
            msg = f"The corpus {address!r} is being written to."
            raise CorpusLockedError(msg, hint="Try again when the other writer has finished.")
        try:
            yield MemoryWriter(str(address), corpus)
        finally:
            corpus.writing.release()


class MemoryWriter(SummaryDatabase):
    """Writes to a corpus in memory, implementing `SummaryWriter`."""

    def __init__(self, address: str, corpus: MemoryCorpus) -> None:
        """Take the corpus, whose lock the maker holds."""
        super().__init__(Path(address), corpus.connection)
        # The connection outlives its writers, so clear what the last one noted.
        self.connection.execute("DELETE FROM temp.seen")
        self._address = address
        self._corpus = corpus

    @contextmanager
    def transaction(self) -> Iterator[Callable[[], None]]:
        """Commit all of it or nothing, while nobody reads."""
        with self._corpus.lend(), super().transaction() as changing:
            yield changing

    def publish(self, *, quick: bool = False, progress: Callable[[int, int], None] | None = None) -> None:
        """Make a reader of the current documents."""
        corpus = self._corpus
        # Another language needs another index, as in a folder; it is detected unless set.
        state = (self.changes, resolve_language(self))
        if corpus.published == state:
            return
        if not quick:
            self.forget_unused()
        corpus.published = state
        corpus.generation += 1
        reader = MemoryReader(self._address, self, corpus.lend, corpus.generation)
        corpus.reader = reader if reader.leaf_count else None
        if progress is not None:
            progress(reader.leaf_count, reader.leaf_count)
