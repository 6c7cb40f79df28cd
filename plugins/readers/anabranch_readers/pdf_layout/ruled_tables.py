"""Tables that rulings enclose, taken out of the lines of a page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile

from anabranch_readers.page_contents import PageWords
from anabranch_readers.pdf_layout.page_tables import (
    Cells,
    PdfTable,
    by_baseline,
    cut,
    has_several_rows,
    is_number,
    says_enough,
    table,
)
from anabranch_readers.pdf_layout.table_grid import Grid, Rulings, grids, is_drawn, near, origins
from anabranch_readers.pdf_layout.text_lines import Line
from anabranch_readers.pdf_layout.text_rows import TextRow, as_row, rows
from anabranch_readers.pdf_layout.whitespace_tables import Column, columns, into_columns, unwrapped

_LONGEST_CELL = 2_000  # characters; a frame with more is a box around prose
_FEWEST_FILLED, _FEWEST_OF_PLACES = 0.45, 0.25  # drawings are mostly empty
_TABULAR = 0.6  # share of rows with several cells; prose between rules has fewer


def with_tables(drawn: Rulings, lines: Sequence[Line], vocabulary: frozenset[str], words: PageWords) -> list[Line]:
    """Return the lines of a page with those inside a ruled table replaced by the table."""
    left = list(lines)
    for grid in grids(drawn):
        inside = [line for line in left if _is_inside(line, grid)]
        # What holds a table is its frame, or the layout of the page.
        if len(inside) < 2 or any(isinstance(line, PdfTable) for line in inside):
            continue
        cells, reach = _filled(grid, inside, words)
        captions = [*takewhile(_is_caption, cells)]
        found = table(cells[len(captions) :], vocabulary, reach[len(captions) :])
        if found and _is_data(found, len(cells) * (len(grid.columns) - 1)):
            gone = {id(line) for line in inside}
            left = [line for line in left if id(line) not in gone]
            left += [*(line for row in captions for line in row[0]), found]
    return left


def _is_caption(row: Cells) -> bool:
    return bool(row[0]) and not any(row[1:])


def _is_inside(line: Line, grid: Grid) -> bool:
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    left, top, right, bottom = grid.box
    return left <= x <= right and top <= y <= bottom


def _is_data(found: PdfTable, places: int) -> bool:
    """Tell a table from a drawing with a few letters in it, and from prose in frames.

    Args:
        found: The table without its empty rows and columns.
        places: How many cells are drawn.
    """
    cells = [cell for row in found.cells for cell in row]
    filled = [cell for cell in cells if cell]
    several = sum(sum(map(bool, row)) > 1 for row in found.cells)
    return (
        max(map(len, filled)) <= _LONGEST_CELL
        and len(filled) >= max(_FEWEST_FILLED * len(cells), _FEWEST_OF_PLACES * places)
        and says_enough(filled)
        and 2 * several >= len(found.cells)
    )


def _filled(grid: Grid, inside: Sequence[Line], words: PageWords) -> tuple[list[Cells], list[Sequence[int]]]:
    """Return the rows of a table, and for each column of each row the one whose cell reaches over it."""
    if len(grid.columns) == 2:
        found = _in_stack(grid, inside, words)
        return found, [range(len(row)) for row in found]
    cells: list[Cells] = []
    reach: list[Sequence[int]] = []
    for band, over in _in_lattice(grid, inside, words):
        texts = by_baseline(band)
        own = texts if has_several_rows(texts) else [band]
        cells += own
        reach += [over] * len(own)
    return cells, reach


def _in_lattice(grid: Grid, inside: Sequence[Line], words: PageWords) -> list[tuple[Cells, Sequence[int]]]:
    origin = origins(grid)
    width = len(grid.columns) - 1
    bands: list[Cells] = [[[] for _ in range(width)] for _ in grid.rows[1:]]
    drawn = {x: near(grid.rulings.down, x) for x in grid.columns[1:-1]}
    for line in inside:
        middle = (line.y0 + line.y1) / 2
        crossed = [x for x in drawn if line.x0 < x < line.x1]
        edges = [x for x in crossed if is_drawn(drawn[x], middle)]
        for part in cut(line, edges, words):
            row, column = origin[_place(middle, grid.rows), _place((part.x0 + part.x1) / 2, grid.columns)]
            bands[row][column].append(part)
    return [(band, [origin[row, column][1] for column in range(width)]) for row, band in enumerate(bands)]


def _place(at: float, levels: Sequence[float]) -> int:
    return next((place for place, (_, end) in enumerate(pairwise(levels)) if at <= end), len(levels) - 2)


def _in_stack(grid: Grid, inside: Sequence[Line], words: PageWords) -> list[Cells]:
    """Return the rows between lines that run across; nothing where the text between them stands in no columns."""
    found = rows(inside)
    made = columns(found)
    cells = [into_columns(row, made, words) for row in found] if len(made) > 1 else []
    tabular = [row for row in cells if sum(map(bool, row)) > 1]
    labelled = [row for row in cells if row[0] and not is_number(as_row(row[0]).text)]
    if not cells or len(tabular) < _TABULAR * len(cells) or len(labelled) < len(cells) / 4:
        return []
    bands: dict[int, list[tuple[TextRow, Cells]]] = {}
    for row, each in zip(found, cells, strict=True):
        bands.setdefault(_place(row.y0 + 0.5 * row.size, grid.rows), []).append((row, each))
    return [row for band in bands.values() for row in _in_band(band, made)]


def _in_band(band: Sequence[tuple[TextRow, Cells]], made: Sequence[Column]) -> list[Cells]:
    """Return the rows of a table between two lines: one, unless several have a label or numbers of their own."""
    cells = [each for _, each in band]
    if sum(bool(row[0]) for row in cells) <= 1 and not has_several_rows(cells):
        return [[[line for row in cells for line in row[at]] for at in range(len(made))]]
    return unwrapped([row for row, _ in band], cells, made)
