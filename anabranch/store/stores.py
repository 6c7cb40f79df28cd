"""Opens a corpus in any store: the scheme of its address names the kind of store.

A package adds a kind of store with an entry point (`anabranch.registry`): the group is "anabranch.stores", the name is
the scheme, and its target is a class like `Store`. PostgreSQL and published copies are added this way.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from anabranch.errors import SettingsError
from anabranch.models.lru import LRU
from anabranch.registry import Registry
from anabranch.store.corpus_address import StrPath, folder_of, scheme_of
from anabranch.store.corpus_folder import is_published
from anabranch.store.corpus_snapshot import CorpusListing, CorpusSnapshot
from anabranch.store.protocol import CorpusReader
from anabranch.store.writer_protocol import CorpusWriter, Progress


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
    """A store whose corpora can be listed, verified, exported and copied, and lose documents by name."""

    def snapshot(self, address: StrPath) -> AbstractContextManager[CorpusSnapshot]:
        """Return all of a corpus at one moment.

        Raises:
            CorpusNotFoundError: There is no corpus at that address.
            CorpusDamagedError: It cannot be read, or is of another version.
        """
        ...


@runtime_checkable
class ListingStore(Store, Protocol):
    """A store that can list what a corpus holds even if it cannot be read as a whole."""

    def listing(self, address: StrPath) -> AbstractContextManager[CorpusListing]:
        """Return what a corpus holds at one moment.

        Raises:
            CorpusNotFoundError: There is no corpus at that address.
            CorpusDamagedError: It cannot be read, or is of another version.
        """
        ...


@runtime_checkable
class RebuildingStore(Store, Protocol):
    """A store that can rebuild what it derived from documents; a folder uses `maintenance.rebuild`."""

    def rebuild(self, address: StrPath, *, wait: float, progress: Progress) -> None:
        """Make missing vectors, and rebuild all that searches read.

        Raises:
            CorpusNotFoundError: There is no corpus at that address.
            CorpusEmptyError: It holds no passage.
            CorpusLockedError: Another one is writing.
            CorpusDamagedError: A document is not whole.
        """
        ...


STORES: Registry[type[Store]] = Registry(
    "store",
    {"file": "anabranch.store.local_store:LocalStore", "memory": "anabranch.store.memory:MemoryStore"},
)

PUBLISHED = "s3"
"""The kind of store that reads published corpora, those in a folder as well."""

CORPORA = 8
"""Most addresses with cached readers: each reader holds files or connections open."""

GENERATIONS = 2
"""Cached readers per address: the current generation, and the previous one for the turns that began with it."""

_opened = LRU[str, LRU[int, CorpusReader]](CORPORA)
"""The cached readers of each address, by generation."""


async def open_corpus(corpus: StrPath) -> CorpusReader:
    """Return a reader of a corpus as it is now; the same one as long as it has not changed.

    Args:
        corpus: A folder, or an address such as "memory:notes".

    Raises:
        SettingsError: There is no such kind of store.
        CorpusNotFoundError: There is no corpus at that address.
        CorpusEmptyError: It holds no passage.
        EmbedderMismatchError: Its embedder is not available here, or has changed since.
        CorpusDamagedError: It is damaged, and cannot be repaired while it is opened.
    """
    # In a thread, because this may import the package of a store.
    store = await asyncio.to_thread(store_of, corpus)
    reader = await store.open(corpus)
    _opened.setdefault(str(corpus), LRU(GENERATIONS)).set(reader.generation, reader)
    return reader


def find_reader(corpus: StrPath, generation: int) -> CorpusReader | None:
    """Return the cached reader of a generation, even if there is a later one.

    None if it is no longer cached. Later removals and access tags hold for it, too. A published copy stays as it was,
    and is refused when it is too old.
    """
    readers = _opened.get(str(corpus))
    return None if readers is None else readers.get(generation)


def forget_readers(corpus: StrPath) -> None:
    """Drop the cached readers of an address."""
    _opened.pop(str(corpus))


def open_writer(corpus: StrPath, *, wait: float = 0.0) -> AbstractContextManager[CorpusWriter]:
    """Return a writer of a corpus, which is created where it is missing.

    Raises:
        SettingsError: There is no such kind of store.
        CorpusLockedError: Another one is writing.
    """
    return store_of(corpus).writer(corpus, wait=wait)


def open_snapshot(corpus: StrPath) -> AbstractContextManager[CorpusSnapshot]:
    """Return all of a corpus at one moment, as its owner sees it.

    Raises:
        SettingsError: There is no such kind of store, or it cannot be read as a whole.
        CorpusNotFoundError: There is no corpus at that address.
        CorpusDamagedError: It cannot be read, or is of another version.
    """
    store = store_of(corpus)
    if not isinstance(store, SnapshotStore):
        msg = f"A corpus in a store of the kind {scheme_of(corpus)!r} cannot be read as a whole."
        raise SettingsError(msg, hint="Use a corpus in a folder or in PostgreSQL.")
    return store.snapshot(corpus)


def open_listing(corpus: StrPath) -> AbstractContextManager[CorpusListing]:
    """Return what a corpus holds at one moment, as its owner sees it.

    Raises:
        SettingsError: There is no such kind of store, or it cannot list a corpus.
        CorpusNotFoundError: There is no corpus at that address.
        CorpusDamagedError: It cannot be read, or is of another version.
    """
    store = store_of(corpus)
    return store.listing(corpus) if isinstance(store, ListingStore) else open_snapshot(corpus)


def rebuilding_store(corpus: StrPath) -> RebuildingStore | None:
    """Return the store of a corpus if it can rebuild indexes itself."""
    store = store_of(corpus)
    return store if isinstance(store, RebuildingStore) else None


def store_of(corpus: StrPath) -> Store:
    """Return the store of a corpus.

    Raises:
        SettingsError: There is no such kind of store.
    """
    scheme = scheme_of(corpus)
    if scheme == "file" and is_published(folder_of(corpus)):
        scheme = PUBLISHED
    try:
        # A drive, or a folder name with a colon, looks like a scheme: the hint shows how to write it.
        return STORES.get(scheme)()
    except SettingsError as error:
        if scheme in STORES:
            raise
        hint = f"{error.hint} To name a folder like that, write ./{corpus}."
        raise SettingsError(error.message, hint=hint) from None
