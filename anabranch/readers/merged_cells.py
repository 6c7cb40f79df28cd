"""Put cells that span rows or columns into their places, so that each row of a table holds all its values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from anabranch.readers.table_blocks import CellTexts, filled_columns, glued_signs, names_columns

_MOST_COLUMNS = 100  # that one cell spans: it may claim any number
_LONGEST_REPEATED = 200  # characters of a cell that spans rows, to stand in each of them


class TableCell(NamedTuple):
    """A cell as a document has it.

    Attributes:
        text: What it says.
        across: How many columns it spans.
        down: How many rows it spans; 0 for a cell that goes on with the one above.
    """

    text: str
    across: int = 1
    down: int = 1


def lay_out(rows: Iterable[Iterable[TableCell]]) -> list[list[str | None]]:
    """Return the cells in their columns; what spans rows stands in each, and None continues the cell to its left."""
    table: list[list[str | None]] = []
    down: dict[int, tuple[int, str | None]] = {}  # by column, the last row of the cell that spans it, and its text
    for number, cells in enumerate(rows):
        row: list[str | None] = []
        for cell in cells:
            while down.get(len(row), (-1, None))[0] >= number:
                row.append(down[len(row)][1])
            above = table[-1] if table and not cell.down else []
            text = _repeated(above[len(row)]) or "" if len(row) < len(above) else cell.text
            for place in range(min(cell.across, _MOST_COLUMNS)):
                row.append(None if place else text)
                if cell.down > 1:
                    down[len(row) - 1] = (number + cell.down - 1, _repeated(row[-1]))
        for at in sorted(at for at, (last, _) in down.items() if row and at >= len(row) and last >= number):
            row += [""] * (at - len(row)) + [down[at][1]]
        table.append(row)
    return table


def _repeated(text: str | None) -> str | None:
    return "" if text and len(text) > _LONGEST_REPEATED else text


def under_spans(rows: Sequence[Sequence[str | None]]) -> list[list[str]]:
    """Return the rows of a table with each figure below the name that spans its column.

    Financial tables set a name over two columns or three, of which one holds figures and the others signs or space.

    Args:
        rows: None continues the cell before it.
    """
    plain = [glued_signs([cell or "" for cell in row]) for row in rows]
    figures = next((at for at, row in enumerate(plain) if not names_columns(row)), 0)
    first = next((at for at, row in enumerate(plain[:figures]) if _filled(row) >= 2), figures)
    # A name over several columns, or none over the first, has the names of the columns below it.
    last = first
    while last + 1 < figures and (None in rows[last] or not plain[last][0]) and _filled(plain[last + 1]) >= 2:
        last += 1
    if first == figures:
        return plain
    heads = rows[first : last + 1]
    used = sorted(
        {at for row in plain[last + 1 :] for at, cell in enumerate(row) if cell}
        | _unused_names(heads, plain[last + 1 :])
    )
    named = [_spread(row) for row in _moved(heads, used)]
    names = [" ".join(dict.fromkeys(row[at] for row in named if at < len(row) and row[at])) for at in used]
    below = [[row[at] if at < len(row) else "" for at in used] for row in plain[last + 1 :]]
    return [*plain[:first], names, *below]


def _filled(row: CellTexts) -> int:
    return sum(map(bool, row))


def _unused_names(heads: Sequence[Sequence[str | None]], below: Sequence[CellTexts]) -> set[int]:
    """Return where names stand that have nothing below them, nor stand below another; they shall not be lost."""
    used = set[int]().union(*map(filled_columns, below))
    spans = [span for row in heads for span in _spans(row)]
    told = used.union(*(span for span in spans if used & set(span)))
    return {span[0] for span in spans if not told & set(span)}


def _moved(heads: Sequence[Sequence[str | None]], used: Sequence[int]) -> list[list[str | None]]:
    """Return rows of names in which one beside its figures, under the same wider name, stands over them."""
    moved = [list(row) for row in heads]
    for number, row in enumerate(heads):
        for span in _spans(row):
            wider = (set(above) & {*used} for line in heads for above in _spans(line) if span[0] in above)
            places = set(span) & {*used} or set[int]().union(*wider)
            if (to := min(places, default=span[0])) not in span:
                line = moved[number] = [*moved[number], *[""] * (to + 1 - len(moved[number]))]
                line[to] = " ".join(filter(None, dict.fromkeys((row[span[0]], line[to]))))
    return moved


def _spans(row: Sequence[str | None]) -> Iterator[range]:
    """Yield the columns of each name."""
    places = [at for at, cell in enumerate(row) if cell is not None]
    yield from (range(at, end) for at, end in zip(places, [*places[1:], len(row)], strict=True) if row[at])


def _spread(row: Sequence[str | None]) -> list[str]:
    cells: list[str] = []
    for cell in row:
        cells.append(cells[-1] if cell is None and cells else cell or "")
    return cells


class MergedCells:
    """Repeats the value of a merged cell in each row that it spans, so that each row makes sense alone."""

    def __init__(self) -> None:
        """Start without a merged cell."""
        self._open: dict[int, tuple[int, str]] = {}

    def begin(self, column: int, last: int, text: str) -> None:
        """Take note of a cell that spans the rows up to `last`."""
        self._open[column] = (last, text)

    def fill_spans(self, row: Mapping[int, str], number: int) -> dict[int, str]:
        """Return a row, by column, with what the cells above it show in it too; only if it has a cell of its own."""
        if not row:
            return {}
        spanned = {column: text for column, (last, text) in self._open.items() if number <= last and text}
        return spanned | dict(row)


def cells_in_order(row: Mapping[int, str]) -> list[str]:
    """Return the cells of a row that is given by column, from 1."""
    return [row.get(column, "") for column in range(1, max(row, default=0) + 1)]
