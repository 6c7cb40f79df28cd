"""Rows put together into paragraphs and tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from anabranch.corpus.reading.joining import join_all
from anabranch.corpus.reading.layout.rows import Row

_LOOSE = 1.35
_LOOSE_TABLE = 2.2
_INDENT = 0.7
_ENDED = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*$")
_BULLET = re.compile(r"[•▪‣◦●○■]\s")
_ITEM = re.compile(r"(?:[•▪‣◦●○■–—*·-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)])\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Rows that belong together.

    Attributes:
        text: Prose on one line; a table with one line per row and a tab between cells.
        page: 1-based.
        size: Font size of most of it.
        bold: Whether all of it is bold.
        italic: Whether all of it is italic.
        rows: How many rows it covers.
        table: Whether it is a table.
    """

    text: str
    page: int
    size: float
    bold: bool
    italic: bool
    rows: int
    table: bool


def paragraphs(regions: Sequence[Sequence[Row]], page: int, words: frozenset[str]) -> list[Paragraph]:
    """Return the paragraphs of one page; one that runs on from a column into the next stays whole.

    Args:
        regions: Rows of each region, in reading order.
        page: 1-based number of the page.
        words: The document's vocabulary, which decides on hyphens at line ends.
    """
    groups: list[list[Row]] = []
    for region in regions:
        found = _groups(region)
        if groups and found and _runs_on(groups[-1], found[0]):
            groups[-1] = groups[-1] + found.pop(0)
        groups += found
    return [_paragraph(group, page, words) for group in groups]


def _groups(region: Sequence[Row]) -> list[list[Row]]:
    tabular = _tabular(region)
    pitch = _pitch(region)
    groups: list[list[Row]] = []
    for at, row in enumerate(region):
        if at and not _starts(region[at - 1], row, tabular[at - 1], tabular[at], pitch):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _tabular(region: Sequence[Row]) -> list[bool]:
    """Mark the rows of tables: those with cells, a lone row between two of them, and a caption over its columns."""
    cells = [row.cells >= 2 for row in region]
    left = min((row.x0 for row in region), default=0.0)

    def belongs(at: int) -> bool:
        row, before, after = region[at], at > 0 and cells[at - 1], at + 1 < len(cells) and cells[at + 1]
        over_columns = row.x0 > left + 3 * row.size and len(row.text.split()) <= 8
        return cells[at] or (after and (before or over_columns))

    return [belongs(at) for at in range(len(cells))]


def _pitch(region: Sequence[Row]) -> float:
    """Return the usual distance from one row to the next as a multiple of the font size."""
    steps = [(below.y0 - above.y0) / above.size for above, below in pairwise(region) if above.size]
    close = [step for step in steps if 0 < step < 2.5]
    return median(close) if close else 1.2


def _starts(above: Row, row: Row, was_table: bool, is_table: bool, pitch: float) -> bool:
    step = (row.y0 - above.y0) / max(above.size, row.size, 0.1)
    if was_table and is_table:
        return step > _LOOSE_TABLE * pitch
    if was_table != is_table or step > _LOOSE * min(pitch, 1.6) or _other_style(above, row):
        return True
    if above.bold and _ENDED.search(above.text):  # a heading that ends in a full stop, then the next heading
        return True
    if _BULLET.match(row.text) or (_ITEM.match(row.text) and (_ITEM.match(above.text) or _ENDED.search(above.text))):
        return True
    indented = row.x0 - above.x0 > _INDENT * row.size
    return indented and bool(_ENDED.search(above.text))


def _other_style(above: Row, row: Row) -> bool:
    return abs(above.size - row.size) > 0.08 * max(above.size, row.size) or above.bold != row.bold


def _runs_on(before: Sequence[Row], after: Sequence[Row]) -> bool:
    last, first = before[-1], after[0]
    prose = last.cells == 1 and first.cells == 1 and not _other_style(last, first)
    return prose and not _ENDED.search(last.text) and first.text[0].islower()


def _paragraph(group: Sequence[Row], page: int, words: frozenset[str]) -> Paragraph:
    table = any(row.cells >= 2 for row in group)
    texts = [row.text for row in group]
    text = "\n".join(texts) if table else join_all(texts, words)
    longest = max(group, key=lambda row: len(row.text))
    return Paragraph(
        text, page, longest.size, all(row.bold for row in group), all(row.italic for row in group), len(group), table
    )
