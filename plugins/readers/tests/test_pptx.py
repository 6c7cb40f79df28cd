import zipfile
from pathlib import Path

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.presentation import Presentation as Deck
from pptx.slide import Slide
from pptx.util import Inches

from anabranch.errors import ReadingError
from anabranch.readers.document import Document
from anabranch_readers.pptx import read_pptx

TITLE, BODY, TITLE_ONLY, BLANK = 0, 1, 5, 6


def read(tmp_path: Path, deck: Deck) -> Document:
    path = tmp_path / "deck.pptx"
    deck.save(str(path))
    (document,) = read_pptx(path, "deck.pptx")
    return document


def slide(deck: Deck, title: str = "", *lines: str) -> Slide:
    made = deck.slides.add_slide(deck.slide_layouts[BODY if lines else TITLE_ONLY if title else BLANK])
    if title:
        made.shapes.title.text = title
    if lines:
        made.placeholders[1].text = "\n".join(lines)
    return made


def box(made: Slide, text: str, left: float = 1) -> object:
    shape = made.shapes.add_textbox(Inches(left), 0, Inches(1), Inches(1))
    shape.text_frame.text = text
    return shape


def texts(document: Document) -> list[str]:
    return [block.text for block in document.blocks]


def test_slides_are_pages_under_their_titles(tmp_path: Path) -> None:
    deck = Presentation()
    slide(deck, "First", "one", "two")
    box(slide(deck), "no title here")
    deck.core_properties.author = "Ada"
    document = read(tmp_path, deck)
    assert [(block.text, block.page, block.heading, block.is_heading) for block in document.blocks] == [
        ("First", 1, ("First",), True),
        ("- one\n- two", 1, ("First",), False),
        ("no title here", 2, (), False),
    ]
    assert document.title == "First"
    assert document.metadata == {"format": "pptx", "pages": 2, "author": "Ada"}
    assert document.notes == ()


@pytest.mark.parametrize(("declared", "title"), [("The plan", "The plan"), ("PowerPoint Presentation", "First")])
def test_the_title_that_is_declared(tmp_path: Path, declared: str, title: str) -> None:
    deck = Presentation()
    slide(deck, "First")
    deck.core_properties.title = declared
    assert read(tmp_path, deck).title == title


def test_tables_and_groups(tmp_path: Path) -> None:
    deck = Presentation()
    made = slide(deck, "Slide")
    table = made.shapes.add_table(2, 3, 0, 0, Inches(3), Inches(1)).table
    for number, cell in enumerate(table.iter_cells()):
        cell.text = f"c{number}"
    table.cell(1, 0).merge(table.cell(1, 1))
    group = made.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "in a group"
    assert texts(read(tmp_path, deck))[1:] == ["| c0 | c1 | c2 |\n| c3 c4 |  | c5 |", "in a group"]


def test_merged_cells_stand_over_each_column_and_in_each_row(tmp_path: Path) -> None:
    deck = Presentation()
    table = slide(deck, "Slide").shapes.add_table(4, 3, 0, 0, Inches(3), Inches(1)).table
    for place, text in {(0, 0): "Region", (0, 1): "Umsatz", (1, 1): "2023", (1, 2): "2024", (2, 0): "Nord"}.items():
        table.cell(*place).text = text
    for place, text in {(2, 1): "10", (2, 2): "20", (3, 1): "11", (3, 2): "21"}.items():
        table.cell(*place).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(0, 0).merge(table.cell(1, 0))
    table.cell(2, 0).merge(table.cell(3, 0))
    assert texts(read(tmp_path, deck))[1:] == [
        "| Region | Umsatz 2023 | Umsatz 2024 |\n| Nord | 10 | 20 |\n| Nord | 11 | 21 |"
    ]


def test_a_long_table_repeats_its_header(tmp_path: Path) -> None:
    deck = Presentation()
    table = slide(deck, "Slide").shapes.add_table(40, 2, 0, 0, Inches(3), Inches(1)).table
    for number, row in enumerate(table.rows):
        for cell, text in zip(row.cells, ("Werk", "2023") if not number else (f"Halle {number}", "7"), strict=True):
            cell.text = text
    found = texts(read(tmp_path, deck))[1:]
    assert len(found) > 2
    assert all(text.startswith("| Werk | 2023 |\n| Halle ") for text in found)


def test_charts_are_tables_of_their_numbers(tmp_path: Path) -> None:
    deck = Presentation()
    made = slide(deck, "Slide")
    bars = CategoryChartData()
    bars.categories = ["East", "West"]
    bars.add_series("Sales", (1.5, 2))
    bars.add_series("Share", (0.25, None), "0%")
    chart = made.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(3), Inches(3), bars).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "By region"
    dots = XyChartData()
    dots.add_series("Dots").add_data_point(1, 2)
    made.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, 0, 0, Inches(3), Inches(3), dots)
    assert texts(read(tmp_path, deck))[1:] == [
        "By region",
        "| category | Sales | Share |\n| East | 1.5 | 25% |\n| West | 2 |  |",
        "| category | Dots |\n| 1 | 2 |",
    ]


def test_speaker_notes_are_said_to_be_such(tmp_path: Path) -> None:
    deck = Presentation()
    slide(deck, "Slide").notes_slide.notes_text_frame.text = "say this\nand that"
    assert read(tmp_path, deck).blocks[-1].text == "Speaker notes: say this\nand that"


def test_what_is_hidden_is_left_out_and_counted(tmp_path: Path) -> None:
    deck = Presentation()
    made = slide(deck, "Slide")
    box(made, "beside the slide", left=-5)
    box(made, "switched off")._element.nvSpPr.cNvPr.set("hidden", "1")
    box(made, "x").text_frame.paragraphs[0].runs[0].font.size = 12700
    slide(deck, "Unshown")._element.set("show", "0")
    slide(deck, "Third")
    document = read(tmp_path, deck)
    assert [(block.text, block.page) for block in document.blocks] == [("Slide", 1), ("Third", 3)]
    assert document.notes == ("hidden slides were left out (1)", "hidden text was left out (29 characters)")


def test_running_footers_go_and_bare_slides_are_noted(tmp_path: Path) -> None:
    deck = Presentation()
    made = slide(deck, "Slide")
    for placeholder in deck.slide_layouts[TITLE_ONLY].placeholders:
        if "Footer" in placeholder.name:
            made.shapes.clone_placeholder(placeholder)
            made.placeholders[placeholder.placeholder_format.idx].text = "Confidential"
    slide(deck)
    document = read(tmp_path, deck)
    assert texts(document) == ["Slide"]
    assert document.notes == ("slides without text: 2",)


def test_files_in_slides_are_noted(tmp_path: Path) -> None:
    deck = Presentation()
    made = slide(deck, "Slide")
    other = tmp_path / "table.xlsx"
    other.write_bytes(b"anything")
    made.shapes.add_ole_object(str(other), "Excel.Sheet.12", 0, 0)
    assert read(tmp_path, deck).notes == ("embedded files were not read (1)",)


def test_slide_shows_and_macros_are_read(tmp_path: Path) -> None:
    deck = Presentation()
    slide(deck, "Slide")
    source = tmp_path / "deck.pptx"
    deck.save(str(source))
    for kind in ("slideshow", "presentation.macroEnabled"):
        path = tmp_path / "other.pptx"
        with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w") as new:
            for name in old.namelist():
                main = b"presentationml.presentation.main"
                new.writestr(name, old.read(name).replace(main, f"presentationml.{kind}.main".encode()))
        (document,) = read_pptx(path, "other.pptx")
        assert texts(document) == ["Slide"]


def test_a_part_that_is_missing_costs_only_itself(tmp_path: Path) -> None:
    deck = Presentation()
    slide(deck, "First")
    slide(deck, "Second")
    deck.save(str(tmp_path / "deck.pptx"))
    path = tmp_path / "cut.pptx"
    with zipfile.ZipFile(tmp_path / "deck.pptx") as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            if name != "ppt/slides/slide1.xml":
                new.writestr(name, old.read(name))
    (document,) = read_pptx(path, "cut.pptx")
    assert [(block.text, block.page) for block in document.blocks] == [("Second", 2)]


def test_what_is_no_presentation_says_why(tmp_path: Path) -> None:
    path = tmp_path / "x.pptx"
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    for data, reason in [
        (b"text", "broken"),
        (ole + b"\x00" * 600, "unsupported"),
        (ole + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
    ]:
        path.write_bytes(data)
        with pytest.raises(ReadingError) as caught:
            next(read_pptx(path, "x.pptx"))
        assert caught.value.reason == reason
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, Presentation())
    assert caught.value.reason == "empty"


def test_a_real_presentation(shared: Path) -> None:
    (document,) = read_pptx(shared / "data/awkward/pptx__sample-presentation.pptx", "sample.pptx")
    assert [block.text for block in document.blocks if block.is_heading][1] == "This is the first content slide"
    assert "- Topic 1\n  - Subtopic 1\n  - Subtopic 2\n    - Subtopic 1 of subtopic 2" in "\n".join(texts(document))
    assert "| Table | A | B | C |\n| 1 | A1 | B1 | C1 |" in "\n".join(texts(document))
