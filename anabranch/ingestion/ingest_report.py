"""The report of an ingest run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

MOST_FAILURES = 100
"""Failed parts that are listed per file: a million bad lines must not fill the memory or the screen."""

Status = Literal["added", "updated", "unchanged", "queued", "removed", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class FileRow:
    """The result of one file (or of one unreadable line of a JSONL file)."""

    source: str
    status: Status
    reason: str = ""
    documents: int = 0
    chunks: int = 0
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class IngestReport:
    """The results of a run; `rows` in the order of the files, removals last.

    `left` is the number of files that an interrupted run did not finish; `warnings` are about the run as a whole.
    `missing` is the number of documents that were kept though their files are gone, for they are most of the corpus.
    """

    rows: list[FileRow] = field(default_factory=list)
    seconds: float = 0.0
    embedded: int = 0
    interrupted: bool = False
    left: int = 0
    warnings: list[str] = field(default_factory=list)
    missing: int = 0

    def count(self, status: Status) -> int:
        """Return how many files have that status."""
        return sum(row.status == status for row in self.rows)


class Tally:
    """Collects the results of files in any order, and returns them in the order of the files."""

    def __init__(self) -> None:
        """Start empty."""
        self._rows: list[tuple[int, FileRow]] = []
        self._removed: list[FileRow] = []
        self._failures: Counter[int] = Counter()
        self._sources: dict[int, str] = {}
        self._finished: set[int] = set()

    @property
    def finished_files(self) -> int:
        """The number of files whose result is known."""
        return len(self._finished)

    def add(self, number: int, row: FileRow) -> None:
        """Add the result of the file with this number."""
        self._finished.add(number)
        self._rows.append((number, row))

    def remove(self, row: FileRow) -> None:
        """Add a removed file; these come last."""
        self._removed.append(row)

    def fail(self, number: int, source: str, reason: str, message: str) -> None:
        """Add a file that cannot be read; one of an unknown kind is `skipped`."""
        # A picture among notes is not a failure.
        status: Status = "skipped" if reason in ("unsupported", "limit") else "failed"
        self.add(number, FileRow(source, status, f"{reason}: {message}"))

    def fail_part(self, number: int, file: str, source: str, reason: str, message: str) -> None:
        """Add a part of a file that cannot be read; more than MOST_FAILURES are only counted."""
        self._failures[number] += 1
        if source == file:  # it is the whole file
            self._finished.add(number)
        self._sources[number] = file
        if self._failures[number] <= MOST_FAILURES:
            self._rows.append((number, FileRow(source, "failed", f"{reason}: {message}")))

    def rows(self) -> list[FileRow]:
        """Return all rows, by the number of their files."""
        rest = [
            (number, FileRow(self._sources[number], "failed", f"and {count - MOST_FAILURES} more of its parts"))
            for number, count in self._failures.items()
            if count > MOST_FAILURES
        ]
        # Sorted by the number alone, so that rows of one file keep their order.
        return [row for _, row in sorted([*self._rows, *rest], key=lambda numbered: numbered[0])] + self._removed
