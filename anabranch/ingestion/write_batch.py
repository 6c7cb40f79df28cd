"""A batch of documents that are embedded together, then committed in one transaction.

Documents wait until there are enough leaves to embed, across files. They are committed together with the records of
finished files, so that a file counts as ingested exactly when all its documents are.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain, compress

from anabranch.chunking.hierarchical_chunker import Tree
from anabranch.ingestion.ingest_report import IngestReport
from anabranch.models.embedder import Embedder
from anabranch.store.corpus_embedder import embed_missing
from anabranch.store.records import Grown
from anabranch.store.writer_protocol import CorpusWriter, FileRecord, Progress, WriteResult

WAITING_LEAVES = 256
"""Leaves that make a batch full. Sorted and embedded eight at a time, 256 waste 2 % on padding, 64 6 %, 16 17 %."""

WAITING_SECONDS = 5.0
"""Most seconds between commits: a kill loses no more reading than that, and the current document."""

# Files without a new leaf do not fill a batch, but their records must be committed, too.
_MOST_RECORDS = 1000


@dataclass(slots=True)
class Batch:
    """What waits to be committed."""

    writer: CorpusWriter
    embedder: Embedder
    report: IngestReport
    progress: Progress
    clock: Callable[[], float] = time.monotonic
    _grown: list[Grown] = field(default_factory=list)
    _leaves: int = 0
    _finished: list[FileRecord] = field(default_factory=list)
    _refreshed: list[FileRecord] = field(default_factory=list)
    _committed: float = field(init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        self._committed = self.clock()

    @property
    def is_full(self) -> bool:
        """Whether it is time to commit."""
        if self._leaves >= WAITING_LEAVES or len(self._finished) >= _MOST_RECORDS:
            return True
        return bool(self._grown or self._finished) and self.clock() - self._committed >= WAITING_SECONDS

    def has_room(self, tree: Tree) -> bool:
        """Tell whether a document may join the batch; a long one is committed alone, so that it delays no others."""
        return not self._grown or len(tree.leaves) < WAITING_LEAVES

    def add(self, grown: Grown) -> None:
        """Add a document to the batch."""
        self._grown.append(grown)
        self._leaves += len(grown.tree.leaves)

    def finish(self, record: FileRecord) -> None:
        """Add the record of a file whose documents are all in the batch or committed."""
        self._finished.append(record)

    def refresh(self, record: FileRecord) -> None:
        """Add a file's new stamp; its documents stay unchanged."""
        self._refreshed.append(record._replace(complete=False))
        if len(self._refreshed) >= _MOST_RECORDS:
            self.writer.write([], self._refreshed)
            self._refreshed = []

    def write(self) -> tuple[list[FileRecord], WriteResult]:
        """Commit the embedded documents with the records of finished files, in one transaction; drop the rest.

        Call `embed` before, to drop nothing. Returns the finished files and the result of the write.
        """
        # After a Ctrl-C during embedding, some leaves lack vectors; a document is committed whole or not at all.
        texts = [grown.leaves for grown in self._grown]
        missing = self.writer.missing_vectors(list(chain.from_iterable(texts)), self.embedder.name) if texts else {}
        lacking = frozenset(missing.values())
        is_whole = [lacking.isdisjoint(leaves) for leaves in texts]
        embedded = list(compress(self._grown, is_whole))
        partly = {grown.path for grown, whole in zip(self._grown, is_whole, strict=True) if not whole}
        finished = [record for record in self._finished if record.path not in partly]
        records = [*finished, *self._refreshed]
        result = self.writer.write(embedded, records) if embedded or records else WriteResult({}, [])
        self._grown, self._finished, self._refreshed, self._leaves = [], [], [], 0
        self._committed = self.clock()
        return finished, result

    def embed(self) -> None:
        """Embed the waiting documents; vectors are stored as they come."""
        embed_missing(
            self.writer, self.embedder, (text for grown in self._grown for text in grown.leaves), self._add_progress
        )

    def _add_progress(self, leaves: int) -> None:
        self.report.embedded += leaves
        self.progress("passages", self.report.embedded, 0, self._grown[-1].document.source)
