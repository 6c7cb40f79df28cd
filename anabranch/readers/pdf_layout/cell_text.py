"""Words put into the columns of a table, and the rows of text that one cell wraps over told from the table's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from anabranch.readers.dehyphenation import join_all
from anabranch.readers.pdf_layout.mupdf import Word
from anabranch.readers.pdf_layout.table_rows import as_row, rows
from anabranch.readers.pdf_layout.text_lines import Line
from anabranch.text.normalization import squeeze

Words = Callable[[], Sequence[Word]]
"""The words of a page with their places; asked for only when a line has to be cut."""

Cells = list[list[Line]]
"""One row of a table: what stands in each column."""

_NUMBER = re.compile(r"[\s$€£¥₩(+−–—<>~≈*-]*\d[\d.,:/\s'’]*(?:[\s%)*†‡§¹²³kKMBTx]|bn|pp)*|[-–—]|n/?a", re.IGNORECASE)

_WORD = re.compile(r"[^\W\d_]{3}|\d{2}|[\u2e80-\ud7ff]{2}")

_FEWEST_WORDED, _SAYING = 2, 0.6


def is_number(text: str) -> bool:
    """Tell whether a cell holds a number, an amount, a share, a date in digits, or the dash that stands for none."""
    return bool(_NUMBER.fullmatch(text))


def says_enough(filled: Sequence[str]) -> bool:
    """Tell the cells of a table, which hold words and numbers, from formulas and the labels of a drawing."""
    numbers = sum(map(is_number, filled))
    worded = sum(bool(_WORD.search(text)) and not is_number(text) for text in filled)
    return worded >= _FEWEST_WORDED and worded + numbers >= _SAYING * len(filled)


def cut(line: Line, edges: Sequence[float], words: Words) -> list[Line]:
    """Return a line cut at the edges (x in points) that it crosses, between words; whole where that fails.

    A word belongs where its middle is.
    """
    inner = [edge for edge in edges if line.x0 + 1 < edge < line.x1 - 1 and " " in line.text]
    found = _words_of(line, words()) if inner else []
    bounds = [-1e6, *inner, 1e6]
    parts = [[word for word in found if start <= (word[0] + word[2]) / 2 < end] for start, end in pairwise(bounds)]
    return [_part(line, part) for part in parts if part] if found else [line]


def _words_of(line: Line, words: Iterable[Word]) -> list[Word]:
    """Return the words that make up a line, nothing unless they say exactly what it says."""
    found = [
        word
        for word in words
        if line.y0 - 1 <= (word[1] + word[3]) / 2 <= line.y1 + 1 and word[0] >= line.x0 - 1 and word[2] <= line.x1 + 1
    ]
    said = "".join(squeeze(word[4]) for word in sorted(found))
    return sorted(found) if said.replace(" ", "") == line.text.replace(" ", "") else []


def _part(line: Line, words: Sequence[Word]) -> Line:
    text = squeeze(" ".join(word[4] for word in words))
    return replace(line, text=text, x0=words[0][0], x1=words[-1][2])


def text_of(lines: Sequence[Line], vocabulary: frozenset[str]) -> str:
    """Return what one cell says: its rows joined, on one line."""
    if len(lines) == 1:
        return lines[0].text
    upright = [line for line in lines if line.size]
    said = [row.text.replace("\t", " ") for row in rows(upright)]
    return join_all([*said, *(line.text for line in lines if not line.size)], vocabulary)


def by_baseline(band: Cells) -> list[Cells]:
    """Return a band of a table as the rows of text in it, from the top."""
    column_of = {id(line): at for at, cell in enumerate(band) for line in cell}
    lines = [line for cell in band for line in cell]
    found = [_into_columns(row.lines, column_of, len(band)) for row in rows([line for line in lines if line.size])]
    sideways = [line for line in lines if not line.size]
    return [_into_columns(sideways, column_of, len(band)), *found] if sideways else found


def _into_columns(lines: Sequence[Line], column_of: Mapping[int, int], width: int) -> Cells:
    cells: Cells = [[] for _ in range(width)]
    for line in lines:
        cells[column_of[id(line)]].append(line)
    return cells


def has_several_rows(band: Sequence[Cells]) -> bool:
    """Tell whether the rows of text in one band are rows of the table: numbers below numbers in two columns or more."""
    columns = [[cell for cell in column if cell] for column in zip(*band, strict=True)]
    filled = [column for column in columns if len(column) >= 2]
    numeric = [column for column in filled if sum(is_number(as_row(cell).text) for cell in column) >= 2]
    return len(filled) >= 2 and bool(numeric)
