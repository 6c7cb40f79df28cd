"""What the cells of a table on a page say, what heads its columns, and how a long table is written in parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, repeat, takewhile
from statistics import mean

from anabranch.readers.dehyphenation import join_all
from anabranch.readers.mupdf import PdfWord
from anabranch.readers.table_blocks import fits, markdown_rows, rows_under
from anabranch.text.normalization import squeeze
from anabranch_readers.page_contents import PageWords
from anabranch_readers.pdf_layout.text_lines import Line, with_whole_numbers
from anabranch_readers.pdf_layout.text_rows import as_row, rows

# One row of a table: what stands in each column.
Cells = list[list[Line]]
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


def cut(line: Line, edges: Sequence[float], words: PageWords) -> list[Line]:
    """Return a line cut at the edges (x in points) that it crosses, between words; whole where that fails.

    A word belongs where its middle is.
    """
    inner = [edge for edge in edges if line.x0 + 1 < edge < line.x1 - 1 and " " in line.text]
    found = words_of(line, words()) if inner else []
    bounds = [-1e6, *inner, 1e6]
    parts = [[word for word in found if start <= (word[0] + word[2]) / 2 < end] for start, end in pairwise(bounds)]
    return [_part(line, part) for part in parts if part] if found else [line]


def words_of(line: Line, words: Iterable[PdfWord]) -> list[PdfWord]:
    """Return the words that make up a line, nothing unless they say exactly what it says."""
    found = [
        word
        for word in words
        if line.y0 - 1 <= (word[1] + word[3]) / 2 <= line.y1 + 1 and word[0] >= line.x0 - 1 and word[2] <= line.x1 + 1
    ]
    said = "".join(squeeze(word[4]) for word in sorted(found))
    return sorted(found) if said.replace(" ", "") == line.text.replace(" ", "") else []


def _part(line: Line, words: Sequence[PdfWord]) -> Line:
    text = with_whole_numbers(squeeze(" ".join(word[4] for word in words)))
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


_MOST_HEADS = 6  # rows; with more, what looks like a header is the table
_LONGEST_NAME, _TERSE = 40, 0.7
_SHARED = 0.8
_YEAR = re.compile(r"(?:19|20)\d\d[*†]?")


@dataclass(frozen=True, slots=True)
class PdfTable(Line):
    """A table in the place of the lines it is made of; as a line it says all that its cells say.

    Attributes:
        cells: Row by row, all of one length.
        header: How many rows at the top name the columns.
        names: Of the columns: what all rows of the header say over each.
    """

    cells: tuple[tuple[str, ...], ...] = ()
    header: int = 0
    names: tuple[str, ...] = ()


def table(found: Sequence[Cells], words: frozenset[str], reach: Sequence[Sequence[int]] = ()) -> PdfTable | None:
    """Return the rows of a table as one, nothing if they are none: fewer than two rows or two columns that say a word.

    Args:
        found: Row by row, the lines in each cell.
        words: The vocabulary of the document, which decides on hyphens at line ends.
        reach: Row by row, for each column the one whose cell reaches over it; only known of tables with rulings, whose
            first row is taken for a header unless it has numbers.
    """
    rows = [(row, over) for row, over in zip(found, reach or repeat(()), strict=bool(reach)) if any(row)]
    kept = [at for at in range(len(found[0]) if found else 0) if any(row[at] for row, _ in rows)]
    if len(rows) < 2 or len(kept) < 2:
        return None
    said = [[text_of(cell, words) for cell in row] for row, _ in rows]
    cells = tuple(tuple(row[at] for at in kept) for row in said)
    lines = [line for row, _ in rows for cell in row for line in cell]
    bold = [all(line.bold for cell in row for line in cell) for row, _ in rows]
    header = _header(cells, bold, is_ruled=bool(reach))
    heads = [[row[at] for at in over or range(len(row))] for row, (_, over) in zip(said[:header], rows, strict=False)]
    return PdfTable(
        markdown_rows(cells),
        min(line.x0 for line in lines),
        min(line.y0 for line in lines),
        max(line.x1 for line in lines),
        max(line.y1 for line in lines),
        max(lines, key=lambda line: (line.size > 0, len(line.text))).size,
        cells=cells,
        header=header,
        names=tuple(" ".join(dict.fromkeys(filter(None, (row[at] for row in heads)))) for at in kept),
    )


def _header(cells: Sequence[Sequence[str]], bold: Sequence[bool], *, is_ruled: bool) -> int:
    """Return how many rows name the columns: bold ones, those without a label, then one of words above numbers."""
    heads = sum(1 for _ in takewhile(lambda row: _is_head(*row), zip(cells, bold, strict=True)))
    if heads > min(len(cells) - 1, _MOST_HEADS):
        heads = 0
    most = min(len(cells) - 1, _MOST_HEADS)
    while heads < most and _names_columns(cells[heads]) and _has_numbers(cells[heads + 1 :]):
        heads += 1
    return heads or int(is_ruled and len(cells) > 2 and _names_columns(cells[0]) and _is_terse(cells))


def _labelled(cells: Sequence[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
    """Return rows with the label of their group on each, wherever in the group it was set: above, or in its middle.

    A group begins where the second column begins again, and each has one label; else nothing is known of groups.
    """
    starts = [at for at, row in enumerate(cells) if row[1] and row[1] == cells[0][1]]
    groups = [cells[start:end] for start, end in pairwise([*starts, len(cells)])]
    labels = [[row[0] for row in group if row[0]] for group in groups]
    if len(groups) < 2 or len(groups) == len(cells) or any(len(each) != 1 for each in labels):
        return cells
    return [(label, *row[1:]) for (label,), group in zip(labels, groups, strict=True) for row in group]


def _is_head(row: Sequence[str], is_bold: bool) -> bool:
    return (is_bold or not row[0]) and not any(is_number(cell) and not _YEAR.fullmatch(cell) for cell in row)


def _names_columns(row: Sequence[str]) -> bool:
    """Tell a row of words, or of years, from one with other numbers in it; the label before them does not count."""
    return sum(map(bool, row)) > 1 and all(not is_number(cell) or _YEAR.fullmatch(cell) for cell in row[1:])


def _is_terse(cells: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row is clearly shorter than those below: the names of columns of prose."""
    lengths = [sum(map(len, row[1:])) for row in cells]
    return max(map(len, cells[0])) <= _LONGEST_NAME and lengths[0] < _TERSE * mean(lengths[1:])


def _has_numbers(rows: Sequence[Sequence[str]]) -> bool:
    cells = [cell for row in rows for cell in row[1:] if cell]
    return 2 * sum(is_number(cell) and not _YEAR.fullmatch(cell) for cell in cells) >= max(1, len(cells))


def continued(above: PdfTable, below: PdfTable) -> PdfTable | None:
    """Return the part of a table that stands on the next page with the header of the first, if that is what it is."""
    same = len(above.cells[0]) == len(below.cells[0])
    shared = min(above.x1, below.x1) - max(above.x0, below.x0)
    if not same or shared < _SHARED * max(above.x1 - above.x0, below.x1 - below.x0):
        return None
    header = above.cells[: above.header]
    if not header or below.header:
        return below if header and header == below.cells[: below.header] else None
    cells = (*header, *below.cells)
    return replace(below, text=markdown_rows(cells), cells=cells, header=above.header, names=above.names)


def texts(found: PdfTable) -> Iterator[str]:
    """Yield a table as Markdown, a long one in parts of about a leaf, each with the names of its columns."""
    rows = _labelled(found.cells[found.header :])
    if fits(found.cells):
        yield markdown_rows([*found.cells[: found.header], *rows])
    else:
        # A header of several rows is written once for all of them, in one: on each part it would take the room of rows.
        yield from rows_under(found.names if found.header else (), rows)
