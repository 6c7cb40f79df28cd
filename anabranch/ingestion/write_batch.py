"""Documents on their way into the database: embedded together, then committed in one transaction.

They wait until there are enough leaves to embed, across files, and are committed with the records of the files that
they finish, so that a file counts as taken in exactly when all its documents are.
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
"""Sorted by length and embedded eight at a time, so many waste 2 % on padding; 64 waste 6 %, 16 waste 17 %."""

WAITING_SECONDS = 5.0
"""Since the last commit: a Ctrl-C or a kill costs no more reading than that, and the document that it comes in."""

# Files without a new leaf fill no batch, but their records have to be committed at some time.
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
        """Begin to count the seconds."""
        self._committed = self.clock()

    @property
    def is_full(self) -> bool:
        """Whether it is time to commit."""
        if self._leaves >= WAITING_LEAVES or len(self._finished) >= _MOST_RECORDS:
            return True
        return bool(self._grown or self._finished) and self.clock() - self._committed >= WAITING_SECONDS

    def has_room(self, tree: Tree) -> bool:
        """Whether a document may join those that wait; a long one is committed alone, so that it costs no others."""
        return not self._grown or len(tree.leaves) < WAITING_LEAVES

    def add(self, grown: Grown) -> None:
        """Let a document wait."""
        self._grown.append(grown)
        self._leaves += len(grown.tree.leaves)

    def finish(self, record: FileRecord) -> None:
        """Record a file as taken in, together with the documents that wait."""
        self._finished.append(record)

    def refresh(self, record: FileRecord) -> None:
        """Record a file's new stamp; its documents are left alone."""
        self._refreshed.append(record._replace(complete=False))
        if len(self._refreshed) >= _MOST_RECORDS:
            self.writer.write([], self._refreshed)
            self._refreshed = []

    def write(self) -> tuple[list[FileRecord], WriteResult]:
        """Write what waits, as far as it is embedded, with the records of the files that it finishes; forget the rest.

        All of it or nothing; whoever wants to keep everything calls `embed` before. Returns the finished files and what
        became of their documents.
        """
        # After a Ctrl-C in the middle of embedding some have vectors and some have not; a document is committed whole
        # or not at all.
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
        """Embed what waits; the vectors are kept as they come."""
        embed_missing(self.writer, self.embedder, (text for grown in self._grown for text in grown.leaves), self._told)

    def _told(self, leaves: int) -> None:
        self.report.embedded += leaves
        self.progress("passages", self.report.embedded, 0, self._grown[-1].document.source)
