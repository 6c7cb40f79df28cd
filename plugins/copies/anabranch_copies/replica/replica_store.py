"""Corpora that were published: "s3://BUCKET/PREFIX", or a folder with a pointer in it. They can only be read."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from anabranch.errors import AnabranchError, CorpusEmptyError
from anabranch.models.lru import LRU
from anabranch.safety.operator import operator
from anabranch.store.corpus_address import StrPath, read_only_error
from anabranch.store.corpus_snapshot import CorpusSnapshot
from anabranch.store.stores import forget_readers
from anabranch.store.writer_protocol import CorpusWriter
from anabranch_copies.replica.local_copy import LocalCopy
from anabranch_copies.replica.object_address import objects_at
from anabranch_copies.replica.replica_reader import ReplicaListing, ReplicaReader

FOLLOWED = 8
"""Published corpora that one process follows, as many as it keeps open folders."""

_log = logging.getLogger("anabranch.copies")


class Follower:
    """Follows one published corpus when it is read; nothing runs in the meantime."""

    def __init__(self, address: str) -> None:
        """Take the address of the published corpus."""
        own = operator()
        self._poll = own.replica_poll
        self._copy = LocalCopy(objects_at(address), Path(own.replicas).expanduser().absolute(), own.replica_age)
        self._reader: ReplicaReader | None = None
        self._looked = 0.0
        self._following = threading.Lock()

    def reader(self) -> ReplicaReader:
        """Return a reader of the current generation, or of the one before while the current one is fetched.

        Raises:
            AnabranchError: No recent copy is here or can be fetched; see `LocalCopy`.
        """
        reader = self._usable()
        if reader is None:
            with self._following:
                # Another thread may have fetched it meanwhile.
                return self._usable() or self._follow()
        if time.monotonic() - self._looked >= self._poll and self._following.acquire(blocking=False):
            # A daemon thread, so that the exit of the program does not wait for a download.
            threading.Thread(target=self._follow_in_background, daemon=True).start()
        return reader

    def _usable(self) -> ReplicaReader | None:
        reader = self._reader
        return reader if reader is not None and reader.freshness.holds and not reader.damaged else None

    def _follow_in_background(self) -> None:
        try:
            self._follow()
        except AnabranchError as error:
            _log.warning("%s", error)
        finally:
            self._following.release()

    def _follow(self) -> ReplicaReader:
        self._looked = time.monotonic()
        before = self._reader
        try:
            self._reader = self._copy.follow(before)
        except CorpusEmptyError:
            # Removed documents must disappear at once, so the earlier copy is not used although it is recent.
            self._reader = None
            if before is not None:
                before.let_go()
            raise
        except AnabranchError as error:
            self._reader = self._usable() or self._copy.last()
            if self._reader is None:
                raise (before.freshness.error(error.message) if before is not None else error) from error
            _log.warning("%s The earlier copy is used.", error.message)
        return self._reader


_followers = LRU[str, Follower](FOLLOWED)


class ReplicaStore:
    """Read-only copies of corpora that are written elsewhere."""

    async def open(self, address: StrPath) -> ReplicaReader:
        """Return a reader of the published generation, the same one until there is another.

        Raises:
            CorpusNotFoundError: Nothing is published there.
            CorpusEmptyError: The corpus holds no passage.
            CorpusUnreachableError: The store does not answer, and the copy is missing or too old.
            CorpusDamagedError: What is published is damaged, and the copy is missing or too old.
            SettingsError: The store refuses the credentials.
        """
        return await asyncio.to_thread(_reader, str(address))

    def writer(self, address: StrPath, *, wait: float = 0.0) -> AbstractContextManager[CorpusWriter]:
        """Refuse.

        Raises:
            SettingsError: Always.
        """
        del wait
        raise read_only_error(address)

    def snapshot(self, address: StrPath) -> AbstractContextManager[CorpusSnapshot]:
        """Refuse: a copy has what searches need, and not all that its corpus has.

        Raises:
            SettingsError: Always.
        """
        raise read_only_error(address)

    @contextmanager
    def listing(self, address: StrPath) -> Iterator[ReplicaListing]:
        """Open a listing of the current generation, which is fetched if it is missing."""
        with _reader(str(address)).listing() as listing:
            yield listing


def _reader(address: str) -> ReplicaReader:
    follower = _followers.get(address) or _followers.setdefault(address, Follower(address))
    return follower.reader()


def forget(address: StrPath) -> None:
    """Close a copy in this process; its files stay."""
    _followers.pop(str(address))
    forget_readers(address)
