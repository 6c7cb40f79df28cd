"""Read the rows of an Excel sheet one at a time, as a person sees them: hidden cells out, merged ones spread out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import IO

from openpyxl.utils.cell import column_index_from_string, range_boundaries

from anabranch.readers.document_parts import LeftOut
from anabranch.readers.inert_xml import Element, local_name
from anabranch.readers.merged_cells import MergedCells, cells_in_order
from anabranch.text.normalization import clean
from anabranch_readers.ooxml.number_formats import Format, format_number
from anabranch_readers.ooxml.package import parts
from anabranch_readers.ooxml.workbook import Workbook, string_of
from anabranch_readers.zip_container import Archive, elements

MOST_COLUMNS = 16_384  # Excel's own limits
MOST_ROWS = 1_048_576

# First column, first row, last column, last row, from 1.
Area = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """What is needed to read the rows.

    Attributes:
        hidden: The columns that are hidden; those of an outline that is folded up are not.
        filtered: Areas whose rows a filter hides, for as long as the reader wishes.
        is_painted: Whether tables or rules paint cells in other colours than these say themselves.
        merged: By column, the first and last row of each area of several rows that shows one value.
    """

    hidden: frozenset[int]
    filtered: tuple[Area, ...]
    merged: dict[int, dict[int, int]]
    is_painted: bool = False

    def is_filtered(self, row: int) -> bool:
        """Tell whether a filter may be what hides a row."""
        return any(first <= row <= last for _, first, _, last in self.filtered)


def load_layout(archive: Archive, part: str) -> SheetLayout:
    """Return the layout of a sheet: merged cells and filters stand behind its rows, so those are gone through once."""
    hidden: set[int] = set()
    filtered: list[Area | None] = []
    merged: dict[int, dict[int, int]] = {}
    is_painted = bool(parts(archive, part, "table", "pivotTable"))
    with archive.stream(part) as stream:
        # Rows are asked for only to be let go of: without that, a tree of all of them would be in memory.
        for element in elements(stream, "row", "col", "mergeCell", "autoFilter", "conditionalFormatting", "picture"):
            match local_name(element):
                case "conditionalFormatting" | "picture":
                    is_painted = True
                case "col":
                    hidden.update(_hidden(element))
                case "mergeCell":
                    _merge(_area(element.get("ref", "")), merged)
                # Saved views of the sheet have filters of their own, which are not in force.
                case "autoFilter" if local_name(element.getparent()) == "worksheet":
                    filtered += _filtered(element)
    for table in parts(archive, part, "table"):
        filtered += [area for each in archive.xml(table).iter("{*}autoFilter") for area in _filtered(each)]
    return SheetLayout(frozenset(hidden), tuple(filter(None, filtered)), merged, is_painted)


def _filtered(auto_filter: Element) -> list[Area | None]:
    """Return the area of a filter; one without a condition hides nothing."""
    return [_area(auto_filter.get("ref", ""))] if auto_filter.find("{*}filterColumn") is not None else []


def _merge(area: Area | None, merged: dict[int, dict[int, int]]) -> None:
    if area and area[3] > area[1]:
        merged.setdefault(area[0], {})[area[1]] = area[3]


def _area(reference: str) -> Area | None:
    try:
        left, top, right, bottom = range_boundaries(reference)
    except (ValueError, TypeError):
        return None
    return (left or 1, top or 1, right or MOST_COLUMNS, bottom or MOST_ROWS)


def _hidden(column: Element) -> Iterator[int]:
    # A column without a width is not seen either.
    if column.get("hidden") not in {"1", "true"} and column.get("width") != "0":
        return
    first, last = (column.get(name, "") for name in ("min", "max"))
    if column.get("outlineLevel", "0") == "0" and first.isdecimal() and last.isdecimal():
        yield from range(int(first), min(int(last), MOST_COLUMNS) + 1)


_TRUE = frozenset({"1", "true"})
_HIDDEN = "hidden cells were left out ({})"


class ExcelRows:
    """The rows of one sheet."""

    def __init__(self, workbook: Workbook, layout: SheetLayout, left_out: LeftOut) -> None:
        """Take what the cells refer to, and what counts those that are not shown."""
        self._left_out = left_out
        self._workbook = workbook
        self._layout = layout
        self._column = 0
        self._down = MergedCells()

    def read(self, stream: IO[bytes]) -> Iterator[list[str]]:
        """Yield the rows with anything in them, and one empty row for each gap between them.

        A cell merged over several rows shows its value in each of them that has another cell, for each to make sense
        alone. Rows beyond Excel's last one are left out.
        """
        cells: dict[int, str] = {}
        last = number = 0
        for element in elements(stream, "c", "row"):
            if local_name(element) == "c":
                self._take(element, cells)
                continue
            # A row may leave its number out: then it comes right after the one before.
            told = element.get("r", "")
            number = int(told) if told.isdecimal() else number + 1
            row, cells, self._column = cells, {}, 0
            if number > MOST_ROWS:
                return
            if self._is_hidden(element, number):
                self._left_out[_HIDDEN] += len(row)
            elif row:
                if last and number > last + 1:
                    yield []
                yield cells_in_order(self._merged(row, number))
                last = number

    def _take(self, element: Element, cells: dict[int, str]) -> None:
        """Put a cell into its column."""
        self._column = _column(element.get("r", "").rstrip("0123456789")) or self._column + 1
        text = self._text(element).strip()
        if not text or self._column > MOST_COLUMNS:
            return
        form = self._format(element)
        if self._column in self._layout.hidden or form == "hidden" or (form == "white" and not self._layout.is_painted):
            self._left_out[_HIDDEN] += 1
        else:
            cells[self._column] = text

    def _text(self, element: Element) -> str:
        kind = element.get("t", "n")
        if kind == "inlineStr":
            item = element.find("{*}is")
            return string_of(item) if item is not None else ""
        value = element.findtext("{*}v") or ""
        if not value:
            return self._formula(element)
        if kind == "s":
            return self._string(value)
        if kind == "b":
            return "TRUE" if value in _TRUE else "FALSE"
        return format_number(value, self._format(element), self._workbook.epoch) if kind == "n" else clean(value)

    def _formula(self, element: Element) -> str:
        formula = element.findtext("{*}f")
        self._left_out["formulas have no stored value and stand for themselves ({})"] += bool(formula)
        return f"={clean(formula)}" if formula else ""

    def _string(self, place: str) -> str:
        strings = self._workbook.strings
        return strings[int(place)] if place.isdecimal() and int(place) < len(strings) else ""

    def _format(self, element: Element) -> Format:
        style, formats = element.get("s", "0"), self._workbook.formats
        return formats[int(style)] if style.isdecimal() and int(style) < len(formats) else "plain"

    def _is_hidden(self, element: Element, number: int) -> bool:
        """Tell whether a row is hidden for good, and not by a filter or in an outline that is folded up."""
        if element.get("hidden") not in _TRUE and element.get("ht") != "0":
            return False
        return element.get("outlineLevel", "0") == "0" and not self._layout.is_filtered(number)

    def _merged(self, row: dict[int, str], number: int) -> dict[int, str]:
        for column, areas in self._layout.merged.items():
            if number in areas:
                self._down.begin(column, areas[number], row.get(column, ""))
        return self._down.fill_spans(row, number)


# The same few letters stand in each row, and there may be a million of them.
@lru_cache(maxsize=MOST_COLUMNS)
def _column(letters: str) -> int:
    """Return the number of a column, 0 for what names none."""
    try:
        return int(column_index_from_string(letters))
    except ValueError:
        return 0
