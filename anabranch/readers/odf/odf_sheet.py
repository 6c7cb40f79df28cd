"""Read the rows of an OpenDocument sheet, as a person sees them."""

from __future__ import annotations

from collections.abc import Iterator

from anabranch.readers.odf.odf_body import COMMENTS, OdfBody, repeats
from anabranch.readers.table_blocks import MergedCells, cells_in_order
from anabranch.readers.zip_container import Element, attribute, local

_MOST_COLUMNS = 16_384  # of LibreOffice and Excel alike
_MOST_REPEATED = 100  # a file may say that a row stands there a million times
_MOST_SPREAD = 100_000  # characters that one repeated cell may become
_HIDDEN = "hidden cells were left out ({})"
_VALUES = ("value", "boolean-value", "string-value", "time-value")


class OdfRows:
    """The rows of one sheet."""

    def __init__(self, body: OdfBody) -> None:
        """Take what reads the words of the cells."""
        self._body = body
        self._down = MergedCells()

    def read(self, table: Element) -> Iterator[list[str]]:
        """Yield the rows with anything in them, and one empty row for each gap between them."""
        hidden = _hidden_columns(table)
        number = 0
        for element in table.iter("{*}table-row"):
            times = repeats(element, "number-rows-repeated")
            row = self._row(element, number + 1, hidden)
            if attribute(element, "visibility") == "collapse" and local(element.getparent()) != "table-row-group":
                self._body.left_out[_HIDDEN] += len(row)
            else:
                shown = min(times, _MOST_REPEATED) if row else 1
                self._body.left_out["rows like a hundred before them were left out ({})"] += times - shown if row else 0
                yield from [cells_in_order(self._down.over(row, number + 1))] * shown
            number += times

    def _row(self, element: Element, number: int, hidden: frozenset[int]) -> dict[int, str]:
        row: dict[int, str] = {}
        column = 1
        for cell in element.iterchildren("{*}table-cell", "{*}covered-table-cell"):
            times = repeats(cell, "number-columns-repeated")
            text = self._text(cell)
            if text:
                self._span(cell, column, number, text)
                # A cell may claim to stand in every column; what it says is said well enough then.
                last = min(column + times, _MOST_COLUMNS + 1) if times * len(text) <= _MOST_SPREAD else column + 1
                self._body.left_out[_HIDDEN] += len(hidden.intersection(range(column, last)))
                row |= {at: text for at in range(column, last) if at not in hidden}
            column += times
            if column > _MOST_COLUMNS:
                break
        return row

    def _span(self, cell: Element, column: int, number: int, text: str) -> None:
        down = repeats(cell, "number-rows-spanned")
        if down > 1:
            self._down.begin(column, number + down - 1, text)

    def _text(self, cell: Element) -> str:
        """Return what a cell shows; a date as the file keeps it, since what is shown may be read in two ways."""
        self._body.left_out[COMMENTS] += sum(1 for _ in cell.iterchildren("{*}annotation"))
        date = attribute(cell, "date-value").removesuffix("T00:00:00")
        if date:
            return date.replace("T", " ")
        shown = "\n".join(filter(None, (self._body.text(each) for each in cell.iterchildren("{*}p"))))
        value = next(filter(None, (attribute(cell, name) for name in _VALUES)), "")
        formula = attribute(cell, "formula")
        return shown or value or (f"={formula.partition(':=')[2] or formula}" if formula else "")


def _hidden_columns(table: Element) -> frozenset[int]:
    """Return the columns that are hidden; those of an outline that is folded up are not."""
    hidden: set[int] = set()
    column = 1
    for element in table.iter("{*}table-column"):
        last = min(column + repeats(element, "number-columns-repeated"), _MOST_COLUMNS + 1)
        if attribute(element, "visibility") == "collapse" and local(element.getparent()) != "table-column-group":
            hidden.update(range(column, last))
        column = last
    return frozenset(hidden)
