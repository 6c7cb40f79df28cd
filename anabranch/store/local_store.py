"""A corpus in a folder.

SQLite holds documents, passages and vectors; searches read the files beside it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from anabranch.store.connections import open_for_reading
from anabranch.store.corpus_address import StrPath, folder_of
from anabranch.store.corpus_folder import make_folder, require_corpus
from anabranch.store.corpus_handles import open_folder
from anabranch.store.index.publisher import publish, tidy
from anabranch.store.local_reader import LocalReader
from anabranch.store.local_snapshot import LocalSnapshot
from anabranch.store.summary_table import SummaryDatabase
from anabranch.store.write_lock import hold_write_lock


class LocalWriter(SummaryDatabase):
    """The one writer of a folder, implementing `SummaryWriter`; made by `LocalStore.writer`, which holds the lock."""

    def publish(self, *, quick: bool = False, progress: Callable[[int, int], None] | None = None) -> None:
        """Index the current documents."""
        # After Ctrl-C, merging and cleaning wait for the next run.
        if quick:
            publish(self, progress=progress)
            return
        self.forget_unused()
        tidy(self, progress=progress)


class LocalStore:
    """Corpora in folders."""

    async def open(self, address: StrPath) -> LocalReader:
        """Return a handle on the current generation; see `open_folder`."""
        return await asyncio.to_thread(open_folder, address)

    @contextmanager
    def writer(self, address: StrPath, *, wait: float = 0.0) -> Iterator[LocalWriter]:
        """Hold the lock of the folder, which is made where it is missing."""
        folder = make_folder(folder_of(address))
        with hold_write_lock(folder, wait=wait), closing(LocalWriter(folder)) as writer:
            yield writer

    @contextmanager
    def snapshot(self, address: StrPath) -> Iterator[LocalSnapshot]:
        """Hold one state of the database; others may write meanwhile."""
        folder = require_corpus(address)
        with open_for_reading(folder) as connection:
            yield LocalSnapshot(folder, connection)
