"""Ingests queued files beside workers on other machines until none is left, then publishes them."""

from __future__ import annotations

import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from uuid import uuid4

from anabranch.errors import CorpusLockedError, CorpusUnreachableError
from anabranch.ingestion.ingest_report import FileRow, IngestReport, Status
from anabranch.ingestion.intake import Intake, QueueSource
from anabranch.ingestion.pipeline import settings_of
from anabranch.store.corpus_address import StrPath
from anabranch.store.stores import open_writer
from anabranch.store.writer_protocol import Progress, silent
from anabranch_postgres.queue.claimed_files import CLAIMED, ClaimedFiles, QueueTally
from anabranch_postgres.queue.producer import LEASE
from anabranch_postgres.queue.queue_protocol import QueuedFile, QueueWriter, open_queue
from anabranch_postgres.queue.run_options import RunOptions, from_text

PATIENCE = 600.0
"""Seconds that a worker waits for a database that no longer answers."""

_LONGEST_PAUSE = 10.0
_IDLE = 0.5
_AHEAD = 2 * CLAIMED


@dataclass(slots=True)
class WorkReport:
    """The results of one worker."""

    counts: Counter[Status] = field(default_factory=Counter)
    embedded: int = 0
    seconds: float = 0.0
    interrupted: bool = False


def work(
    corpus: StrPath,
    *,
    embedder: str = "",
    base_url: str | None = None,
    passwords: tuple[str, ...] = (),
    lease: float = LEASE,
    patience: float = PATIENCE,
    progress: Progress = silent,
    listener: Callable[[FileRow | str], None] = lambda _: None,
) -> WorkReport:
    """Ingest queued files until none is left with any worker; the worker that notices it publishes.

    Args:
        corpus: Address of a corpus that several machines can write to.
        embedder: The corpus's own embedder, if its folder differs on this machine; empty for the recorded one.
        base_url: Server of an 'openai:' embedder; None for that of the corpus.
        passwords: Passwords to try on protected files.
        lease: Seconds until the jobs of a silent worker are reassigned.
        patience: Seconds to wait for an unreachable database.
        progress: Called with the progress; the stages are 'files', 'passages' and 'index'.
        listener: Called with each failure, and with what the worker waits for.

    Raises:
        SettingsError: The corpus is in a folder, or in a store with one writer at a time.
        CorpusNotFoundError: There is no corpus at that address.
        EmbedderMismatchError: The embedder is not that of the corpus.
        CorpusUnreachableError: Its database does not answer, or stopped answering for too long.
        ModelError: A hosted embedder failed; the jobs go back into the queue.
    """
    worker = _Worker(corpus, embedder, base_url, passwords, progress, listener)
    began = time.perf_counter()
    opened = partial(open_queue, corpus, worker=f"{socket.gethostname()} {uuid4().hex[:12]}", lease=lease)
    with opened() as queue:  # an error at the start is raised at once, without waiting
        settings_of(queue, embedder, base_url)
    lost_at, pause = 0.0, _IDLE
    while not worker.is_over:
        try:
            with opened() as queue:
                worker.work_on(queue)
            lost_at, pause = 0.0, _IDLE
        except KeyboardInterrupt:
            worker.report.interrupted = True
            break
        except CorpusUnreachableError as error:
            lost_at = lost_at or time.monotonic()
            if time.monotonic() - lost_at > patience:
                raise
            pause = min(2 * pause, _LONGEST_PAUSE)
            listener(f"{error.message} Trying again in {pause:g} seconds.")
            time.sleep(pause)
    worker.report.seconds = time.perf_counter() - began
    return worker.report


def _claim(queue: QueueWriter) -> list[QueuedFile]:
    # Jobs whose workers died come last, and alone.
    return queue.claim(CLAIMED, options="", excluded=(), alone=False) or queue.claim(
        1, options="", excluded=(), alone=True
    )


class _Worker:
    """One worker over all its connections."""

    def __init__(
        self,
        corpus: StrPath,
        embedder: str,
        base_url: str | None,
        passwords: tuple[str, ...],
        progress: Progress,
        listener: Callable[[FileRow | str], None],
    ) -> None:
        self.is_over = False
        self.report = WorkReport()
        self._corpus = corpus
        self._embedder = (embedder, base_url)
        self._passwords = passwords
        self._progress = progress
        self._listener = listener

    def work_on(self, queue: QueueWriter) -> None:
        """Wait for jobs and do those of one run; publish if there are none."""
        queue.release()  # what a lost connection has left
        while not (jobs := _claim(queue)):
            state = queue.state()
            if state.is_idle and state.published:
                self.is_over = True
                return
            if state.is_idle:
                self._publish()
            else:
                time.sleep(_IDLE)
        try:
            options = from_text(jobs[0].options)
            with tempfile.TemporaryDirectory(prefix="anabranch-", ignore_cleanup_errors=True) as folder:
                files = ClaimedFiles(queue, jobs, Path(folder), private_urls=options.private_urls)
                self._take(queue, files, options)
        finally:
            queue.release()

    def _take(self, queue: QueueWriter, files: ClaimedFiles, options: RunOptions) -> None:
        report = IngestReport()
        tally = QueueTally(queue, files, self._listener)
        made, sizes = settings_of(queue, *self._embedder)
        source = QueueSource(files, queue.is_replaced, tally, _AHEAD)
        reading = options.reading(self._passwords)
        intake = Intake(
            queue, made.model, sizes, (), report, self._progress, reading, limits=options.limits, source=source
        )
        try:
            intake.take(files)
        except KeyboardInterrupt:
            intake.commit_embedded()  # embedded passages are paid for
            raise
        finally:
            self.report.counts += tally.counts
            self.report.embedded += report.embedded

    def _publish(self) -> None:
        try:
            with open_writer(self._corpus) as writer:
                writer.publish(progress=partial(self._progress, "index"))
        except CorpusLockedError:
            time.sleep(_IDLE)  # another worker publishes; if it is killed, this one will
