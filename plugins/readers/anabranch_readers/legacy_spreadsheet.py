"""Read workbooks that are no Open XML: Excel's old .xls and its binary .xlsb, by calamine."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.document_parts import LeftOut, in_parts, under_name
from anabranch.readers.heartbeat import beat
from anabranch.readers.office_password import OLE, password_error
from anabranch.readers.size_limit import limited
from anabranch.readers.table_blocks import table_texts
from anabranch.text.normalization import clean, squeeze
from anabranch_readers.protected_office import open_with_password
from anabranch_readers.zip_container import ZipFormat, check

_BINARY = ZipFormat("Excel workbook", "Excel's old .xls format", ".xlsx in Excel")
_BEATS = 10_000  # rows


@limited(1 << 28)
def read_xls(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the document of an .xls or .xlsb file, or its parts where it is long; hidden sheets are left out.

    Raises:
        ReadingError: `encrypted`, `broken`, `too_large`, `empty`.
    """
    with open_with_password(path, source, options.passwords) as plain:
        _check(plain, source)
        left_out = LeftOut()
        kind = path.suffix.lower().removeprefix(".")
        whole = Document(source, path.stem, (), {"format": kind}, key=source)
        with _damage_as_error(source):
            book = CalamineWorkbook.from_path(plain)
            yield from in_parts(_blocks(book, left_out), whole, left_out.notes)


@contextmanager
def _damage_as_error(source: str) -> Iterator[None]:
    try:
        yield
    except PasswordError as error:
        raise password_error(source) from error
    except (ReadingError, GeneratorExit):
        raise
    except BaseException as error:
        # A panic of Rust is no `Exception`, and its class can be imported from nowhere.
        if not isinstance(error, CalamineError) and type(error).__name__ != "PanicException":
            raise
        msg = f"{source!r} is damaged or is no Excel workbook: {squeeze(str(error))[:200]}"
        raise ReadingError(msg, reason="broken", hint="Save it again, or check its extension.") from error


def _check(path: Path, source: str) -> None:
    with path.open("rb") as file:
        head = file.read(len(OLE))
    if head.startswith(b"PK"):
        check(path, source, _BINARY)
    elif head != OLE and head[:1] != b"\x09":  # before Excel 5 there was no container, only its first record
        # Programs on the web call a table in HTML or CSV so, for Excel to open it.
        msg = f"{source!r} is no Excel workbook."
        raise ReadingError(
            msg, reason="broken", hint="If it is a table of a web page, give it the ending .html or .csv."
        )


def _blocks(book: CalamineWorkbook, left_out: LeftOut) -> Iterator[Block]:
    for sheet in book.sheets_metadata:
        if sheet.typ != SheetTypeEnum.WorkSheet:
            continue
        if sheet.visible != SheetVisibleEnum.Visible:
            left_out["hidden sheets were left out ({})"] += 1
            continue
        yield from under_name(sheet.name, table_texts(_rows(book.get_sheet_by_name(sheet.name))))


def _rows(sheet: CalamineSheet) -> Iterator[list[str]]:
    """Yield the rows with anything in them, and one empty row for each gap between them."""
    was_empty = True
    for number, row in enumerate(sheet.iter_rows()):
        cells = [_cell_text(value) for value in row]
        if number % _BEATS == 0:
            beat()
        if any(cells) or not was_empty:
            yield cells if any(cells) else []
        was_empty = not any(cells)


def _cell_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ", "minutes")
    return clean(str(value)).strip()
