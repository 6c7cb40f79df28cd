"""Write tables as text: as Markdown rows, and long ones so that a passage of one row makes sense alone.

Rows of a long table go into small Markdown tables, each with the header repeated; a row too wide for that is written
as `name: value` lines. How large a passage will be is not known here, so that a table is kept to what the smallest
usual one holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_BUDGET = 120  # tokens: the smallest usual passage has 128
_LONGEST_NAME = 100  # characters; a longer header is cut, for it stands on every line
_LONGEST_KEY = 60  # of the first cell, where it begins each text of a wide row
_NUMBER = re.compile(
    r"[-+(~<>=]{0,2}[$€£¥]?[-(]?\s?\d[\d.,'’\s]*(?:[eE][-+]?\d+)?\)?\s?[%€$£¥]?"
    r"|\d{4}-\d\d?(?:-\d\d?)?(?:[T ].*)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?: .*)?|\d{1,3}:\d\d(?::\d\d)?(?:\.\d+)?"
)
_TOKEN = re.compile(r"[A-Za-z]{1,6}|\d{1,2}|\S")
_BAR = re.compile(r"(?<!\\) \| ")
_MOST_NOTES = 12  # rows above a table
_YEAR = re.compile(r"(?:19|20)\d\d")


# One row of a table; empty where there is nothing.
CellTexts = Sequence[str]


def table_texts(rows: Iterable[CellTexts]) -> Iterator[str]:
    """Yield the texts of the rows of a sheet, in order and a few rows at a time, whatever their number.

    The first row of two cells or more is the header, unless all its cells are numbers; rows of one cell above it are
    captions, and so are notes in several cells with gaps above a full row of words. After an empty row, a row of words
    where numbers stood, or in other columns, is the next table's header.

    Args:
        rows: Cells as text, empty where there is nothing; their lengths may differ.
    """
    table = _TableWriter()
    for row in _with_notes_joined(rows):
        yield from table.take(row)
    yield from table.end()


def rows_under(header: CellTexts, rows: Iterable[CellTexts]) -> Iterator[str]:
    """Yield the texts of the rows of one table whose header is known; empty for a table without one."""
    table = _TableWriter()
    table.name(list(header))
    table.is_told = not header
    for row in rows:
        yield from table.add(row)
    yield from table.end()


def table_parts(rows: Sequence[CellTexts]) -> Iterator[str]:
    """Yield a table that stands among text: whole where it is short, else a few rows at a time with their header."""
    if fits(rows):
        text = markdown_rows(rows)
        if text:
            yield text
    else:
        yield from table_texts(rows)


def nameless_parts(rows: Iterable[CellTexts]) -> Iterator[str]:
    """Yield a table that says that it has no header, an option list for instance: a line for each row."""
    lines: list[str] = []
    for row in rows:
        first, *rest = [" ".join(cell.split()) for cell in row if cell] or [""]
        line = f"{first}: {'; '.join(rest)}" if rest else first
        if lines and _cost([*lines, line]) > _BUDGET:
            yield "\n".join(lines)
            lines = []
        lines += [line] if line else []
    if lines:
        yield "\n".join(lines)


def fits(rows: Iterable[CellTexts]) -> bool:
    """Tell whether a table is short enough for one text."""
    return sum(map(_cost, rows)) <= _BUDGET


def _with_notes_joined(rows: Iterable[CellTexts]) -> Iterator[CellTexts]:
    """Yield the rows of a sheet, with the notes above a table in one cell each, as a caption stands."""
    waiting: list[CellTexts] = []
    is_above = True
    for row in rows:
        if is_above and any(row) and not _has_number(row) and len(waiting) < _MOST_NOTES:
            waiting.append(row)
            continue
        if is_above:
            notes = _count_notes(waiting, row)
            yield from ([" ".join(filter(None, note))] for note in waiting[:notes])
            yield from waiting[notes:]
            waiting = []
        is_above = not any(row)
        yield row
    yield from waiting


def _count_notes(words: Sequence[CellTexts], figures: CellTexts) -> int:
    """Return how many rows of words are notes above the header of a table whose first row of figures is given.

    The header is the first that is as full as the figures. A row above it that lacks the first cell alone, or that the
    next one goes on, is a line of the header.
    """
    columns = filled_columns(figures)
    full = next((at for at, row in enumerate(words) if len(columns) > 1 and columns <= filled_columns(row)), 0)
    heads = [row for row in words[: full + 1] if len(filled_columns(row)) > 1]
    is_of_two = len(heads) == 2 and _goes_on(heads[1], heads[0])
    is_header = any(columns - {min(columns)} <= filled_columns(row) for row in heads[:-1])
    return 0 if is_of_two or is_header else full


class _TableWriter:
    """The table that rows are being added to.

    Attributes:
        header: The names of its columns; None before there is one, empty where a table has none.
        header_cost: About how many tokens they have.
        is_new: Whether an empty row, a caption or nothing stands above the next row.
        is_told: Whether the header has been written with some row.
        is_double: Whether the header was made of two rows.
        has_numbers: Whether one of its rows has.
        captions: Lines of one cell that wait.
        group: Rows that wait.
        cost: About how many tokens those have.
    """

    def __init__(self) -> None:
        self.header: list[str] | None = None
        self.header_cost = 0
        self.is_new = True
        self.is_told = True
        self.is_double = False
        self.has_numbers = False
        self.captions: list[str] = []
        self.group: list[CellTexts] = []
        self.cost = 0

    def take(self, row: CellTexts) -> Iterator[str]:
        filled = [cell for cell in row if cell]
        if not filled:
            self.is_new = True
        # A cell alone above a table is a caption, unless it is a figure, which belongs to a column.
        elif self.is_new and len(filled) == 1 and not (self.header and _has_number(row)):
            yield from self._caption(" ".join(filled[0].split()))
        elif self.is_new and self._opens(row):
            yield from self._open(row)
        elif not self.is_told and not self.is_double and _goes_on(row, self.header or []):
            self.is_double = True
            self.name(_combined(self.header or [], row))
        elif list(row) != self.header:  # a header that is printed again on each page says nothing new
            yield from self.add(row)

    def end(self) -> Iterator[str]:
        """Yield what waits; a header that no row followed is a text too."""
        if self.captions:
            yield "\n".join(self.captions)
        if self.group or not self.is_told:
            yield markdown_rows([self.header or [], *self.group])
        self.captions, self.group, self.cost, self.is_told = [], [], 0, True

    def _caption(self, text: str) -> Iterator[str]:
        if self.group or not self.is_told or _cost([*self.captions, text]) > _BUDGET:
            yield from self.end()
        self.captions.append(text)

    def _opens(self, row: CellTexts) -> bool:
        if self.header is None:
            return True
        moved = self.has_numbers or filled_columns(row) != filled_columns(self.header)
        return moved and not _has_number(row) and list(row) != self.header

    def _open(self, row: CellTexts) -> Iterator[str]:
        yield from self.end()
        is_nameless = all(_has_number([cell]) for cell in row if cell)
        self.is_new, self.has_numbers, self.is_double, self.is_told = False, False, False, is_nameless
        self.name([] if is_nameless else list(row))
        if is_nameless:
            yield from self.add(row)

    def name(self, header: list[str]) -> None:
        """Give the columns names."""
        self.header, self.header_cost = header, _cost(header)

    def add(self, row: CellTexts) -> Iterator[str]:
        """Take a row of the table, and yield what it leaves no room for."""
        if self.captions:
            yield "\n".join(self.captions)
            self.captions = []
        self.is_new = False
        self.has_numbers = self.has_numbers or _has_number(row)
        cost = _cost(row)
        if self.header_cost + self.cost + cost > _BUDGET and self.group:
            yield from self.end()
        if self.header_cost + cost > _BUDGET:
            yield from self.end()  # a wide header once by itself: some of its columns may be empty in every row
            yield from record_texts(self.header or [], row)
        else:
            self.is_told = True
            self.group.append(row)
            self.cost += cost


def filled_columns(row: CellTexts) -> frozenset[int]:
    """Return the numbers of the columns in which a row has something."""
    return frozenset(at for at, cell in enumerate(row) if cell)


def _has_number(row: CellTexts) -> bool:
    """Tell whether a row holds figures; years name columns as often as they are figures, and do not count."""
    return any(_NUMBER.fullmatch(cell) and not _YEAR.fullmatch(cell) for cell in row if cell)


def _cost(row: CellTexts) -> int:
    """Return about how many tokens a row has, rather too many."""
    return len(_TOKEN.findall(" ".join(row))) + len(row) + 1


def _goes_on(row: CellTexts, header: CellTexts) -> bool:
    """Tell whether a row is a second line of the header: words only, some in gaps that a name beside them spans."""
    named, filled = filled_columns(header), filled_columns(row)
    first = min(named, default=0)
    spanned = any(at > first for at in filled - named)
    apart = 2 * len(named) <= len(filled) or 2 * len(named & filled) <= len(named)
    return spanned and apart and not _has_number(row)


def _combined(header: CellTexts, row: CellTexts) -> list[str]:
    names: list[str] = []
    above = ""
    for at in range(max(len(header), len(row))):
        upper, lower = (line[at] if at < len(line) else "" for line in (header, row))
        above = upper or above
        names.append(" ".join(filter(None, (above if lower else upper, lower))))
    return names


def record_texts(header: CellTexts, row: CellTexts) -> Iterator[str]:
    """Write one row as lines of `name: value`; where it takes several texts, each begins with the row's first cell."""
    lines = [f"{_name(header, at)}: {' '.join(cell.split())}" for at, cell in enumerate(row) if cell]
    if not lines:
        return
    key = lines[0] if len(lines[0]) <= _LONGEST_KEY else f"{lines[0][:_LONGEST_KEY]}…"
    text = [lines[0]]
    for line in lines[1:]:
        if text != [key] and _cost([*text, line]) > _BUDGET:
            yield "\n".join(text)
            text = [key]
        text.append(line)
    yield "\n".join(text)


def _name(header: CellTexts, at: int) -> str:
    name = " ".join(header[at].split()) if at < len(header) else ""
    return f"{name[:_LONGEST_NAME]}…" if len(name) > _LONGEST_NAME else name or f"column {at + 1}"


_OPENING, _CLOSING = frozenset({"$", "€", "£", "¥", "("}), frozenset({")", "%", ")%", ")\u00a0%"})


def markdown_rows(rows: Sequence[Sequence[str]]) -> str:
    """Return one `| a | b |` line per row that holds anything; columns that are empty throughout go.

    Financial tables set a currency sign or a closing bracket in a cell of its own; it moves to its number.
    """
    glued = [glued_signs(row) for row in rows]
    filled = [row for row in glued if any(row)]
    width = max((len(row) for row in filled), default=0)
    columns = [at for at in range(width) if any(at < len(row) and row[at] for row in filled)]
    return "\n".join(_markdown_line([row[at] if at < len(row) else "" for at in columns]) for row in filled)


def glued_signs(row: Sequence[str]) -> list[str]:
    """Return a row with signs and brackets that have a cell of their own beside the number that they belong to."""
    cells = [" ".join(cell.split()) for cell in row]
    for at, cell in enumerate(cells):
        if cell in _CLOSING and at and cells[at - 1]:
            cells[at - 1 : at + 1] = [cells[at - 1] + cell, ""]
        elif cell in _OPENING:
            number = next((i for i in range(at + 1, len(cells)) if cells[i]), None)
            if number is not None and cells[number][0] in "0123456789(.—-":
                cells[at], cells[number] = "", cell + cells[number]
    return cells


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def cells_of(line: str) -> list[str]:
    """Undo `markdown_rows` for one of its lines."""
    return [cell.replace("\\|", "|") for cell in _BAR.split(line.removeprefix("| ").removesuffix(" |"))]


def names_columns(row: CellTexts) -> bool:
    """Tell whether the first row of a table that was written can be its header: it holds no figures but years."""
    return not _has_number(row)
