"""The straight lines drawn on a page, and where they enclose a table: a lattice, or a stack of lines across.

A lattice is a set of rulings that touch each other. Nurminen (2013) finds tables in the same way, and so do Camelot and
pdfplumber; here the text of a cell may still lie in rows that nothing rules, which is for `page_tables` to find out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anabranch.readers.mupdf import Box
from anabranch_readers.page_contents import Shape

_THICKEST = 3.5  # points; a thicker bar is a filled area
_SHORTEST = 5.0  # points; shorter ones are ticks and underlined letters
_SAME_LINE = 1.5  # points by which the pieces of one rule may differ
_BREAK = 3.0  # points: a rule that is drawn cell by cell has gaps
_MOST_RULINGS = 6_000


class Ruling(NamedTuple):
    """A straight line along a side of the page, in points.

    Attributes:
        at: Its y where it runs across, its x where it runs down.
        start: Where it begins along its way.
        end: Where it ends.
    """

    at: float
    start: float
    end: float


class Rulings(NamedTuple):
    """The lines of a page that run across and those that run down, pieces of one line joined, in order of `at`."""

    across: tuple[Ruling, ...] = ()
    down: tuple[Ruling, ...] = ()


UNRULED = Rulings()


def rulings(shapes: Iterable[Shape]) -> Rulings:
    """Return the rulings among the shapes of a page: thin ones, and the sides of frames.

    A page with thousands of them is a drawing, and has none for us.
    """
    across: list[Ruling] = []
    down: list[Ruling] = []
    for shape in shapes:
        x0, y0, x1, y1 = shape["bbox"]
        width, height = x1 - x0, y1 - y0
        if height <= _THICKEST and width >= _SHORTEST:
            across.append(Ruling((y0 + y1) / 2, x0, x1))
        elif width <= _THICKEST and height >= _SHORTEST:
            down.append(Ruling((x0 + x1) / 2, y0, y1))
        elif shape["stroked"] and shape["isrect"] and min(width, height) > _THICKEST:
            across += [Ruling(y0, x0, x1), Ruling(y1, x0, x1)]
            down += [Ruling(x0, y0, y1), Ruling(x1, y0, y1)]
    if len(across) + len(down) > _MOST_RULINGS:
        return UNRULED
    return Rulings(_joined(across), _joined(down))


def _joined(pieces: Sequence[Ruling]) -> tuple[Ruling, ...]:
    """Put the pieces of one line together: on one height, and touching or nearly so."""
    levels: list[list[Ruling]] = []
    for piece in sorted(pieces):
        if levels and piece.at - levels[-1][0].at <= _SAME_LINE:
            levels[-1].append(piece)
        else:
            levels.append([piece])
    return tuple(ruling for level in levels for ruling in _whole(level))


def _whole(level: Sequence[Ruling]) -> list[Ruling]:
    at = level[len(level) // 2].at
    whole: list[Ruling] = []
    for piece in sorted(level, key=lambda piece: piece.start):
        if whole and piece.start - whole[-1].end <= _BREAK:
            whole[-1] = Ruling(at, whole[-1].start, max(whole[-1].end, piece.end))
        else:
            whole.append(Ruling(at, piece.start, piece.end))
    return whole


_TOUCH = 3.0  # points: rules that meet to the eye may end a little short
_NARROWEST, _LOWEST = 5.0, 4.0  # points; a narrower column or row is a double rule
_MOST, _MOST_CELLS = 1_500, 50_000  # rulings and cells, for time grows with their product
_SAME_END = 4.0  # points
_SEVERAL = 3  # one or two lines that begin anywhere divide a cell
_FAR = 0.3  # of the table: shorter ones divide single cells


class Grid(NamedTuple):
    """The lines between the columns and the rows of a table, its outer sides included, in points.

    Attributes:
        columns: The x of each, from left to right; the two sides alone where columns are not ruled.
        rows: The y of each, from the top.
        rulings: What is drawn, to tell a cell that spans several from those that do not.
    """

    columns: tuple[float, ...]
    rows: tuple[float, ...]
    rulings: Rulings

    @property
    def box(self) -> Box:
        """Its outer sides."""
        return self.columns[0], self.rows[0], self.columns[-1], self.rows[-1]


def grids(drawn: Rulings) -> list[Grid]:
    """Return the places on a page that may hold a table, smallest first, so that inner tables come before outer."""
    found = [*_lattices(drawn), *_stacks(drawn)]
    return sorted(found, key=lambda grid: (grid.box[2] - grid.box[0]) * (grid.box[3] - grid.box[1]))


def _lattices(drawn: Rulings) -> Iterator[Grid]:
    if len(drawn.down) < 1 or len(drawn.across) < 2 or len(drawn.across) + len(drawn.down) > _MOST:
        return
    for across, down in _touching(drawn):
        left, right = _ends(across)
        top, bottom = _ends(down)
        columns = _levels([*_long(down, bottom - top), left, right], _NARROWEST)
        rows = _levels([*_long(across, right - left), top, bottom, *_common_starts(down)], _LOWEST)
        if len(columns) >= 3 and len(rows) >= 2 and len(columns) * len(rows) <= _MOST_CELLS:
            yield Grid(columns, rows, Rulings(tuple(across), tuple(down)))


def _touching(drawn: Rulings) -> Iterator[tuple[list[Ruling], list[Ruling]]]:
    """Yield the sets of rulings that hang together."""
    across, down = np.array(drawn.across), np.array(drawn.down)
    # By a matrix: of thousands of rulings each pair has to be looked at.
    meets: NDArray[np.bool_] = (
        (across[:, None, 0] >= down[None, :, 1] - _TOUCH)
        & (across[:, None, 0] <= down[None, :, 2] + _TOUCH)
        & (down[None, :, 0] >= across[:, None, 1] - _TOUCH)
        & (down[None, :, 0] <= across[:, None, 2] + _TOUCH)
    )
    left = np.ones(len(across), dtype=np.bool_)
    while left.any():
        rows, columns = np.zeros(len(across), dtype=np.bool_), np.zeros(len(down), dtype=np.bool_)
        rows[left.argmax()] = True
        reached = 0
        while int(rows.sum()) > reached:
            reached = int(rows.sum())
            columns = np.asarray(meets[rows].any(axis=0))
            rows |= meets[:, columns].any(axis=1)
        left &= ~rows
        if columns.any() and reached > 1:
            yield [*compress(drawn.across, rows)], [*compress(drawn.down, columns)]


def _ends(lines: Sequence[Ruling]) -> tuple[float, float]:
    return min(line.start for line in lines), max(line.end for line in lines)


def _long(lines: Sequence[Ruling], whole: float) -> list[float]:
    """Return where lines go far along the table; those that do not are part of a drawing, or divide one cell."""
    lengths: dict[int, float] = defaultdict(float)
    for line in lines:
        lengths[round(line.at)] += line.end - line.start
    near = {at: sum(lengths.get(at + step, 0.0) for step in (-1, 0, 1)) for at in lengths}
    return [line.at for line in lines if near[round(line.at)] >= _FAR * whole]


def _common_starts(down: Sequence[Ruling]) -> list[float]:
    """Return the heights at which several lines begin: below a heading over several columns."""
    counts = Counter(round(line.start) for line in down)
    return [float(at) for at, count in counts.items() if count >= _SEVERAL]


def _levels(places: Sequence[float], least: float) -> tuple[float, ...]:
    """Return the places in order, those closer than `least` taken for one."""
    levels: list[float] = []
    for place in sorted(places):
        if not levels or place - levels[-1] > least:
            levels.append(place)
    return tuple(levels)


def _stacks(drawn: Rulings) -> Iterator[Grid]:
    """Yield what three lines across or more, of one length and with nothing running down, set apart."""
    if len(drawn.across) > _MOST:
        return
    stacks: list[list[Ruling]] = []
    for line in drawn.across:
        stack = next((stack for stack in stacks if _is_under(stack[-1], line)), None)
        if stack is None:
            stacks.append([line])
        else:
            stack.append(line)
    for stack in stacks:
        rows = _levels([line.at for line in stack], _LOWEST)
        sides = stack[0].start, stack[0].end
        if len(rows) >= 3 and not any(_crosses(line, sides, rows) for line in drawn.down):
            yield Grid(sides, rows, Rulings(tuple(stack), ()))


def _is_under(above: Ruling, line: Ruling) -> bool:
    return abs(above.start - line.start) <= _SAME_END and abs(above.end - line.end) <= _SAME_END


def _crosses(down: Ruling, sides: tuple[float, float], rows: Sequence[float]) -> bool:
    return sides[0] - _TOUCH <= down.at <= sides[1] + _TOUCH and down.start < rows[-1] and down.end > rows[0]


def origins(grid: Grid) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the upper left place of the cell that each place (row, column) of a grid belongs to.

    Two places side by side are one cell where no line is drawn between them; so are two cells above each other, if they
    are as wide.
    """
    across = {y: near(grid.rulings.across, y) for y in grid.rows}
    down = {x: near(grid.rulings.down, x) for x in grid.columns}
    origin: dict[tuple[int, int], tuple[int, int]] = {}
    above: dict[tuple[int, int], tuple[int, int]] = {}
    for row, (top, bottom) in enumerate(pairwise(grid.rows)):
        starts: dict[tuple[int, int], tuple[int, int]] = {}
        for first, last in _cells_across([down[x] for x in grid.columns[:-1]], (top + bottom) / 2):
            middle = (grid.columns[first] + grid.columns[last + 1]) / 2
            starts[first, last] = (
                (row, first) if is_drawn(across[top], middle) else above.get((first, last), (row, first))
            )
            origin.update({(row, column): starts[first, last] for column in range(first, last + 1)})
        above = starts
    return origin


def _cells_across(down: Sequence[Sequence[Ruling]], height: float) -> list[tuple[int, int]]:
    """Return the first and the last column of each cell at one height, from the lines at the left of each column."""
    cells: list[tuple[int, int]] = []
    for column, lines in enumerate(down):
        if cells and not is_drawn(lines, height):
            cells[-1] = (cells[-1][0], column)
        else:
            cells.append((column, column))
    return cells


def near(lines: Sequence[Ruling], at: float) -> list[Ruling]:
    """Return the lines that stand for one side of cells."""
    return [line for line in lines if abs(line.at - at) <= _NARROWEST]


def is_drawn(lines: Sequence[Ruling], along: float) -> bool:
    """Tell whether one of these lines passes a place on its way."""
    return any(line.start <= along <= line.end for line in lines)
