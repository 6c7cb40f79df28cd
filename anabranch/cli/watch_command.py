"""`anabranch ingest --watch` for the command line: a line for each file that changed, until Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from anabranch.cli.failures import INTERRUPTED, paragraph
from anabranch.cli.ingest_view import MAX_FINE, STYLES, counts_of, remark_on
from anabranch.cli.output import notes, results, say, write_json
from anabranch.errors import CorpusLockedError, OperationError, SettingsError, UserError
from anabranch.ingestion.file_watcher import changes
from anabranch.ingestion.pipeline import FileRow, IngestReport
from anabranch.text.normalization import squeeze

AGAIN = 1.0
"""Seconds between two tries while another process writes."""

PAUSE = 15.0
"""Seconds between two tries after a failure that may pass: a full disk, a model server that is down."""


def keep_watching(
    ingest: Callable[..., IngestReport], paths: Sequence[Path | str], corpus: str, *, as_json: bool
) -> int:
    """Take the files in, then again whenever they change; return the exit code of a Ctrl-C, which is the way to end it.

    Args:
        ingest: With its options.
        paths: Files, folders and addresses.
        corpus: Address of the corpus.
        as_json: Whether to print JSON.

    Raises:
        SettingsError: There is nothing to watch among the paths.
        UserError: A path does not exist, or the corpus is of another kind than asked for.
        OperationError: The first run failed, or the folders cannot be watched.
    """
    watched = [path for path in paths if isinstance(path, Path)]
    if not watched:
        raise SettingsError("--watch needs a file or a folder to watch.", hint="Leave it out for web pages.")
    runs = _Runs(partial(ingest, corpus=corpus), as_json=as_json)
    try:
        for _ in changes(watched, skip=Path(corpus), told=_note):
            # Web pages are fetched once; a single file may be gone for good.
            runs.take(paths if runs.is_first else [path for path in watched if path.exists()])
            if runs.interrupted:
                break
    except KeyboardInterrupt:
        pass
    _note("Stopped watching. The corpus is good and holds what was finished.")
    return INTERRUPTED


def _note(said: str) -> None:
    say(notes(), said)


class _Runs:
    """What was told so far, so that nothing is told twice."""

    def __init__(self, ingest: Callable[..., IngestReport], *, as_json: bool) -> None:
        self._ingest = ingest
        self._as_json = as_json
        self._troubles: set[tuple[str, str]] = set()
        self.is_first = True
        self.interrupted = False

    def take(self, paths: Sequence[Path | str]) -> None:
        """Ingest until it works, and tell what became of the files that changed."""
        said = ""
        while True:
            try:
                report = self._ingest(paths)
            except CorpusLockedError as error:
                if error.message != said:
                    _note(f"{error.message} Waiting for it to end.")
                said = error.message
                time.sleep(AGAIN)
            except (UserError, OperationError) as error:
                if self.is_first:
                    raise
                _note(f"error: {paragraph(error)}")
                # Trying again would fail again, until the user changes something and so wakes the watcher.
                if isinstance(error, UserError):
                    return
                time.sleep(PAUSE)
            else:
                self._tell(report, paths)
                return

    def _tell(self, report: IngestReport, paths: Sequence[Path | str]) -> None:
        rows = [row for row in report.rows if self._is_news(row)]
        self._troubles = {(row.source, row.reason) for row in report.rows if row.status in ("failed", "skipped")}
        if self._as_json:
            if rows or self.is_first:
                write_json([asdict(row) for row in rows])
        else:
            _print(rows)
        if self.is_first and not report.interrupted:
            _note(f"Watching {', '.join(str(path) for path in paths)}. Ctrl-C ends it.")
        self.is_first = False
        self.interrupted = report.interrupted

    def _is_news(self, row: FileRow) -> bool:
        return row.status != "unchanged" and (row.source, row.reason) not in self._troubles


def _print(rows: Sequence[FileRow]) -> None:
    fine = [row for row in rows if row.status not in ("failed", "skipped")]
    clock = time.strftime("%H:%M:%S")
    for row in rows if len(fine) <= MAX_FINE else [row for row in rows if row not in fine]:
        line = squeeze(": ".join(part for part in (row.source, remark_on(row)) if part))
        say(results(), f"{clock}  {row.status:<9} {line}", style=STYLES.get(row.status))
    if len(fine) > MAX_FINE:
        say(results(), f"{clock}  {counts_of(fine)}")
