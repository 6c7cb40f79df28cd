"""Removes amounts from the rows of tables, because an embedding model cannot read them.

Most tokens of such a row are digits, so its vector depends little on the names of the row and its columns. Without the
amounts, the dense retriever finds the row by its names; BM25 searches the figures, too.
"""

from __future__ import annotations

import re

# With signs of currencies, percentages and bounds, and losses in brackets; a dash means no number.
_AMOUNT = re.compile(r"[-+−–(<>~≈$€£¥₩\s]*\d[\d.,'’\s]*[)%$€£¥₩\s]*|[-–—$€£¥₩\s]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ROW = re.compile(r"^\| .*\|$", re.MULTILINE)
_BAR = re.compile(r"(?<!\\)\|")


def without_amounts(text: str) -> str:
    """Return a text whose table rows, `| a | b |`, have no cells that are amounts or empty; years stay."""
    named = _ROW.sub(_names, text)
    return named if named.strip() else text


def _names(row: re.Match[str]) -> str:
    cells = (cell.strip() for cell in _BAR.split(row[0]))
    return " | ".join(cell for cell in cells if cell and (_YEAR.fullmatch(cell) or not _AMOUNT.fullmatch(cell)))
