"""Ingest files: other processes read ahead, and this one embeds and commits the documents in order."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from anabranch.chunking.hierarchical_chunker import Sizes, grow
from anabranch.chunking.leaf_unit import LEAF_UNIT, choose_unit, leaf_counter
from anabranch.errors import ReadingError
from anabranch.ingestion.access_rights import OPERATOR, AccessRights
from anabranch.ingestion.change_detection import Arrival, ChangeCheck, Unchanged
from anabranch.ingestion.directory_walk import FoundFile
from anabranch.ingestion.ingest_report import FileRow, IngestReport, Status, Tally
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.ingestion.isolation.process_pool import ReaderPool
from anabranch.ingestion.isolation.read_and_chunk import ChunkedDocument, FilePart
from anabranch.ingestion.isolation.worker_protocol import Setup
from anabranch.ingestion.language_advice import LanguageTally
from anabranch.ingestion.removal import keep_most
from anabranch.ingestion.source_names import Names
from anabranch.ingestion.sources import Gathered
from anabranch.ingestion.write_batch import Batch
from anabranch.models.embedder import Embedder
from anabranch.readers import PLAIN, ReadOptions
from anabranch.readers.document import Failure
from anabranch.readers.faults import refuse_faults
from anabranch.store.file_identity import is_gone
from anabranch.store.records import Grown, content_digest, digest_of
from anabranch.store.writer_protocol import CorpusWriter, FileRecord, Progress, WriteResult
from anabranch.text.normalization import storable

MOST_NOTES = 100
"""Most notes about one file."""

_MOVING = "it changed while it was read; the next run reads it again"


class Files(Protocol):
    """The files to ingest, one after the other; the length counts the known ones and may grow (`Gathered`)."""

    @property
    def folders(self) -> Collection[Path]:
        """The walked folders, resolved."""
        ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[FoundFile | Failure]: ...


class FileCheck(Protocol):
    """Checks whether a file must be read."""

    def look(self, number: int, found: FoundFile, folders: Collection[Path] = ()) -> Arrival | Unchanged:
        """See `ChangeCheck.look`."""
        ...


@dataclass(frozen=True, slots=True)
class QueueSource:
    """The options for files that come from a queue instead of a walk.

    Attributes:
        check: Checks which files must be read; None for `ChangeCheck`.
        is_gone: Tells whether the file that had a name before is gone.
        tally: Receives the result of each file; None for rows in a report.
        ahead: Number of files to read ahead; see `ReaderPool`.
    """

    check: FileCheck | None = None
    is_gone: Callable[[str], bool] = is_gone
    tally: Tally | None = None
    ahead: int = 0


class Intake:
    """One ingest run over one corpus."""

    def __init__(
        self,
        writer: CorpusWriter,
        embedder: Embedder,
        sizes: Sizes,
        access: Sequence[str],
        report: IngestReport,
        progress: Progress,
        options: ReadOptions = PLAIN,
        *,
        limits: Limits | None = None,
        rights: AccessRights = OPERATOR,
        source: QueueSource | None = None,
    ) -> None:
        """Take the parts of a run; it fills in `report`."""
        source = source or QueueSource()
        self._rights = rights
        self._writer = writer
        self._embedder = embedder
        unit = choose_unit(writer.meta(LEAF_UNIT), embedder, is_empty=writer.is_empty())
        self._tokens = leaf_counter(unit, embedder)
        self._sizes = sizes
        self._report = report
        self._progress = progress
        # Without a tokenizer file, the documents are chunked here and not in the processes.
        self._pool = ReaderPool(
            Setup(limits or Limits(), options, str(getattr(self._tokens, "tokenizer", None) or ""), sizes),
            ahead=source.ahead,
        )
        # Created before anything is written, because it must know the tags from before the run.
        self._check = ChangeCheck(writer, access, rights=rights) if source.check is None else source.check
        self._batch = Batch(writer, embedder, report, progress)
        self._languages = LanguageTally(embedder)
        self._names = Names(writer, source.is_gone)
        self._tally = Tally() if source.tally is None else source.tally
        self._files: dict[str, Arrival] = {}
        # Number of documents by the removed file whose name another file took over.
        self._replaced: Counter[str] = Counter()
        self._done = 0
        self._given = 0

    def take(self, found: Files) -> None:
        """Ingest files in order; one that cannot be read is reported, and the run continues."""
        is_first = True
        with self._pool:
            for file, parts in self._pool.read(self._files_to_read(found)):
                self._progress("files", self._done, len(found), file.source)
                # Loaded while another process reads the first file; a run without new files loads nothing.
                if is_first and self._pool.processes:
                    self._load()
                is_first = False
                self._take_file(file, parts)
                file.found.discard()
                self._done += 1
        self._commit()
        self._progress("files", len(found), len(found), "")

    def take_given(self, documents: Iterable[tuple[Arrival, ChunkedDocument] | Failure]) -> None:
        """Ingest documents from memory, after the files."""
        for number, item in enumerate(documents, start=self._done):
            self._given += 1
            if isinstance(item, Failure):
                self._tally.fail(number, storable(item.source), item.reason, item.message)
                continue
            file, part = item
            file.number = number
            self._take_file(file, iter([part]))
        self._commit()

    def commit_embedded(self) -> None:
        """Commit what an interrupted run has embedded."""
        self._write()

    def remove_gone(self, found: Gathered, *, prune: bool, remove_missing: bool) -> None:
        """Remove files whose name another file took over, as in a renamed folder.

        Args:
            found: The files of this run.
            prune: Whether to also remove the documents of files that are gone from its folders and archives.
            remove_missing: Whether these may be most of the corpus.
        """
        # A list, because the records change during the loop.
        files = list(self._writer.files())
        missing = (file.path for file in files if prune and found.is_missing(file.path))
        gone = {path for path in missing if self._rights.cover(self._writer.tags(path))}
        if not remove_missing and keep_most(self._writer, gone, self._report):
            gone = set()
        for file in files:
            replaced = self._replaced[file.path]
            if file.path in gone:
                why = "the file is gone"
            elif replaced and not self._writer.counts(file.path)[0]:
                why = "the file is gone, and another one has its name"
            else:
                continue
            documents = replaced + self._writer.remove_file(file.path)
            self._tally.remove(FileRow(file.source, "removed", why, documents))

    def fill_report(self, found: Gathered) -> None:
        """Add the rows to the report, the number of unfinished files, and advice on the embedder."""
        self._report.rows = self._tally.rows()
        self._report.warnings += self._languages.advice()
        self._report.left = len(found) + self._given - self._tally.finished_files

    def _files_to_read(self, found: Files) -> Iterator[Arrival]:
        """Yield the files that must be read, and report the others; this runs ahead of the reading."""
        for number, item in enumerate(found):
            if isinstance(item, Failure):
                self._tally.fail(number, storable(item.source), item.reason, item.message)
            elif arrival := self._check_file(number, item, found.folders):
                yield arrival
                continue
            else:
                item.discard()
            self._done += 1
            self._progress("files", self._done, len(found), storable(item.source))

    def _check_file(self, number: int, found: FoundFile, folders: Collection[Path]) -> Arrival | None:
        try:
            result = self._check.look(number, found, folders)
        except OSError as error:
            self._tally.fail(number, storable(found.source), "unreadable", error.strerror or str(error))
            return None
        except ReadingError as error:
            self._tally.fail(number, storable(found.source), error.reason, str(error))
            return None
        if isinstance(result, Unchanged):
            if result.is_refreshed:
                self._batch.refresh(result.record)
            self._tally.add(number, FileRow(result.record.source, "unchanged", "", result.documents, result.chunks))
            return None
        return result

    def _load(self) -> None:
        """Load a local model while another process reads the first file."""
        # A hosted embedder has nothing to load.
        load: Any = getattr(self._embedder, "load", None)
        if load is not None:
            load()

    def _take_file(self, file: Arrival, parts: Iterator[FilePart]) -> None:
        self._files[file.record.path] = file
        try:
            for part in parts:
                if isinstance(part, Failure):
                    self._fail_part(file, part.source, part.reason, part.message)
                    continue
                # Before the next document, so that a file of one document is committed together with its record.
                self._commit_if_full()
                try:
                    self._take_document(part, file)
                except ReadingError as error:
                    self._fail_part(file, part.document.source, error.reason, str(error))
        except ReadingError as error:
            self._tally.fail(file.number, file.source, error.reason, str(error))
        else:
            self._finish(file)

    def _fail_part(self, file: Arrival, source: str, reason: str, message: str) -> None:
        file.failures += 1
        file.is_refused |= source == file.source
        self._tally.fail_part(file.number, file.source, source, reason, message)

    def _take_document(self, part: ChunkedDocument, file: Arrival) -> None:
        # The errors of the store are no document's, so that what may raise those is in no block.
        path, document = file.record.path, part.document
        with refuse_faults(document.source, "used"):
            # A document's own metadata goes first: a line of JSONL knows more than its file.
            facts = {**file.found.metadata, **document.metadata}
            document = replace(document, access=document.access or file.record.access, metadata=facts)
            if not self._rights.cover(document.access):
                raise ReadingError("it names access tags that you do not hold", reason="access")
            file.notes |= dict.fromkeys(document.notes[: MOST_NOTES - len(file.notes)])
        document = self._names.make_unique(document, path)
        with refuse_faults(document.source, "used"):
            doc_id, digest = digest_of(document.source), content_digest(document)
        if not self._writer.see(path, doc_id):
            raise ReadingError("the name occurs twice in the file; the first one counts", reason="duplicate")
        if self._writer.holds(doc_id, digest, path):
            return
        with refuse_faults(document.source, "cut into passages"):
            tree = part.tree or grow(document, self._tokens, self._sizes)
            self._languages.add(tree.text, len(tree.leaves))
        if not self._batch.has_room(tree):
            self._commit()
        file.changed += 1
        if former := self._names.take_freed(document.source):
            self._replaced[former] += 1
        self._names.wait(document.source, path)
        self._batch.add(Grown(document, tree, digest, path))

    def _finish(self, file: Arrival) -> None:
        record = file.record
        is_moving = file.has_changed()
        if is_moving:
            file.notes[_MOVING] = None
        if is_moving or file.failures:
            # Recorded as unread, so that the next run reads it again and repeats the remark. Nobody knows which
            # document an unreadable part was, so none counts as gone.
            record = record.unread()
        self._batch.finish(record)
        self._commit_if_full()

    def _commit_if_full(self) -> None:
        if self._batch.is_full:
            self._commit()

    def _commit(self) -> None:
        self._batch.embed()
        self._write()

    def _write(self) -> None:
        with defer_interrupt():  # everything that is committed must be reported
            self._report_written(*self._batch.write())

    def _report_written(self, finished: Sequence[FileRecord], result: WriteResult) -> None:
        for refused, why in result.refused:
            file = self._files[refused.path]
            file.changed -= 1
            self._fail_part(file, refused.document.source, "broken", why)
        for record in finished:
            file = self._files.pop(record.path)
            changes = file.changed + result.removed.get(record.path, 0)
            status, counts = _status(file.held, changes), self._writer.counts(record.path)
            if counts[0] or not file.is_refused:  # else its row is there
                self._tally.add(file.number, FileRow(file.source, status, "", *counts, tuple(file.notes)))
        self._names.clear_waiting()


def _status(held: int | None, changes: int) -> Status:
    if held is not None and not changes:
        return "unchanged"
    # A file without documents, because it was removed or could not be read, is new.
    return "updated" if held else "added"


@contextmanager
def defer_interrupt() -> Iterator[None]:
    """Delay a Ctrl-C until the end of the block, which must be short; other threads receive none.

    Raises:
        KeyboardInterrupt: At the end, if one came.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:  # None: not set from Python
        yield
        return
    received: list[int] = []
    # Only SIGINT: other signals end the process and roll back the transaction, so nothing is inconsistent.
    signal.signal(signal.SIGINT, lambda number, _: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if received:
        signal.raise_signal(signal.SIGINT)
