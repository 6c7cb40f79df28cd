"""Takes files into the database: has them read ahead by other processes, embeds and commits what comes, in order."""

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
from anabranch.errors import ReadingError
from anabranch.ingestion.access_rights import OPERATOR, AccessRights
from anabranch.ingestion.change_detection import Arrival, ChangeCheck, Unchanged
from anabranch.ingestion.directory_walk import FoundFile
from anabranch.ingestion.ingest_report import FileRow, IngestReport, Status, Tally
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.ingestion.isolation.process_pool import ReaderPool
from anabranch.ingestion.isolation.read_and_chunk import ChunkedDocument, FilePart
from anabranch.ingestion.isolation.worker_protocol import Setup
from anabranch.ingestion.source_names import Names
from anabranch.ingestion.sources import Gathered
from anabranch.ingestion.write_batch import Batch
from anabranch.models.embedder import Embedder
from anabranch.readers import PLAIN, ReadOptions
from anabranch.readers.document import Failure
from anabranch.store.file_identity import is_gone
from anabranch.store.records import Grown, content_digest, digest_of
from anabranch.store.writer_protocol import CorpusWriter, FileRecord, Progress, WriteResult
from anabranch.text.normalization import storable

MOST_NOTES = 100
"""About one file."""

_MOVING = "it changed while it was read; the next run reads it again"


class Files(Protocol):
    """What is to be taken in, one file after the other; the length is what is known of it so far (`Gathered`)."""

    @property
    def folders(self) -> Collection[Path]:
        """The folders that are gone through, resolved."""
        ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[FoundFile | Failure]: ...


class FileCheck(Protocol):
    """Tells whether a file has to be read."""

    def look(self, number: int, found: FoundFile, folders: Collection[Path] = ()) -> Arrival | Unchanged:
        """See `ChangeCheck.look`."""
        ...


@dataclass(frozen=True, slots=True)
class QueueSource:
    """What differs where files come from a queue and not from a walk.

    Attributes:
        check: Tells which files have to be read; None for a look at each.
        is_gone: Tells whether the file is gone that had a name before.
        tally: Is told what became of each file; None for rows in a report.
        ahead: How many files may be known to come; see `ReaderPool`.
    """

    check: FileCheck | None = None
    is_gone: Callable[[str], bool] = is_gone
    tally: Tally | None = None
    ahead: int = 0


class Intake:
    """One run over one corpus."""

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
        """Take what the run needs; `report` is filled in as it goes."""
        source = source or QueueSource()
        self._rights = rights
        self._writer = writer
        self._embedder = embedder
        self._sizes = sizes
        self._report = report
        self._progress = progress
        # Documents of an embedder that counts in a way of its own are cut here, not by the processes.
        self._pool = ReaderPool(
            Setup(limits or Limits(), options, str(getattr(embedder, "tokenizer", "")), sizes), ahead=source.ahead
        )
        # Before anything is written: what it learns of tags has to be what the corpus knew when the run began.
        self._check = ChangeCheck(writer, access, rights=rights) if source.check is None else source.check
        self._batch = Batch(writer, embedder, report, progress)
        self._names = Names(writer, source.is_gone)
        self._tally = Tally() if source.tally is None else source.tally
        self._files: dict[str, Arrival] = {}
        # Documents by the file that is gone, which they were in until one of the same name took its place.
        self._replaced: Counter[str] = Counter()
        self._done = 0
        self._given = 0

    def take(self, found: Files) -> None:
        """Take in files, in order; one that cannot be read is reported and stops nothing."""
        is_first = True
        with self._pool:
            for file, parts in self._pool.read(self._due(found)):
                self._progress("files", self._done, len(found), file.source)
                # Loading takes as long as reading the first file; a run that finds nothing new to read loads nothing.
                if is_first and self._pool.processes:
                    self._load()
                is_first = False
                self._take_file(file, parts)
                file.found.discard()
                self._done += 1
        self._commit()
        self._progress("files", len(found), len(found), "")

    def take_given(self, documents: Iterable[tuple[Arrival, ChunkedDocument] | Failure]) -> None:
        """Take in documents that no file holds, after the files."""
        for number, item in enumerate(documents, start=self._done):
            self._given += 1
            if isinstance(item, Failure):
                self._tally.fail(number, storable(item.source), item.reason, item.message)
                continue
            file, part = item
            file.number = number
            self._take_file(file, iter([part]))
        self._commit()

    def keep(self) -> None:
        """Commit what a run that was stopped has embedded."""
        self._write()

    def take_out(self, found: Gathered, *, prune: bool) -> None:
        """Remove files that others of the same name have replaced, as in a folder that was renamed.

        Args:
            found: What was gone through.
            prune: Whether to remove as well the documents of files that are gone from the folders and archives in it.
        """
        # A list: the records are changed while they are gone through.
        for file in list(self._writer.files()):
            replaced = self._replaced[file.path]
            if prune and found.is_missing(file.path) and self._rights.cover(self._writer.tags(file.path)):
                why = "the file is gone"
            elif replaced and not self._writer.counts(file.path)[0]:
                why = "the file is gone, and one of the same name is in its place"
            else:
                continue
            documents = replaced + self._writer.remove_file(file.path)
            self._tally.remove(FileRow(file.source, "removed", why, documents))

    def tell(self, found: Gathered) -> None:
        """Put the rows into the report, in the order of the files, and how many files it has nothing to say of."""
        self._report.rows = self._tally.rows()
        self._report.left = len(found) + self._given - self._tally.settled

    def _due(self, found: Files) -> Iterator[Arrival]:
        """Yield the files that have to be read and report the others; this runs ahead of the reading."""
        for number, item in enumerate(found):
            if isinstance(item, Failure):
                self._tally.fail(number, storable(item.source), item.reason, item.message)
            elif arrival := self._looked_at(number, item, found.folders):
                yield arrival
                continue
            else:
                item.discard()
            self._done += 1
            self._progress("files", self._done, len(found), storable(item.source))

    def _looked_at(self, number: int, found: FoundFile, folders: Collection[Path]) -> Arrival | None:
        try:
            seen = self._check.look(number, found, folders)
        except OSError as error:
            self._tally.fail(number, storable(found.source), "unreadable", error.strerror or str(error))
            return None
        except ReadingError as error:
            self._tally.fail(number, storable(found.source), error.reason, str(error))
            return None
        if isinstance(seen, Unchanged):
            if seen.is_refreshed:
                self._batch.refresh(seen.record)
            self._tally.add(number, FileRow(seen.record.source, "unchanged", "", seen.documents, seen.chunks))
            return None
        return seen

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
                    file.failures += 1
                    self._tally.fail_part(file.number, file.source, part.source, part.reason, part.message)
                    continue
                # Before the next document, not after this one: a file of one document is committed with its record.
                self._commit_if_full()
                self._take_document(part, file)
        except ReadingError as error:
            self._tally.fail(file.number, file.source, error.reason, str(error))
        else:
            self._finish(file)

    def _take_document(self, part: ChunkedDocument, file: Arrival) -> None:
        # Where a document has metadata of its own, they count: a line of JSONL knows more than its file.
        path, facts = file.record.path, {**file.found.metadata, **part.document.metadata}
        document = replace(part.document, access=part.document.access or file.record.access, metadata=facts)
        document = self._names.named(document, path)
        if not self._rights.cover(document.access):
            why = "it names access tags that you do not hold"
            file.failures += 1
            self._tally.fail_part(file.number, file.source, document.source, "access", why)
            return
        for note in document.notes[: MOST_NOTES - len(file.notes)]:
            file.notes[note] = None
        doc_id, digest = digest_of(document.source), content_digest(document)
        if not self._writer.see(path, doc_id):
            why = "the name occurs twice in the file; the first one counts"
            file.failures += 1
            self._tally.fail_part(file.number, file.source, document.source, "duplicate", why)
            return
        if self._writer.holds(doc_id, digest, path):
            return
        tree = part.tree or grow(document, self._embedder, self._sizes)
        if not self._batch.has_room(tree):
            self._commit()
        file.changed += 1
        if former := self._names.given_up(document.source):
            self._replaced[former] += 1
        self._names.wait(document.source, path)
        self._batch.add(Grown(document, tree, digest, path))

    def _finish(self, file: Arrival) -> None:
        record = file.record
        is_moving = file.has_changed()
        if is_moving:
            file.notes[_MOVING] = None
        if is_moving or file.failures:
            # Read again each time: what is wrong must not fall silent. And which document an unreadable part was,
            # nobody can say; so none is taken for gone.
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
        with undisturbed():  # what is committed is told of
            self._tell(*self._batch.write())

    def _tell(self, finished: Sequence[FileRecord], result: WriteResult) -> None:
        for refused, why in result.refused:
            file = self._files[refused.path]
            file.failures += 1
            file.changed -= 1
            self._tally.fail_part(file.number, file.source, refused.document.source, "broken", why)
        for record in finished:
            file = self._files.pop(record.path)
            changes = file.changed + result.removed.get(record.path, 0)
            status, counts = _status(file.held, changes), self._writer.counts(record.path)
            self._tally.add(file.number, FileRow(file.source, status, "", *counts, tuple(file.notes)))
        self._names.committed()


def _status(held: int | None, changes: int) -> Status:
    if held is not None and not changes:
        return "unchanged"
    # What was removed, or could not be read before, is new.
    return "updated" if held else "added"


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let a Ctrl-C wait until the end of the block, which has to be short; in other threads there is none.

    Raises:
        KeyboardInterrupt: At the end, if one came.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:  # None: not set from Python
        yield
        return
    came: list[int] = []
    # Only this signal: SIGTERM and SIGKILL end the process, and the transaction with it, which loses nothing.
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)
