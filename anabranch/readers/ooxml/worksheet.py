"""Read the rows of an Excel sheet one at a time, as a person sees them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import IO

from openpyxl.utils.cell import column_index_from_string

from anabranch.readers.merged_cells import Downward, spread
from anabranch.readers.ooxml.hidden_rows import MOST_COLUMNS, MOST_ROWS, Layout
from anabranch.readers.ooxml.number_formats import Format, shown
from anabranch.readers.ooxml.workbook import Workbook, string_of
from anabranch.readers.zip_container import Element, elements, local
from anabranch.text.normalization import clean

_TRUE = frozenset({"1", "true"})


class Rows:
    """The rows of one sheet.

    Attributes:
        hidden: How many cells with something in them were left out because Excel does not show them.
        bare: How many formulas have no value stored, so that the formula itself stands for it.
    """

    def __init__(self, workbook: Workbook, layout: Layout) -> None:
        """Take what the cells refer to."""
        self.hidden = 0
        self.bare = 0
        self._workbook = workbook
        self._layout = layout
        self._column = 0
        self._down = Downward()

    def read(self, stream: IO[bytes]) -> Iterator[list[str]]:
        """Yield the rows with anything in them, and one empty row for each gap between them.

        A cell merged over several rows shows its value in each of them that has another cell, for each to make sense
        alone. Rows beyond Excel's last one are left out.
        """
        cells: dict[int, str] = {}
        last = number = 0
        for element in elements(stream, "c", "row"):
            if local(element) == "c":
                self._take(element, cells)
                continue
            told = element.get("r", "")
            number = int(told) if told.isdecimal() else number + 1
            row, cells, self._column = cells, {}, 0
            if number > MOST_ROWS:
                return
            if self._is_hidden(element, number):
                self.hidden += len(row)
            elif row:
                if last and number > last + 1:
                    yield []
                yield spread(self._merged(row, number))
                last = number

    def _take(self, element: Element, cells: dict[int, str]) -> None:
        """Put a cell into its column."""
        self._column = _column(element.get("r", "").rstrip("0123456789")) or self._column + 1
        text = self._text(element).strip()
        if not text or self._column > MOST_COLUMNS:
            return
        if self._column in self._layout.hidden or self._format(element) == "hidden":
            self.hidden += 1
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
        return shown(value, self._format(element), self._workbook.epoch) if kind == "n" else clean(value)

    def _formula(self, element: Element) -> str:
        formula = element.findtext("{*}f")
        self.bare += bool(formula)
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
        return self._down.over(row, number)


@lru_cache(maxsize=MOST_COLUMNS)
def _column(letters: str) -> int:
    """Return the number of a column, 0 for what names none."""
    try:
        return int(column_index_from_string(letters))
    except ValueError:
        return 0
