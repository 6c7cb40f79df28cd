"""Amounts in the rows of tables, which a model of meaning cannot read: to it they are pieces of digits at random.

Most tokens of such a row are digits, so that its vector depends little on what the row and its columns are called.
Without them the dense retriever finds the row by its names; BM25 searches the figures as well.
"""

from __future__ import annotations

import re

# With the signs of currencies, of losses in brackets, of shares and of bounds; a dash stands for no number.
_AMOUNT = re.compile(r"[-+−–(<>~≈$€£¥₩\s]*\d[\d.,'’\s]*[)%$€£¥₩\s]*|[-–—$€£¥₩\s]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ROW = re.compile(r"^\| .*\|$", re.MULTILINE)
_BAR = re.compile(r"(?<!\\)\|")


def without_amounts(text: str) -> str:
    """Return a text with its table rows, `| a | b |`, without the cells that are amounts or empty; years are names."""
    named = _ROW.sub(_names, text)
    return named if named.strip() else text


def _names(row: re.Match[str]) -> str:
    cells = (cell.strip() for cell in _BAR.split(row[0]))
    return " | ".join(cell for cell in cells if cell and (_YEAR.fullmatch(cell) or not _AMOUNT.fullmatch(cell)))
