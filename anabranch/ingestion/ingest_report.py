"""What a run of ingest tells: while it goes on, and at its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

Status = Literal["added", "updated", "unchanged", "removed", "skipped", "failed"]


class Progress(Protocol):
    """Told how far a run is: stage is 'files', 'passages' or 'index'."""

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None:
        """Show it."""
        ...


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

    `left` is how many of the files that were found an interrupted run has not finished.
    """

    rows: list[FileRow] = field(default_factory=list)
    seconds: float = 0.0
    embedded: int = 0
    interrupted: bool = False
    left: int = 0

    def count(self, status: Status) -> int:
        """Return how many files have that status."""
        return sum(row.status == status for row in self.rows)
