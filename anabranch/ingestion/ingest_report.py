"""What a run of ingest tells: while it goes on, and at its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

MOST_FAILURES = 100
"""Parts of one file that are listed one by one: a million bad lines must not fill memory, nor somebody's screen."""

Status = Literal["added", "updated", "unchanged", "queued", "removed", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class FileRow:
    """What became of one file (or of one unreadable line of a JSONL file)."""

    source: str
    status: Status
    reason: str = ""
    documents: int = 0
    chunks: int = 0
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class IngestReport:
    """What a run did; `rows` in the order of the files, removals last.

    `left` is how many of the files that were found an interrupted run has not finished; `warnings` are of the run as a
    whole.
    """

    rows: list[FileRow] = field(default_factory=list)
    seconds: float = 0.0
    embedded: int = 0
    interrupted: bool = False
    left: int = 0
    warnings: list[str] = field(default_factory=list)

    def count(self, status: Status) -> int:
        """Return how many files have that status."""
        return sum(row.status == status for row in self.rows)


class Tally:
    """Collects what became of each file, in the order of the files, however late it is known."""

    def __init__(self) -> None:
        """Start empty."""
        self._rows: list[tuple[int, FileRow]] = []
        self._removed: list[FileRow] = []
        self._failures: Counter[int] = Counter()
        self._sources: dict[int, str] = {}
        self._settled: set[int] = set()

    @property
    def settled(self) -> int:
        """Of how many files it was told what became of them as a whole."""
        return len(self._settled)

    def add(self, number: int, row: FileRow) -> None:
        """Tell what became of the file of that number."""
        self._settled.add(number)
        self._rows.append((number, row))

    def remove(self, row: FileRow) -> None:
        """Tell of a file that is gone; these come last."""
        self._removed.append(row)

    def fail(self, number: int, source: str, reason: str, message: str) -> None:
        """Tell that a file cannot be read; one of an unknown kind is `skipped`."""
        # A picture beside the notes is no failure, and makes no exit code.
        status: Status = "skipped" if reason in ("unsupported", "limit") else "failed"
        self.add(number, FileRow(source, status, f"{reason}: {message}"))

    def fail_part(self, number: int, file: str, source: str, reason: str, message: str) -> None:
        """Tell that a part of a file cannot be read; past MOST_FAILURES they are counted."""
        self._failures[number] += 1
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
        # By the number alone: rows of one file stay as they came.
        return [row for _, row in sorted([*self._rows, *rest], key=lambda numbered: numbered[0])] + self._removed
