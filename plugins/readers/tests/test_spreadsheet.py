import datetime
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
import xlsxwriter
from openpyxl import Workbook
from openpyxl.comments import Comment
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.table import Table
from openpyxl.worksheet.worksheet import Worksheet

from anabranch.errors import ReadingError
from anabranch.readers import document_parts as parts
from anabranch.readers.document import Document
from anabranch_readers.spreadsheet import read_spreadsheet


def read(path: Path) -> Document:
    (document,) = read_spreadsheet(path, path.name)
    return document


def texts(document: Document) -> list[str]:
    return [block.text for block in document.blocks if not block.is_heading]


def saved(path: Path, fill: Callable[[Worksheet], object]) -> Path:
    book = openpyxl.Workbook()
    fill(book.worksheets[0])
    book.save(path)
    return path


def rewritten(path: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """Save a workbook anew with its parts changed."""
    with zipfile.ZipFile(path) as file:
        entries = {name: change(name, file.read(name)) for name in file.namelist()}
    with zipfile.ZipFile(path, "w", compression=zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return path


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "book.xlsx"


def test_sheets_are_headings_and_rows_tables(book: Path) -> None:
    workbook = openpyxl.Workbook()
    first = workbook.worksheets[0]
    first.title = "Staff"
    for row in (["name", "age"], ["Ada", 36], ["Bob", 44]):
        first.append(row)
    workbook.create_sheet("Empty")
    workbook.create_sheet("Cities")["B2"] = "Oslo"
    workbook.properties.title = "People and places"
    workbook.properties.creator = "Eve"
    workbook.save(book)
    document = read(book)
    assert document.title == "People and places"
    assert document.metadata == {"format": "xlsx", "author": "Eve"}
    assert [(block.text, block.heading, block.is_heading) for block in document.blocks] == [
        ("Staff", ("Staff",), True),
        ("| name | age |\n| Ada | 36 |\n| Bob | 44 |", ("Staff",), False),
        ("Cities", ("Cities",), True),
        ("Oslo", ("Cities",), False),
    ]


def test_values_look_as_their_formats_say(book: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        sheet.append(["date", "moment", "time", "share", "long", "flag", "sum", "span"])
        sheet.append(
            [
                datetime.date(2024, 3, 1),
                datetime.datetime(2024, 3, 2, 14, 30),
                datetime.time(9, 5),
                0.256,
                0.1 + 0.2,
                True,
                1_000_000,
                datetime.timedelta(hours=30, minutes=5),
            ]
        )
        sheet["D2"].number_format = "0.0%"
        sheet["H2"].number_format = "[h]:mm"

    row = texts(read(saved(book, fill)))[0].split("\n")[1]
    assert row == "| 2024-03-01 | 2024-03-02 14:30 | 09:05 | 25.6% | 0.3 | TRUE | 1000000 | 30:05 |"


def written(path: Path, fill: Callable[[xlsxwriter.workbook.Worksheet], object]) -> Path:
    """Save a workbook as Excel does: strings in a table of their own, formulas with their values."""
    with xlsxwriter.Workbook(str(path)) as workbook:
        fill(workbook.add_worksheet())
    return path


def test_a_formula_shows_its_stored_value_or_else_itself(book: Path) -> None:
    def fill(sheet: xlsxwriter.workbook.Worksheet) -> None:
        for number, row in enumerate((["a", "b", "c"], ["x", 42], ["y", 1])):
            sheet.write_row(number, 0, row)
        sheet.write_formula("C2", "=B2*2", None, 84)
        sheet.write_formula("C3", "=B3+1", None, "")

    document = read(written(book, fill))
    assert texts(document) == ["| a | b | c |\n| x | 42 | 84 |\n| y | 1 | =B3+1 |"]
    assert document.notes == ("formulas have no stored value and stand for themselves (1)",)


def test_what_is_hidden_is_left_out_and_counted(book: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        for row in (["name", "secret", "age"], ["Ada", "hush", 36], ["Eve", "hush", 29], ["Bob", None, 44]):
            sheet.append(row)
        sheet.column_dimensions["B"].hidden = True
        sheet.row_dimensions[3].hidden = True
        sheet["D2"] = 7
        sheet["D2"].number_format = ";;;"
        hidden = sheet.parent.create_sheet("Lists")
        hidden["A1"] = "unseen"
        hidden.sheet_state = "veryHidden"

    document = read(saved(book, fill))
    assert texts(document) == ["| name | age |\n| Ada | 36 |\n| Bob | 44 |"]
    assert document.notes == ("hidden sheets were left out (1)", "hidden cells were left out (6)")


def test_rows_that_a_filter_or_a_folded_outline_hides_stay(book: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        for row in (["name", "age"], ["Ada", 36], ["Eve", 29], ["Bob", 44]):
            sheet.append(row)
        sheet.auto_filter.ref = "A1:B3"
        sheet.auto_filter.add_filter_column(0, ["Ada"])
        sheet.row_dimensions[3].hidden = True
        sheet.row_dimensions.group(4, 4, hidden=True)

    document = read(saved(book, fill))
    assert texts(document) == ["| name | age |\n| Ada | 36 |\n| Eve | 29 |\n| Bob | 44 |"]
    assert document.notes == ()


def test_rows_that_the_filter_of_a_table_hides_stay(book: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        for row in (["name", "age"], ["Ada", 36], ["Eve", 29]):
            sheet.append(row)
        table = Table(displayName="T", ref="A1:B3")
        table._initialise_columns()
        table.autoFilter.add_filter_column(0, ["Ada"])
        sheet.add_table(table)
        sheet.row_dimensions[3].hidden = True

    assert "| Eve | 29 |" in texts(read(saved(book, fill)))[0]


def test_a_cell_merged_over_rows_shows_in_each(book: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        for row in (["area", "city"], ["North", "Oslo"], [None, "Bergen"], ["South", "Rome"]):
            sheet.append(row)
        sheet.merge_cells("A2:A3")

    assert texts(read(saved(book, fill))) == ["| area | city |\n| North | Oslo |\n| North | Bergen |\n| South | Rome |"]


def test_headings_over_several_columns_name_each_of_them(book: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        sheet.append(["Sales by region"])
        sheet.merge_cells("A1:E1")
        for row in ([None, 2023, None, 2024, None], ["Region", "Q1", "Q2", "Q1", "Q2"], ["North", 1, 2, 3, 4]):
            sheet.append(row)
        sheet.merge_cells("B2:C2")
        sheet.merge_cells("D2:E2")

    assert texts(read(saved(book, fill))) == [
        "Sales by region",
        "| Region | 2023 Q1 | 2023 Q2 | 2024 Q1 | 2024 Q2 |\n| North | 1 | 2 | 3 | 4 |",
    ]


def test_comments_are_noted(book: Path) -> None:
    def fill(sheet: Worksheet) -> None:
        sheet["A1"] = "seen"
        sheet["A1"].comment = Comment("aside", "Eve")

    assert read(saved(book, fill)).notes == ("comments were not read (1)",)


def test_the_words_of_text_boxes_are_read(book: Path) -> None:
    from openpyxl.chart import BarChart

    def box(name: str, data: bytes) -> bytes:
        if not name.startswith("xl/drawings/drawing"):
            return data
        said = (
            b"<xdr:sp xmlns:xdr='urn:x' xmlns:a='urn:a'><xdr:txBody><a:p><a:r><a:t>in a box</a:t></a:r></a:p>"
            b"</xdr:txBody></xdr:sp>"
        )
        return re.sub(rb"(<\w*:?wsDr[^>]*>)", rb"\1" + said, data)

    def fill(sheet: Worksheet) -> None:
        sheet["A1"] = "cell"
        sheet.add_chart(BarChart(), "C3")

    assert texts(read(rewritten(saved(book, fill), box))) == ["cell", "in a box"]


@pytest.mark.work(60)
def test_a_million_formatted_rows_with_nothing_in_them(book: Path) -> None:
    def stretch(name: str, data: bytes) -> bytes:
        if "sheet1" not in name:
            return data
        rows = b"".join(b'<row r="%d" s="1"><c r="A%d" s="0"/></row>' % (number, number) for number in range(3, 50_000))
        last = b'<row r="1048576"><c r="A1048576" t="str"><v>last</v></c></row>'
        return data.replace(b"</sheetData>", rows + last + b'<row r="4000000000"><c><v>7</v></c></row></sheetData>')

    saved(book, lambda sheet: [sheet.append(row) for row in (["a", "b"], [1, 2])])
    assert texts(read(rewritten(book, stretch))) == ["| a | b |\n| 1 | 2 |", "last"]


def test_the_strict_edition_and_cells_without_places_are_read(book: Path) -> None:
    def strict(name: str, data: bytes) -> bytes:
        data = re.sub(rb'(<(?:row|c)\b[^>]*?) r="[A-Z]*\d+"', rb"\1", data) if "sheet1" in name else data
        return data.replace(
            b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
            b"http://purl.oclc.org/ooxml/spreadsheetml/main",
        ).replace(
            b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
            b"http://purl.oclc.org/ooxml/officeDocument/relationships",
        )

    saved(book, lambda sheet: [sheet.append(row) for row in (["a", "b"], ["x", 2])])
    assert texts(read(rewritten(book, strict))) == ["| a | b |\n| x | 2 |"]


def test_shared_strings_lose_their_escapes_and_their_pronunciation(book: Path) -> None:
    def phonetic(name: str, data: bytes) -> bytes:
        item = "<si><r><t>東</t></r><r><t>京</t></r><rPh sb='0' eb='2'><t>トウキョウ</t></rPh></si>".encode()
        return re.sub(rb"<si><t>tokyo</t></si>", item, data) if "sharedStrings" in name else data

    written(book, lambda sheet: sheet.write_row(0, 0, ["tokyo", "a\x05b", "a_x0041_b"]))
    assert texts(read(rewritten(book, phonetic))) == ["| 東京 | ab | a_x0041_b |"]


def test_a_long_sheet_comes_in_parts_that_know_their_sheet(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_CHARACTERS", 2000)

    def fill(sheet: Worksheet) -> None:
        sheet.title = "Long"
        for row in (["number", "word"], *([number, f"word {number}"] for number in range(500))):
            sheet.append(row)

    found = list(read_spreadsheet(saved(book, fill), "book.xlsx"))
    assert [document.source for document in found][:2] == ["book.xlsx#part-1", "book.xlsx#part-2"]
    blocks = [block for document in found for block in document.blocks]
    assert all(block.heading == ("Long",) for block in blocks)
    assert sum(block.text.count("word ") for block in blocks) == 500 + len(blocks) - 1


def test_what_is_no_workbook_says_why(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as file:
        file.writestr("a.txt", "text")
    for data, reason in [
        (b"name,age\nAda,36\n", "broken"),
        ((tmp_path / "other.zip").read_bytes(), "broken"),
        (ole + b"\x00" * 600, "unsupported"),
        (ole + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
    ]:
        path.write_bytes(data)
        with pytest.raises(ReadingError) as caught:
            read(path)
        assert caught.value.reason == reason
        assert caught.value.hint


def test_a_workbook_without_text_is_empty(book: Path) -> None:
    with pytest.raises(ReadingError) as caught:
        read(saved(book, lambda sheet: None))
    assert caught.value.reason == "empty"


def test_strings_too_many_for_memory_are_refused(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anabranch_readers.ooxml.workbook._MOST_BYTES", 100)
    with pytest.raises(ReadingError) as caught:
        read(written(book, lambda sheet: sheet.write("A1", "words " * 100)))
    assert caught.value.reason == "too_large"


def test_a_workbook_protected_by_a_password(shared: Path) -> None:
    with pytest.raises(ReadingError) as caught:
        read(shared / "data/awkward/xlsx-encrypted__password_protected.xlsx")
    assert caught.value.reason == "encrypted"


def coloured(path: Path, *, ground: str = "", table: bool = False) -> Document:
    workbook = Workbook()
    sheet = workbook.active
    for row in (["Item", "Price"], ["pump", "SECRET"]):
        sheet.append(row)
    sheet["B2"].font = Font(color="FFFFFFFF")
    if ground:
        sheet["B2"].fill = PatternFill("solid", fgColor=ground)
    if table:
        sheet.add_table(Table(displayName="Prices", ref="A1:B2"))
    workbook.save(path)
    (document,) = read_spreadsheet(path, path.name)
    return document


def test_white_letters_are_left_out_unless_something_is_painted_behind_them(tmp_path: Path) -> None:
    document = coloured(tmp_path / "a.xlsx")
    assert "SECRET" not in document.blocks[-1].text
    assert document.notes == ("hidden cells were left out (1)",)
    assert "SECRET" in coloured(tmp_path / "b.xlsx", ground="FF1F497D").blocks[-1].text
    assert "SECRET" in coloured(tmp_path / "c.xlsx", table=True).blocks[-1].text
    assert "SECRET" not in coloured(tmp_path / "d.xlsx", ground="FFFFFFFF").blocks[-1].text
