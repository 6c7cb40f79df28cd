"""Finds changed files and queues them for workers on other machines."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from anabranch.chunking.hierarchical_chunker import Sizes, check_sizes
from anabranch.errors import ReadingError, SettingsError
from anabranch.ingestion.change_detection import Arrival, ChangeCheck, Unchanged
from anabranch.ingestion.directory_walk import FoundFile, identity_of
from anabranch.ingestion.ingest_report import FileRow, IngestReport, Tally
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.ingestion.pipeline import fix_settings
from anabranch.ingestion.removal import keep_most
from anabranch.ingestion.sources import Gathered, gather
from anabranch.models.embedders import load_embedder
from anabranch.readers import PLAIN, READERS, ReadOptions, extension_of, read
from anabranch.readers.document import Failure
from anabranch.store.corpus_address import StrPath, list_paths
from anabranch.store.file_identity import archives_of, is_gone
from anabranch.store.stores import open_writer
from anabranch.store.writer_protocol import FileRecord, Progress, silent
from anabranch.text.normalization import storable
from anabranch.text.stemmer import checked_language
from anabranch_postgres.queue.queue_protocol import QueuedFile, QueueWriter, open_queue
from anabranch_postgres.queue.run_options import RunOptions, to_text

if TYPE_CHECKING:
    from anabranch.ingestion.crawl_limits import CrawlLimits

BUSY = 60.0
"""Least seconds to wait for workers, each of which writes for a moment."""

LEASE = 60.0
"""Seconds until the jobs of a silent worker are reassigned."""

_AT_ONCE = 500

QUEUED_BEFORE = "a worker is reading it; queue it again if it has changed since"


def enqueue(
    paths: StrPath | Iterable[StrPath],
    corpus: StrPath,
    *,
    embedder: str = "",
    base_url: str | None = None,
    sizes: Sizes | None = None,
    language: str = "",
    access: Sequence[str] = (),
    prune: bool = True,
    remove_missing: bool = False,
    archives: bool = False,
    follow_links: bool = False,
    private_urls: bool = False,
    crawl: CrawlLimits | None = None,
    options: ReadOptions = PLAIN,
    limits: Limits | None = None,
    wait: float = 0.0,
    progress: Progress = silent,
) -> IngestReport:
    """Queue new and changed files for the workers, and remove those that are gone.

    The arguments are those of `anabranch.ingestion.pipeline.ingest`.

    Raises:
        UserError: As `ingest`; or several machines cannot write to the corpus.
        CorpusLockedError: A lone writer is at work.
    """
    began = time.perf_counter()
    if options.passwords:
        msg = "Passwords are not stored in the queue."
        raise SettingsError(msg, hint="Give it to the workers: anabranch work --password ...")
    if sizes is not None:
        sizes = check_sizes(sizes)
    if embedder:
        load_embedder(embedder, base_url)
    if language:
        checked_language(language)
    most = limits or Limits()
    run = RunOptions(options.ocr, options.ocr_languages, most.seconds, most.bytes, private_urls)
    report = IngestReport()
    asked = gather(
        list_paths(paths), archives=archives, follow_links=follow_links, private_urls=private_urls, crawl=crawl
    )
    opened = partial(open_queue, corpus, worker=uuid4().hex, lease=LEASE)
    opened()  # refuse another kind of store before searching for files
    with asked as found:
        with open_writer(corpus, wait=max(wait, BUSY)) as alone:
            fix_settings(alone, embedder, base_url, sizes, language)
        with opened() as queue:
            queuing = _Queuing(queue, ChangeCheck(queue, access, fetches=False), to_text(run), found, progress)
            queue.begin()
            queuing.go_through()
            if prune:
                queuing.prune(report, remove_missing=remove_missing)
            is_idle = queue.state().is_idle
    if is_idle:  # removals need no worker
        with open_writer(corpus, wait=max(wait, BUSY)) as alone:
            alone.publish()
    report.rows = queuing.tally.rows()
    report.seconds = time.perf_counter() - began
    return report


class _Queuing:
    """One walk over the given paths."""

    def __init__(
        self, queue: QueueWriter, check: ChangeCheck, options: str, found: Gathered, progress: Progress
    ) -> None:
        self.tally = Tally()
        self._queue = queue
        self._check = check
        self._options = options
        self._found = found
        self._progress = progress
        self._places = {identity_of(file): file for file in found.files}
        self._jobs: dict[str, QueuedFile] = {}
        self._numbers: dict[str, tuple[int, tuple[str, ...]]] = {}
        self._refreshed: list[FileRecord] = []

    def go_through(self) -> None:
        for number, item in enumerate(self._found):
            self._progress("files", number, len(self._found), storable(item.source))
            if isinstance(item, Failure):
                self.tally.fail(number, storable(item.source), item.reason, item.message)
                continue
            try:
                self._look(number, item)
            except OSError as error:
                self.tally.fail(number, storable(item.source), "unreadable", error.strerror or str(error))
            except ReadingError as error:
                self.tally.fail(number, storable(item.source), error.reason, str(error))
            finally:
                item.discard()
        self._send()

    def prune(self, report: IngestReport, *, remove_missing: bool) -> None:
        """Remove the documents of files that are gone, and the jobs of those that were never read."""
        gone = {file.path: file.source for file in self._queue.files() if self._found.is_missing(file.path)}
        if not remove_missing and keep_most(self._queue, gone, report):
            return
        for path, source in gone.items():
            documents = self._queue.remove_file(path)
            self.tally.remove(FileRow(source, "removed", "the file is gone", documents))
        for path in self._queue.queued():
            if self._found.is_missing(path):
                self._queue.forget(path)

    def _look(self, number: int, item: FoundFile) -> None:
        if not item.is_copy and extension_of(item.path) not in READERS:
            next(read(item.path, item.source), None)  # opens nothing, but raises for an unknown kind
        seen = self._check.look(number, item, self._found.folders)
        if isinstance(seen, Unchanged):
            if seen.is_refreshed:
                self._refreshed.append(seen.record._replace(complete=False))
            self.tally.add(number, FileRow(seen.record.source, "unchanged", "", seen.documents, seen.chunks))
        else:
            self._add(seen)

    def _add(self, arrival: Arrival) -> None:
        """Add a file to the next batch; a member of an archive queues the archive."""
        record, found = arrival.record, arrival.found
        archives = archives_of(record.path) if found.is_copy else ()
        whole = next((self._places[path] for path in archives if path in self._places), found)
        path = identity_of(whole)
        if path not in self._jobs and len(self._jobs) >= _AT_ONCE:
            self._send()
        place = path if found.is_copy and whole is found else str(whole.path.absolute())
        # Workers find it by its path, which the database stores as text.
        if storable(place) != place or (whole.real and str(whole.real) != path):
            raise ReadingError("its path is not UTF-8, so it cannot be queued", reason="unreadable")
        holder = self._queue.origin(record.source)
        gone = [holder] if holder and holder != record.path and is_gone(holder) else []
        job = self._jobs.get(path) or QueuedFile(path, place, storable(whole.source), self._options, {})
        access = {**job.access, record.path: list(record.access)}
        self._jobs[path] = job._replace(access=access, gone=[*job.gone, *gone])
        self._numbers.setdefault(path, (arrival.number, tuple(arrival.notes)))

    def _send(self) -> None:
        """Queue the batch; unchanged files get their new stamps."""
        busy = self._queue.enqueue(list(self._jobs.values())) if self._jobs else set()
        for path, (number, notes) in self._numbers.items():
            remark = QUEUED_BEFORE if path in busy else ""
            self.tally.add(number, FileRow(self._jobs[path].source, "queued", remark, notes=notes))
        if self._refreshed:
            self._queue.write([], self._refreshed)
        self._jobs, self._numbers, self._refreshed = {}, {}, []
