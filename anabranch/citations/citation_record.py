"""The evidence of a claim, and the words of an excerpt."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.types import Chunk, Excerpt, Grade

# Most characters of a quote that are shown.
LONGEST = 400


@dataclass(frozen=True, slots=True)
class CitationRecord:
    """The words that support a claim, and their place.

    Attributes:
        marker: Its number in the answer, from 1.
        number: Number of the passage in the windows.
        chunk_id: Id of the passage.
        claim: The claim, without markers.
        grade: The grade of the claim.
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
    """Return the characters of a chunk that an excerpt shows; excerpts count characters of the document."""
    return chunk.text[max(excerpt["start"] - chunk.start, 0) : max(excerpt["end"] - chunk.start, 0)]
