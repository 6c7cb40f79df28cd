"""Opens a corpus wherever it is: the scheme of its address says which kind of store has it.

A package adds a kind of store with an entry point (`anabranch.registry`): the group is "anabranch.stores", the name is
the scheme, and what it names is a class like `Store`.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, suppress
from typing import Protocol, runtime_checkable
from weakref import WeakValueDictionary

from anabranch.errors import SettingsError
from anabranch.registry import Registry
from anabranch.store.corpus_address import StrPath, scheme_of, shown_address
from anabranch.store.corpus_snapshot import CorpusSnapshot
from anabranch.store.protocol import CorpusReader
from anabranch.store.queue_protocol import QueueStore, QueueWriter
from anabranch.store.writer_protocol import CorpusWriter


class Store(Protocol):
    """A kind of store, made without arguments and known by the scheme of its addresses."""

    async def open(self, address: StrPath) -> CorpusReader:
        """Return a reader of the corpus as it is now, the same one until it changes.

        Raises:
            CorpusNotFoundError: There is no corpus at that address.
            CorpusEmptyError: It holds no passage.
        """
        ...

    def writer(self, address: StrPath, *, wait: float = 0.0) -> AbstractContextManager[CorpusWriter]:
        """Return a writer of the corpus, which is created where it is missing.

        Args:
            address: With its scheme, which a path may lack.
            wait: Seconds to wait for another writer.

        Raises:
            CorpusLockedError: Another one is writing.
        """
        ...


@runtime_checkable
class SnapshotStore(Store, Protocol):
    """A store whose corpora can be listed, verified, exported and copied, and whose documents removed by name."""

    def snapshot(self, address: StrPath) -> AbstractContextManager[CorpusSnapshot]:
        """Return all of a corpus at one moment.

        Raises:
            CorpusNotFoundError: There is no corpus at that address.
            CorpusDamagedError: It cannot be read, or is of another version.
        """
        ...


STORES: Registry[type[Store]] = Registry(
    "store",
    {
        "file": "anabranch.store.local_store:LocalStore",
        "memory": "anabranch.store.memory:MemoryStore",
        "postgresql": "anabranch.store.postgres.postgres_store:PostgresStore",
        "s3": "anabranch.store.replica.replica_store:ReplicaStore",
    },
)

_opened: WeakValueDictionary[str, CorpusReader] = WeakValueDictionary()
"""The reader that each address was opened with last. The store that has made it says how long it is kept."""


async def open_corpus(corpus: StrPath) -> CorpusReader:
    """Return a reader of a corpus as it is now; the same one as long as it has not changed.

    Args:
        corpus: A folder, or an address such as "memory:notes".

    Raises:
        SettingsError: There is no such kind of store.
        CorpusNotFoundError: There is no corpus at that address.
        CorpusEmptyError: It holds no passage.
        EmbedderMismatchError: Its embedder cannot be had here, or is another one now.
        CorpusDamagedError: It is damaged, and cannot be mended while it is opened.
    """
    # In a thread: the package of another store is imported here.
    store = await asyncio.to_thread(_store_of, corpus)
    reader = await store.open(corpus)
    with suppress(
        TypeError
    ):  # a reader of another package that cannot be referred to weakly: it is opened at each step
        _opened[str(corpus)] = reader
    return reader


def last_opened(corpus: StrPath) -> CorpusReader | None:
    """Return what `open_corpus` returned last for this address, without a look at whether it has changed since."""
    return _opened.get(str(corpus))


def open_writer(corpus: StrPath, *, wait: float = 0.0) -> AbstractContextManager[CorpusWriter]:
    """Return a writer of a corpus, which is created where it is missing.

    Raises:
        SettingsError: There is no such kind of store.
        CorpusLockedError: Another one is writing.
    """
    return _store_of(corpus).writer(corpus, wait=wait)


def open_queue(corpus: StrPath, *, worker: str, lease: float) -> AbstractContextManager[QueueWriter]:
    """Return a writer of a corpus beside other writers, and its jobs; see `QueueStore.queue`.

    Raises:
        SettingsError: The corpus is in a store to which one writes at a time.
        CorpusNotFoundError: There is no corpus at that address.
    """
    store = _store_of(corpus)
    if not isinstance(store, QueueStore):
        msg = f"Several machines cannot write to {shown_address(corpus)!r} at once."
        hint = (
            "Use `anabranch ingest` for it, or keep the corpus in PostgreSQL: --corpus postgresql://host/database#name"
        )
        raise SettingsError(msg, hint=hint)
    return store.queue(corpus, worker=worker, lease=lease)


def open_snapshot(corpus: StrPath) -> AbstractContextManager[CorpusSnapshot]:
    """Return all of a corpus at one moment, as its owner sees it.

    Raises:
        SettingsError: There is no such kind of store, or it cannot be read as a whole.
        CorpusNotFoundError: There is no corpus at that address.
        CorpusDamagedError: It cannot be read, or is of another version.
    """
    store = _store_of(corpus)
    if not isinstance(store, SnapshotStore):
        msg = f"A corpus in a store of the kind {scheme_of(corpus)!r} cannot be read as a whole."
        raise SettingsError(msg, hint="That takes a folder, or a corpus in PostgreSQL.")
    return store.snapshot(corpus)


def _store_of(corpus: StrPath) -> Store:
    scheme = scheme_of(corpus)
    try:
        # A drive or a name with a colon in it looks like a scheme: the hint says how such a folder is written.
        return STORES.get(scheme)()
    except SettingsError as error:
        if scheme in STORES:
            raise
        hint = f"{error.hint} A folder of that name is written ./{corpus}."
        raise SettingsError(error.message, hint=hint) from None
