"""Where the words stand that support a claim, and what a window shows of a passage."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.types import Chunk, Excerpt, Grade

# Characters of a quote that is shown.
LONGEST = 400


@dataclass(frozen=True, slots=True)
class CitationRecord:
    """Where the words stand that support a claim.

    Attributes:
        marker: Its number in the answer, from 1.
        number: Number of the passage in the windows.
        chunk_id: Id of the passage.
        claim: The claim, without markers.
        grade: How well it stands there.
        quote: The characters [start, end) of the passage.
        start: Start of the quote in the passage.
        end: End of the quote in the passage.
    """

    marker: int
    number: int
    chunk_id: str
    claim: str
    grade: Grade
    quote: str
    start: int
    end: int


def piece_of(chunk: Chunk, excerpt: Excerpt) -> str:
    """Return the characters of the chunk that an excerpt has; its bounds are positions in the document."""
    return chunk.text[max(excerpt["start"] - chunk.start, 0) : max(excerpt["end"] - chunk.start, 0)]
