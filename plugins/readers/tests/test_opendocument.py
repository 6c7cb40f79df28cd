import zipfile
from pathlib import Path

import pytest

from anabranch.errors import ReadingError
from anabranch.readers import document_parts as parts
from anabranch.readers.document import Document
from anabranch_readers.opendocument import read_odf

URN = "urn:oasis:names:tc:opendocument:xmlns:"
SPACES = " ".join(
    f'xmlns:{name}="{URN}{name}:1.0"' for name in ("office", "text", "table", "style", "draw", "presentation", "meta")
)
HIDING = (
    '<style:style style:name="H" style:family="text"><style:text-properties text:display="none"/></style:style>'
    '<style:style style:name="S" style:family="table"><style:table-properties table:display="false"/></style:style>'
    '<style:style style:name="D" style:family="drawing-page">'
    '<style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
)


def made(path: Path, kind: str, body: str, **others: str) -> Path:
    content = (
        f"<office:document-content {SPACES}><office:automatic-styles>{HIDING}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("content.xml", content)
        for name, text in others.items():
            file.writestr(name.replace("__", "/").replace("_", "."), text)
    return path


def read(path: Path) -> Document:
    (document,) = read_odf(path, path.name)
    return document


def texts(document: Document) -> list[str]:
    return [block.text for block in document.blocks]


def cells(*values: str) -> str:
    return "".join(f"<table:table-cell><text:p>{value}</text:p></table:table-cell>" for value in values)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    return tmp_path / "text.odt"


@pytest.fixture
def sheets(tmp_path: Path) -> Path:
    return tmp_path / "sheets.ods"


def test_headings_paragraphs_lists_and_tables(text: Path) -> None:
    body = (
        '<text:h text:outline-level="1">Report</text:h><text:p>one<text:s text:c="3"/>two<text:tab/>three</text:p>'
        '<text:section><text:h text:outline-level="2">Inner</text:h><text:p>a<text:line-break/>b</text:p>'
        "</text:section>"
        "<text:list><text:list-item><text:p>first</text:p><text:list><text:list-item><text:p>below</text:p>"
        "</text:list-item></text:list></text:list-item><text:list-item><text:p>second</text:p></text:list-item>"
        f"</text:list><table:table><table:table-row>{cells('x', 'y')}</table:table-row></table:table>"
    )
    document = read(made(text, "text", body))
    assert [(block.text, block.heading) for block in document.blocks if not block.is_heading] == [
        ("one two three", ("Report",)),
        ("a\nb", ("Report", "Inner")),
        ("- first\n  - below\n- second", ("Report", "Inner")),
        ("| x | y |", ("Report", "Inner")),
    ]
    assert document.title == "Report"
    assert document.metadata == {"format": "odt"}


def test_merged_cells_of_a_text_stand_over_each_column_and_in_each_row(text: Path) -> None:
    def spans(kind: str, value: str) -> str:
        return f'<table:table-cell table:number-{kind}-spanned="2"><text:p>{value}</text:p></table:table-cell>'

    covered = "<table:covered-table-cell/>"
    rows = (
        f"{spans('rows', 'Region')}{spans('columns', 'Umsatz')}{covered}",
        f"{covered}{cells('2023', '2024')}",
        f"{spans('rows', 'Nord')}{cells('10', '20')}",
        f"{covered}{cells('11', '21')}",
    )
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    document = read(made(text, "text", f"<table:table>{body}</table:table>"))
    assert texts(document) == ["| Region | Umsatz 2023 | Umsatz 2024 |\n| Nord | 10 | 20 |\n| Nord | 11 | 21 |"]


def test_a_long_table_of_a_text_repeats_its_header(text: Path) -> None:
    rows = [("Werk", "2023"), *((f"Halle {n}", str(n)) for n in range(60))]
    body = "".join(f"<table:table-row>{cells(*row)}</table:table-row>" for row in rows)
    found = texts(read(made(text, "text", f"<table:table>{body}</table:table>")))
    assert len(found) > 2
    assert all(part.startswith("| Werk | 2023 |\n| Halle ") for part in found)


def test_what_the_file_says_of_itself(text: Path) -> None:
    meta = (
        f'<office:document-meta {SPACES} xmlns:dc="urn:dc"><office:meta><dc:title>The plan</dc:title>'
        "<meta:initial-creator>Ada</meta:initial-creator></office:meta></office:document-meta>"
    )
    document = read(made(text, "text", "<text:p>x</text:p>", meta_xml=meta))
    assert document.title == "The plan"
    assert document.metadata == {"format": "odt", "author": "Ada"}


def test_a_list_that_numbers_headings_is_headings(text: Path) -> None:
    heading = '<text:h text:outline-level="1">One</text:h>'
    body = f"<text:list><text:list-item>{heading}</text:list-item></text:list><text:p>x</text:p>"
    assert read(made(text, "text", body)).blocks[1].heading == ("One",)


def test_footnotes_come_last_and_boxes_after_their_paragraph(text: Path) -> None:
    body = (
        "<text:p>word<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>aside</text:p>"
        "</text:note-body></text:note> more<draw:frame><draw:text-box><text:p>in a box</text:p></draw:text-box>"
        "</draw:frame></text:p><text:p>next</text:p>"
    )
    assert texts(read(made(text, "text", body))) == ["word more", "in a box", "next", "aside"]


def test_what_is_hidden_is_left_out_and_counted(text: Path) -> None:
    body = (
        '<text:p>seen<text:span text:style-name="H">unseen</text:span></text:p>'
        '<text:section text:display="none"><text:p>more</text:p></text:section>'
        '<text:p>gone<text:hidden-paragraph text:is-hidden="true"/></text:p>'
        "<text:tracked-changes><text:changed-region><text:p>deleted</text:p></text:changed-region></text:tracked-changes>"
        "<text:p>end<office:annotation><text:p>remark</text:p></office:annotation></text:p>"
        "<text:p><draw:frame><draw:object/></draw:frame></text:p>"
    )
    document = read(made(text, "text", body))
    assert texts(document) == ["seen", "end"]
    assert document.notes == (
        "hidden text was left out (14 characters)",
        "comments were not read (1)",
        "embedded objects were not read (1)",
    )


def test_sheets_are_headings_and_rows_tables(sheets: Path) -> None:
    body = (
        f'<table:table table:name="Staff"><table:table-row>{cells("name", "when")}</table:table-row><table:table-row>'
        f'{cells("Ada")}<table:table-cell office:date-value="2024-03-01T00:00:00"><text:p>03/01/24</text:p>'
        '</table:table-cell></table:table-row><table:table-row table:number-rows-repeated="1048570"><table:table-cell '
        f'table:number-columns-repeated="16384"/></table:table-row><table:table-row>{cells("Bob", "12:30")}'
        '</table:table-row></table:table><table:table table:name="Lists" table:style-name="S"><table:table-row>'
        f"{cells('unseen')}</table:table-row></table:table>"
    )
    document = read(made(sheets, "spreadsheet", body))
    assert [(block.text, block.heading) for block in document.blocks] == [
        ("Staff", ("Staff",)),
        ("| name | when |\n| Ada | 2024-03-01 |\n| Bob | 12:30 |", ("Staff",)),
    ]
    assert document.metadata == {"format": "ods"}
    assert document.notes == ("hidden sheets were left out (1)",)


def test_hidden_rows_and_columns_merged_cells_and_formulas(sheets: Path) -> None:
    body = (
        '<table:table table:name="A"><table:table-column/><table:table-column table:visibility="collapse"/>'
        f"<table:table-column/><table:table-row>{cells('area', 'secret', 'city', 'sum')}</table:table-row>"
        '<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>North</text:p></table:table-cell>'
        f"{cells('hush', 'Oslo', '1')}</table:table-row><table:table-row><table:covered-table-cell/>"
        f"{cells('hush', 'Rome')}<table:table-cell table:formula='of:=[.A1]+1'/></table:table-row>"
        f"<table:table-row table:visibility='collapse'>{cells('a', 'b')}</table:table-row>"
        f"<table:table-row table:visibility='filter'>{cells('South', 'hush', 'Cairo', '3')}</table:table-row>"
        "</table:table>"
    )
    document = read(made(sheets, "spreadsheet", body))
    assert texts(document)[1] == (
        "| area | city | sum |\n| North | Oslo | 1 |\n| North | Rome | =[.A1]+1 |\n| South | Cairo | 3 |"
    )
    assert document.notes == ("hidden cells were left out (6)",)


@pytest.mark.work(60)
def test_cells_that_claim_to_fill_the_sheet_do_not(sheets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_CHARACTERS", 100_000)
    body = (
        '<table:table table:name="A"><table:table-row table:number-rows-repeated="1048576"><table:table-cell '
        f'table:number-columns-repeated="16384"><text:p>{"bomb " * 100}</text:p></table:table-cell></table:table-row>'
        "</table:table>"
    )
    documents = list(read_odf(made(sheets, "spreadsheet", body), "bomb.ods"))
    assert sum(len(block.text) for document in documents for block in document.blocks) < 200_000
    assert documents[-1].notes == ("rows like a hundred before them were left out (1048476)",)


def test_slides_are_pages_under_their_titles(tmp_path: Path) -> None:
    frame = '<draw:frame presentation:class="{}"><draw:text-box>{}</draw:text-box></draw:frame>'
    body = (
        f"<draw:page>{frame.format('outline', '<text:p>words</text:p>')}"
        f"{frame.format('title', '<text:p>First</text:p>')}"
        f"{frame.format('footer', '<text:p>running</text:p>')}<presentation:notes>"
        f"{frame.format('notes', '<text:p>say this</text:p>')}</presentation:notes></draw:page>"
        f"<draw:page draw:style-name='D'>{frame.format('title', '<text:p>Unshown</text:p>')}</draw:page>"
        "<draw:page><draw:custom-shape><text:p>shape</text:p></draw:custom-shape></draw:page>"
    )
    document = read(made(tmp_path / "deck.odp", "presentation", body))
    assert [(block.text, block.page, block.heading) for block in document.blocks] == [
        ("First", 1, ("First",)),
        ("words", 1, ("First",)),
        ("Speaker notes: say this", 1, ("First",)),
        ("shape", 3, ()),
    ]
    assert document.notes == ("hidden slides were left out (1)",)
    assert document.metadata == {"format": "odp"}


def test_a_file_protected_by_a_password(text: Path) -> None:
    manifest = (
        f'<manifest:manifest xmlns:manifest="{URN}manifest:1.0"><manifest:file-entry manifest:full-path="content.xml">'
        "<manifest:encryption-data/></manifest:file-entry></manifest:manifest>"
    )
    made(text, "text", "<text:p>x</text:p>", **{"META-INF__manifest_xml": manifest})
    with pytest.raises(ReadingError) as caught:
        read(text)
    assert caught.value.reason == "encrypted"


def test_what_is_no_such_file_says_why(text: Path) -> None:
    text.write_bytes(b"text")
    with pytest.raises(ReadingError) as caught:
        read(text)
    assert caught.value.reason == "broken"
    with zipfile.ZipFile(text, "w") as file:
        file.writestr("other.xml", "<x/>")
    with pytest.raises(ReadingError, match=r"content\.xml"):
        read(text)
    with pytest.raises(ReadingError) as caught:
        read(made(text, "text", "<text:p/>"))
    assert caught.value.reason == "empty"


def test_a_real_text(shared: Path) -> None:
    document = read(shared / "data/awkward/odt__fake.odt")
    assert texts(document) == [
        "Lorem ipsum dolor sit amet.",
        "| Header row | Mon | Wed | Fri |\n| Color | Blue | Red | Green |\n| Time | 1pm | 2pm | 3pm |\n"
        "| Leader | Sarah | Mark | Ryan |",
    ]
