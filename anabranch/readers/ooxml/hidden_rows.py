"""What an Excel sheet says about its rows and columns outside of them: which are hidden, which cells are merged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from openpyxl.utils.cell import range_boundaries

from anabranch.readers.ooxml.package import parts
from anabranch.readers.zip_container import Archive, Element, parsed

MOST_COLUMNS = 16_384
MOST_ROWS = 1_048_576

_OPENING = re.compile(rb"<(?:[\w.-]+:)?sheetData\s*/?>")
_CLOSING = re.compile(rb"</(?:[\w.-]+:)?sheetData\s*>")
_CHUNK = 1 << 20
_LONGEST_TAG = 256
_MOST_BYTES = 1 << 26

Area = tuple[int, int, int, int]
"""First column, first row, last column, last row, from 1."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What is needed to read the rows.

    Attributes:
        hidden: The columns that are hidden; those of an outline that is folded up are not.
        filtered: Areas whose rows a filter hides, for as long as the reader wishes.
        merged: By column, the first and last row of each area of several rows that shows one value.
    """

    hidden: frozenset[int]
    filtered: tuple[Area, ...]
    merged: dict[int, dict[int, int]]

    def is_filtered(self, row: int) -> bool:
        """Tell whether a filter may be what hides a row."""
        return any(first <= row <= last for _, first, _, last in self.filtered)


def load_layout(archive: Archive, part: str) -> Layout:
    """Return the layout of a sheet, read past its rows, which say nothing of it and are by far the most of the part."""
    with archive.stream(part) as stream:
        root = parsed(_around_rows(stream))
    filters = [*root.iterfind("{*}autoFilter")]
    filters += [each for table in parts(archive, part, "table") for each in archive.xml(table).iter("{*}autoFilter")]
    filtered = [_area(each.get("ref", "")) for each in filters if each.find("{*}filterColumn") is not None]
    merged: dict[int, dict[int, int]] = {}
    for element in root.iterfind("{*}mergeCells/{*}mergeCell"):
        area = _area(element.get("ref", ""))
        if area and area[3] > area[1]:
            merged.setdefault(area[0], {})[area[1]] = area[3]
    hidden = frozenset(column for each in root.iterfind("{*}cols/{*}col") for column in _hidden(each))
    return Layout(hidden, tuple(filter(None, filtered)), merged)


def _around_rows(stream: IO[bytes]) -> bytes:
    """Return a sheet's XML with its rows cut out."""
    kept, inside, at_end = b"", False, False
    found = bytearray()
    while not at_end and len(found) < _MOST_BYTES:
        chunk = stream.read(_CHUNK)
        at_end = not chunk
        kept += chunk
        while match := (_CLOSING if inside else _OPENING).search(kept):
            found += match[0] if inside else kept[: match.end()]
            inside = not inside and not match[0].endswith(b"/>")
            kept = kept[match.end() :]
        sure = len(kept) if at_end else max(0, len(kept) - _LONGEST_TAG)
        if not inside:
            found += kept[:sure]
        kept = kept[sure:]
    return bytes(found)


def _area(reference: str) -> Area | None:
    try:
        left, top, right, bottom = range_boundaries(reference)
    except (ValueError, TypeError):
        return None
    return (left or 1, top or 1, right or MOST_COLUMNS, bottom or MOST_ROWS)


def _hidden(column: Element) -> Iterator[int]:
    if column.get("hidden") not in {"1", "true"} and column.get("width") != "0":
        return
    first, last = (column.get(name, "") for name in ("min", "max"))
    if column.get("outlineLevel", "0") == "0" and first.isdecimal() and last.isdecimal():
        yield from range(int(first), min(int(last), MOST_COLUMNS) + 1)
