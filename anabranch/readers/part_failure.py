"""What a reader yields in place of a document that it had to leave out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """One part of a file that could not be read, while the rest of the file could.

    Attributes:
        source: Where it is, as a person would say it: `notes.jsonl:12` is line 12.
        reason: One word, from the same set as `ReadingError.reason`.
        message: What is wrong, on one line.
    """

    source: str
    reason: str
    message: str
