"""Corpora in the memory of this process, for tests and notebooks: "memory:NAME".

What is written is gone with the process. The database is that of a folder, kept by SQLite in memory; beside it there is
no index: scores are those of a folder up to rounding, from the same analyser, Okapi BM25 and cosines, but every search
looks at every passage, so it is for thousands of them and not for millions.
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
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_language import resolve_language
from anabranch.store.memory_reader import MemoryReader
from anabranch.store.stores import forget_readers

MOST = 16
"""Named corpora in one process: nobody else removes those that are not needed any more, so that must show."""

_lock = threading.Lock()


class MemoryCorpus:
    """What was written under one name."""

    def __init__(self) -> None:
        # One connection for all threads: each one of its own would open an empty database of its own.
        self.connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self.writing = threading.Lock()
        self.generation = 0
        self.published: tuple[int, str] = (0, "")
        self.reader: MemoryReader | None = None
        self._lending = threading.RLock()
        weakref.finalize(self, self.connection.close)

    @contextmanager
    def lend(self) -> Iterator[sqlite3.Connection]:
        """Keep the others from the connection: a reader must not see half of what is being written."""
        with self._lending:
            yield self.connection


_corpora: dict[str, MemoryCorpus] = {}


def forget(address: str) -> None:
    """Let go of a corpus in memory; whoever has opened it keeps what they have."""
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
        """Return what was published last."""
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
            # Refused and not forgotten oldest first: another part of the program may be at work with that one.
            if name not in _corpora and len(_corpora) >= MOST:
                msg = f"There are {MOST} corpora in memory already: {', '.join(sorted(_corpora))}."
                raise SettingsError(msg, hint="Remove one: anabranch.store.memory.forget(ADDRESS)")
            corpus = _corpora.setdefault(name, MemoryCorpus())
        # A lock of threads is enough: no other process sees this memory.
        if not corpus.writing.acquire(timeout=max(wait, 0.0)):
            msg = f"The corpus {address!r} is being written to."
            raise CorpusLockedError(msg, hint="Try again when the other writer has finished.")
        try:
            yield MemoryWriter(str(address), corpus)
        finally:
            corpus.writing.release()


class MemoryWriter(CorpusDatabase):
    """Writes to a corpus in memory, implementing `CorpusWriter`."""

    def __init__(self, address: str, corpus: MemoryCorpus) -> None:
        """Take the corpus, whose lock the maker holds."""
        super().__init__(Path(address), corpus.connection)
        # The connection outlives its writers, and so does what one of them has seen.
        self.connection.execute("DELETE FROM temp.seen")
        self._address = address
        self._corpus = corpus

    @contextmanager
    def transaction(self) -> Iterator[Callable[[], None]]:
        """Commit all of it or nothing, while nobody reads."""
        with self._corpus.lend(), super().transaction() as changing:
            yield changing

    def publish(self, *, quick: bool = False, progress: Callable[[int, int], None] | None = None) -> None:
        """Make a reader of the documents as they are."""
        corpus = self._corpus
        # Another language makes another index, as in a folder; it is told from the documents where nobody names it.
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
