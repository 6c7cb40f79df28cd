"""Takes an exported corpus into another one, line by line.

A document that is in the corpus under the same name is replaced. A bad line is told of and costs what is on it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO, NamedTuple

import numpy as np

from anabranch.errors import UserError
from anabranch.models.embedder import Embedder, Vectors
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_embedder import embed_missing
from anabranch.store.export.compatibility import settled
from anabranch.store.export.document_lines import grown_of, vectors_of
from anabranch.store.export.json_lines import (
    HEADER,
    LINES,
    LONGEST,
    DocumentLine,
    EndLine,
    ExportLine,
    FileLine,
    Header,
    parsed_line,
    record_of,
)
from anabranch.store.records import Grown, digest_of, text_key
from anabranch.store.stores import open_writer
from anabranch.store.writer_protocol import CorpusWriter, FileRecord, Progress, silent
from anabranch.text.normalization import squeeze

PENDING_LEAVES = 512
"""Leaves that are embedded and committed together."""

# A commit for each line would sync the disk a million times; a kill costs no more than these, which the next run of the
# same import takes in again.
PENDING_FILES = 500


class Bad(NamedTuple):
    """A line that could not be taken in."""

    line: int
    source: str
    reason: str


@dataclass(slots=True)
class ImportReport:
    """What became of the documents of an export; `bad` in the order of the lines."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    files: int = 0
    embedded: int = 0
    bad: list[Bad] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False


def import_corpus(
    file: BinaryIO,
    corpus: StrPath,
    *,
    embedder: str = "",
    base_url: str | None = None,
    wait: float = 0.0,
    progress: Progress = silent,
) -> ImportReport:
    """Take an exported corpus into a corpus, creating it where it is missing; a few documents are in memory at a time.

    Args:
        file: What `export_corpus` wrote.
        corpus: The corpus.
        embedder: How to embed; empty for what the corpus was made with, or for the bundled one if the export was.
        base_url: OpenAI-compatible server of an 'openai:' embedder.
        wait: Seconds to wait for another writer.
        progress: Told how far it is.

    Raises:
        UserError: It is no export, or one of other sizes or another language than the corpus.
        EmbedderMismatchError: It has vectors of another embedder than the corpus, or the embedder has to be named.
        CorpusLockedError: Another process is writing.
        OperationError: The disk is full, or fails.
    """
    began = time.perf_counter()
    header = _header(file)
    report = ImportReport()
    with open_writer(corpus, wait=wait) as writer:
        model = settled(writer, header, embedder, base_url)
        run = _Import(writer, model, header, report, progress)
        is_done = False
        try:
            run.take(file)
            is_done = True
        except KeyboardInterrupt:
            report.interrupted = True
        finally:
            writer.publish(quick=not is_done, progress=partial(progress, "index"))
    report.seconds = time.perf_counter() - began
    return report


def _header(file: BinaryIO) -> Header:
    try:
        return parsed_line(record_of(file.readline(LONGEST)), HEADER)
    except ValueError as error:
        msg = f"This is not an exported corpus: {squeeze(str(error))}."
        raise UserError(msg, hint="Give a file that `anabranch corpus export` wrote.") from error


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines after the first one with their numbers; of one that is too long, what it begins with."""
    number = 1
    while line := file.readline(LONGEST):
        number += 1
        rest = line
        # The rest of a line that is too long is read and thrown away, so that the next line begins where it should.
        while len(rest) == LONGEST and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST)
        if line.strip():
            yield number, line


class _Waiting(NamedTuple):
    """A document that is not committed yet."""

    line: int
    grown: Grown
    vectors: Vectors | None


class _Import:
    """One run."""

    def __init__(
        self,
        writer: CorpusWriter,
        model: Embedder,
        header: Header,
        report: ImportReport,
        progress: Progress,
    ) -> None:
        self._writer = writer
        self._model = model
        self._header = header
        self._report = report
        self._progress = progress
        self._documents: list[_Waiting] = []
        self._files: list[FileRecord] = []
        self._leaves = 0
        self._met = 0
        self._end: EndLine | None = None

    def take(self, file: BinaryIO) -> None:
        """Take in every line that is good."""
        number = 1
        for number, line in _lines(file):
            source = ""
            try:
                record = record_of(line)
                source = str(record.get("source") or record.get("path") or "")
                # Counted before anything else can be wrong with it: the last line says how many there are.
                self._met += record.get("kind") == "document"
                self._take(parsed_line(record, LINES), number)
            # A bad line costs itself. What the disk raises is no ValueError and ends the run.
            except (ValueError, RecursionError) as error:
                self._report.bad.append(Bad(number, squeeze(source), squeeze(str(error))))
        self._commit()
        self._check_end(number)

    def _take(self, line: ExportLine, number: int) -> None:
        if self._end is not None:
            raise ValueError("it stands behind the last line")
        match line:
            case DocumentLine():
                self._take_document(line, number)
            case FileLine():
                self._take_file(line)
            case EndLine():
                self._end = line

    def _take_document(self, line: DocumentLine, number: int) -> None:
        grown = grown_of(line)
        vectors = vectors_of(line, grown, self._header.dimension)
        doc_id = digest_of(grown.document.source)
        # Two lines of one name cannot both be right, and the later one would silently take the place of the earlier.
        if not self._writer.see("import", doc_id):
            raise ValueError("the source stands on an earlier line, which counts")
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
            self._commit()

    def _take_file(self, line: FileLine) -> None:
        # Committed first, or the count of documents of this file would not hold those that wait.
        self._commit_documents()
        here, _ = self._writer.counts(line.path)
        # A file that has lost a document on the way, or has others here, is read again by the next run that meets it.
        digest = line.sha256 if here == line.documents else ""
        # Not complete: the documents of it that the corpus has beside these are nobody's to remove here.
        self._files.append(FileRecord(line.path, line.source, digest, tuple(line.access), complete=False))
        if len(self._files) >= PENDING_FILES:
            self._commit()

    def _check_end(self, number: int) -> None:
        if self._end is None:
            self._report.bad.append(Bad(number + 1, "", "the export is cut off here"))
        elif self._end.documents != self._met:
            said = f"the export has {self._end.documents} documents; {self._met} of them came"
            self._report.bad.append(Bad(number, "", said))

    def _commit(self) -> None:
        self._commit_documents()
        files, self._files = self._files, []
        if files:
            self._writer.write([], files)
            self._report.files += len(files)

    def _commit_documents(self) -> None:
        waiting, self._documents, self._leaves = self._documents, [], 0
        if waiting:
            self._keep_vectors(waiting)
            texts = (text for each in waiting for text in each.grown.leaves)
            embed_missing(self._writer, self._model, texts, self._embedded)
            lines = {each.grown.document.source: each.line for each in waiting}
            for grown, why in self._writer.write([each.grown for each in waiting], []).refused:
                self._report.bad.append(Bad(lines[grown.document.source], squeeze(grown.document.source), why))

    def _keep_vectors(self, waiting: list[_Waiting]) -> None:
        with_vectors = [each for each in waiting if each.vectors is not None and len(each.vectors)]
        # The keys are made from the text here and not read from the line: a vector cannot be put under words of others.
        keys = [text_key(text) for each in with_vectors for text in each.grown.leaves]
        if keys:
            vectors = np.concatenate([each.vectors for each in with_vectors if each.vectors is not None])
            self._writer.add_vectors(keys, vectors, self._model.name)

    def _embedded(self, leaves: int) -> None:
        self._report.embedded += leaves
