"""Import the lines of an exported corpus, a few documents per transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from anabranch.models.embedder import Vectors
from anabranch.store.records import Grown, digest_of, text_key
from anabranch.store.writer_protocol import CorpusWriter, FileRecord, Progress
from anabranch.text.normalization import squeeze
from anabranch_copies.export.document_lines import grown_of, vectors_of
from anabranch_copies.export.json_lines import DocumentLine, FileLine, Header

PENDING_LEAVES = 512
"""Leaves that are embedded and committed together."""

# A commit for each line would sync the disk a million times; after a kill, the next run imports these again.
PENDING_FILES = 500


class Bad(NamedTuple):
    """A line that could not be imported."""

    line: int
    source: str
    reason: str


@dataclass(slots=True)
class ImportReport:
    """The result of an import; `bad` is in the order of the lines."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    files: int = 0
    embedded: int = 0
    bad: list[Bad] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False


class _Waiting(NamedTuple):
    """A document that is not committed yet."""

    line: int
    grown: Grown
    vectors: Vectors | None


class LineImport:
    """One import: call `take` with each line, and `commit` after the last."""

    def __init__(
        self,
        writer: CorpusWriter,
        header: Header,
        report: ImportReport,
        progress: Progress,
        *,
        embedder: str,
        embed: Callable[[Iterable[str]], None],
    ) -> None:
        """Take the corpus and the first line.

        Args:
            writer: The corpus.
            header: The first line.
            report: Counts the results.
            progress: Called with the progress.
            embedder: Name of the corpus's embedder.
            embed: Called with the texts of leaves before they are written, to embed those without a vector.
        """
        self._writer = writer
        self._header = header
        self._report = report
        self._progress = progress
        self._embedder = embedder
        self._embed = embed
        self._documents: list[_Waiting] = []
        self._files: list[FileRecord] = []
        self._leaves = 0
        self._met = 0

    def take(self, line: DocumentLine | FileLine, number: int) -> None:
        """Import one line.

        Raises:
            ValueError: Its parts do not belong together.
        """
        if isinstance(line, DocumentLine):
            self._met += 1
            self._take_document(line, number)
        else:
            self._take_file(line)

    def _take_document(self, line: DocumentLine, number: int) -> None:
        grown = grown_of(line)
        vectors = vectors_of(line, grown, self._header.dimension)
        doc_id = digest_of(grown.document.source)
        # Otherwise the later line would silently replace the earlier one.
        if not self._writer.see("import", doc_id):
            raise ValueError("an earlier line has the same source; the earlier line counts")
        self._progress("documents", self._met, self._header.documents or 0)
        if self._writer.holds(doc_id, grown.digest, grown.path):
            self._report.unchanged += 1
            return
        is_new = self._writer.origin(grown.document.source) is None
        self._report.added += is_new
        self._report.updated += not is_new
        self._documents.append(_Waiting(number, grown, vectors))
        self._leaves += len(grown.leaves)
        if self._leaves >= PENDING_LEAVES:
            self.commit()

    def _take_file(self, line: FileLine) -> None:
        # Committed first, so that the waiting documents of this file are counted.
        self._commit_documents()
        here, _ = self._writer.counts(line.path)
        # If the numbers differ, the empty hash makes the next ingest read the file again.
        digest = line.sha256 if here == line.documents else ""
        # Not complete, so that other documents of this file in the corpus are not removed.
        self._files.append(FileRecord(line.path, line.source, digest, tuple(line.access), complete=False))
        if len(self._files) >= PENDING_FILES:
            self.commit()

    def commit(self) -> None:
        """Write what waits."""
        self._commit_documents()
        files, self._files = self._files, []
        if files:
            self._writer.write([], files)
            self._report.files += len(files)

    def _commit_documents(self) -> None:
        waiting, self._documents, self._leaves = self._documents, [], 0
        if waiting:
            self._keep_vectors(waiting)
            self._embed(text for each in waiting for text in each.grown.leaves)
            lines = {each.grown.document.source: each.line for each in waiting}
            for grown, why in self._writer.write([each.grown for each in waiting], []).refused:
                self._report.bad.append(Bad(lines[grown.document.source], squeeze(grown.document.source), why))

    def _keep_vectors(self, waiting: list[_Waiting]) -> None:
        with_vectors = [each for each in waiting if each.vectors is not None and len(each.vectors)]
        # The keys are computed from the text, so that a line cannot set the vector of another text.
        keys = [text_key(text) for each in with_vectors for text in each.grown.leaves]
        if keys:
            vectors = np.concatenate([each.vectors for each in with_vectors if each.vectors is not None])
            self._writer.add_vectors(keys, vectors, self._embedder)
