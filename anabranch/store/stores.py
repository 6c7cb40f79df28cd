"""Opens a corpus wherever it is: the scheme of its address says which kind of store has it.

A package adds a kind of store with an entry point (`anabranch.registry`): the group is "anabranch.stores", the name is
the scheme, and what it names is a class like `Store`. PostgreSQL and published copies are added in this way.
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
    """A store whose corpora can be listed, verified, exported and copied, and whose documents removed by name."""

    def snapshot(self, address: StrPath) -> AbstractContextManager[CorpusSnapshot]:
        """Return all of a corpus at one moment.

        Raises:
            CorpusNotFoundError: There is no corpus at that address.
            CorpusDamagedError: It cannot be read, or is of another version.
        """
        ...


@runtime_checkable
class ListingStore(Store, Protocol):
    """A store that can say what a corpus holds also where it cannot be read as a whole."""

    def listing(self, address: StrPath) -> AbstractContextManager[CorpusListing]:
        """Return what a corpus holds at one moment.

        Raises:
            CorpusNotFoundError: There is no corpus at that address.
            CorpusDamagedError: It cannot be read, or is of another version.
        """
        ...


@runtime_checkable
class RebuildingStore(Store, Protocol):
    """A store that can make anew what it has made from documents; a folder has `maintenance.rebuild`."""

    def rebuild(self, address: StrPath, *, wait: float, progress: Progress) -> None:
        """Make vectors that are missing, and all that searches read.

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
"""Addresses whose readers are kept: each holds files or connections open."""

GENERATIONS = 2
"""Readers that are kept of each: the present generation, and the one before for the turns that have begun with it."""

_opened = LRU[str, LRU[int, CorpusReader]](CORPORA)
"""What addresses were opened with lately, by generation."""


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
    store = await asyncio.to_thread(store_of, corpus)
    reader = await store.open(corpus)
    _opened.setdefault(str(corpus), LRU(GENERATIONS)).set(reader.generation, reader)
    return reader


def find_reader(corpus: StrPath, generation: int) -> CorpusReader | None:
    """Return the reader that `open_corpus` returned for a generation, without a look at whether there is a later one.

    None where it is not kept any more. What was removed or hidden since is so for it, too. A published copy is of one
    moment as a whole instead, and is refused when it is too old.
    """
    readers = _opened.get(str(corpus))
    return None if readers is None else readers.get(generation)


def forget_readers(corpus: StrPath) -> None:
    """Keep no reader of an address any more."""
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
        SettingsError: There is no such kind of store, or it cannot say so.
        CorpusNotFoundError: There is no corpus at that address.
        CorpusDamagedError: It cannot be read, or is of another version.
    """
    store = store_of(corpus)
    return store.listing(corpus) if isinstance(store, ListingStore) else open_snapshot(corpus)


def rebuilding_store(corpus: StrPath) -> RebuildingStore | None:
    """Return the store of a corpus if it can make a corpus's index anew by itself."""
    store = store_of(corpus)
    return store if isinstance(store, RebuildingStore) else None


def store_of(corpus: StrPath) -> Store:
    """Return the store that has a corpus.

    Raises:
        SettingsError: There is no such kind of store.
    """
    scheme = scheme_of(corpus)
    if scheme == "file" and is_published(folder_of(corpus)):
        scheme = PUBLISHED
    try:
        # A drive or a name with a colon in it looks like a scheme: the hint says how such a folder is written.
        return STORES.get(scheme)()
    except SettingsError as error:
        if scheme in STORES:
            raise
        hint = f"{error.hint} To name a folder like that, write ./{corpus}."
        raise SettingsError(error.message, hint=hint) from None
