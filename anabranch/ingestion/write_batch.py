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
from anabranch.errors import ModelError
from anabranch.ingestion.ingest_report import IngestReport
from anabranch.models.embedder import Embedder
from anabranch.store.corpus_embedder import embed_missing
from anabranch.store.records import Grown
from anabranch.store.writer_protocol import CorpusWriter, FileRecord, Progress, WriteResult

WAITING_LEAVES = 256
"""Leaves that make a batch full. Sorted and embedded eight at a time, 256 waste 2 % on padding, 64 6 %, 16 17 %."""

WAITING_SECONDS = 5.0
"""Most seconds between commits: a kill loses no more reading than that, and the current document."""

MOST_REFUSED = 20
"""Documents, one after the other, that an embedder may refuse before it is tried with a plain text again."""

_PLAIN_TEXT = "The weir was built in 1848."  # an embedder that refuses it is broken or configured wrongly

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
    _refused: list[tuple[Grown, str]] = field(default_factory=list)
    _refused_in_row: int = 0
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
        refused = {grown.path for grown, _ in self._refused}
        records = [record.unread() if record.path in refused else record for record in finished] + self._refreshed
        result = self.writer.write(embedded, records) if embedded or records else WriteResult({}, [])
        result.refused.extend(self._refused)
        self._grown, self._finished, self._refreshed, self._refused, self._leaves = [], [], [], [], 0
        self._committed = self.clock()
        return finished, result

    def embed(self) -> None:
        """Embed the waiting documents; vectors are stored as they come.

        A document that the embedder refuses is left out, and `write` returns it with the reason.

        Raises:
            ModelError: The embedder is down, or refuses any text.
        """
        texts = (text for grown in self._grown for text in grown.leaves)
        try:
            embed_missing(self.writer, self.embedder, texts, self._add_progress)
        except ModelError as error:
            if error.retryable:
                raise
            # The error does not say whose text it is about.
            self._grown = [grown for grown in self._grown if self._embed_alone(grown)]

    def _embed_alone(self, grown: Grown) -> bool:
        try:
            embed_missing(self.writer, self.embedder, grown.leaves, self._add_progress)
        except ModelError as error:
            self._refused_in_row += 1
            if error.retryable:
                raise
            if self._refused_in_row % MOST_REFUSED == 1:
                self.embedder.embed([_PLAIN_TEXT])
            why = f"{grown.document.source!r} cannot be embedded: {error.message}"
            self._refused.append((grown, f"{why} The next run tries it again, unless you leave the file out."))
            return False
        self._refused_in_row = 0
        return True

    def _add_progress(self, leaves: int) -> None:
        self.report.embedded += leaves
        self.progress("passages", self.report.embedded, 0, self._grown[-1].document.source)
