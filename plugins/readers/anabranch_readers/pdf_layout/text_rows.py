"""Rows of a PDF page: lines on one baseline, with their cells in the order in which their script is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from anabranch_readers.pdf_layout.text_lines import Line

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_CELL_GAP = 2.0  # times the type size: wider than between justified words
_MARKER = re.compile(r"[•▪‣◦●○■–—*·-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextRow:
    """One row across a region.

    Attributes:
        text: Cells in reading order, tab between cells, space between words.
        x0: Left edge in points.
        y0: Top in points.
        x1: Right edge.
        size: Font size of its longest line.
        bold: Whether all of it is bold.
        italic: Whether all of it is italic.
        cells: How many cells a wide gap sets apart.
        lines: What it is made of.
        lead: How many of its first characters are set in bold or in italics.
    """

    text: str
    x0: float
    y0: float
    x1: float
    size: float
    bold: bool
    italic: bool
    cells: int
    lines: tuple[Line, ...]
    lead: int = 0


def rows(lines: Sequence[Line]) -> list[TextRow]:
    """Return the rows of a region, top to bottom. A line joins the row whose first line spans its middle."""
    grouped: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.y0, line.x0)):
        middle = (line.y0 + line.y1) / 2
        if grouped and grouped[-1][0].y0 <= middle <= grouped[-1][0].y1:
            grouped[-1].append(line)
        else:
            grouped.append([line])
    return [as_row(group) for group in grouped]


def as_row(lines: Sequence[Line]) -> TextRow:
    """Return lines of one baseline as a row, from the side on which their script begins."""
    if len(lines) == 1:
        (line,) = lines
        return TextRow(line.text, line.x0, line.y0, line.x1, line.size, line.bold, line.italic, 1, (line,), line.lead)
    backwards = runs_backwards(lines)
    ordered = sorted(lines, key=lambda line: -line.x1 if backwards else line.x0)
    text, cells = ordered[0].text, 1
    for left, right in pairwise(ordered):
        gap = left.x0 - right.x1 if backwards else right.x0 - left.x1
        # The marker of a list item stands off from its text as far as one cell from another.
        wide = gap > _CELL_GAP * max(left.size, right.size) and not (
            left is ordered[0] and _MARKER.fullmatch(left.text)
        )
        text += ("\t" if wide else " ") + right.text
        cells += wide
    return TextRow(
        text,
        min(line.x0 for line in ordered),
        ordered[0].y0,
        max(line.x1 for line in ordered),
        max(ordered, key=lambda line: len(line.text)).size,
        all(line.bold for line in ordered),
        all(line.italic for line in ordered),
        cells,
        tuple(ordered),
        _lead(ordered),
    )


def _lead(ordered: Sequence[Line]) -> int:
    """Return the lead of a row: that of its first line, and where all of this is emphasised, of the next one, too."""
    length = 0
    for line in ordered:
        length += line.lead
        if line.lead < len(line.text):
            return length
        length += 1
    return max(0, length - 1)


def runs_backwards(lines: Sequence[Line]) -> bool:
    """Tell lines in Arabic, Hebrew and other scripts that run from right to left."""
    text = "".join(line.text for line in lines)
    return not text.isascii() and len(_RIGHT_TO_LEFT.findall(text)) > 0.5 * len(text)
