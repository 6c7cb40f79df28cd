"""Judgements in a Markdown table, by the names of its columns: a column of ranks must not be read as passages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from anabranch.parsing.relevance.score_words import DOC, SCORE, document_of, score_of

MAX_ROWS = 1_000

_DOC_COLUMN = re.compile(rf"{DOC}\b", re.IGNORECASE)
_SCORE_COLUMN = re.compile(rf"(?:\w+ )?{SCORE}\b", re.IGNORECASE)


def from_table(text: str) -> Iterator[tuple[int, float | None]]:
    """Yield (number of the passage, relevance) from the rows below a header that names both columns."""
    columns: tuple[int, int] | None = None
    for line in text.splitlines()[:MAX_ROWS]:
        cells = _cells(line)
        if len(cells) < 2:
            columns = None
        elif columns is None:
            columns = _columns(cells)
        elif len(cells) > max(columns) and (doc := document_of(cells[columns[0]])) is not None:
            yield doc, score_of(cells[columns[1]])


def _cells(line: str) -> list[str]:
    if "|" not in line:
        return []
    return [cell.strip(" \t*`_") for cell in line[:1_000].strip().strip("|").split("|")]


def _columns(cells: list[str]) -> tuple[int, int] | None:
    doc = next((place for place, cell in enumerate(cells) if _DOC_COLUMN.match(cell)), None)
    score = next((place for place, cell in enumerate(cells) if place != doc and _SCORE_COLUMN.match(cell)), None)
    return (doc, score) if doc is not None and score is not None else None
