"""Read an Excel workbook: each sheet under its name, its tables in groups of rows that repeat the header."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.document_parts import LeftOut, in_parts, under_name
from anabranch.readers.inert_xml import local_name
from anabranch.readers.table_blocks import table_texts
from anabranch_readers.ooxml.drawing_text import shape_texts
from anabranch_readers.ooxml.package import parts, properties
from anabranch_readers.ooxml.workbook import Workbook, load_workbook
from anabranch_readers.ooxml.worksheet import ExcelRows, load_layout
from anabranch_readers.protected_office import open_with_password
from anabranch_readers.zip_container import Archive, ZipFormat, open_archive

_KIND = ZipFormat("Excel workbook", "Excel's old .xls format", ".xlsx in Excel")


def read_spreadsheet(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the document of an .xlsx or .xlsm file, or its parts where it is long.

    Values are those that Excel stored; a formula without one stands for itself. Sheets, rows and columns that are
    hidden are left out and counted; rows that a filter hides are kept.

    Raises:
        ReadingError: `encrypted`, `unsupported` (the old .xls format), `broken`, `too_large`, `empty`.
    """
    with open_with_password(path, source, options.passwords) as plain, open_archive(plain, source, _KIND) as archive:
        book = _ExcelText(archive, load_workbook(archive, source))
        title, author = properties(archive)
        metadata = {"format": "xlsx"} | ({"author": author} if author else {})
        whole = Document(source, title or path.stem, (), metadata, key=source)
        yield from in_parts(book.blocks(), whole, book.left_out.notes)


class _ExcelText:
    """The sheets of one workbook; counts what is left out."""

    def __init__(self, archive: Archive, workbook: Workbook) -> None:
        self._archive = archive
        self._workbook = workbook
        self.left_out = LeftOut()
        self.left_out["hidden sheets were left out ({})"] = sum(sheet.is_hidden for sheet in workbook.sheets)

    def blocks(self) -> Iterator[Block]:
        for sheet in self._workbook.sheets:
            if not sheet.is_hidden:
                yield from under_name(sheet.name, self._texts(sheet.part))

    def _texts(self, part: str) -> Iterator[str]:
        rows = ExcelRows(self._workbook, load_layout(self._archive, part), self.left_out)
        with self._archive.stream(part) as stream:
            yield from table_texts(rows.read(stream))
        for drawing in parts(self._archive, part, "drawing"):
            yield from shape_texts(self._archive.xml(drawing))
        for comments in parts(self._archive, part, "comments"):
            count = sum(local_name(element) == "comment" for element in self._archive.xml(comments).iter())
            self.left_out["comments were not read ({})"] += count
