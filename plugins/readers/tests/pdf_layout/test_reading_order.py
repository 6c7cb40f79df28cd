from dataclasses import replace

import pytest

from anabranch.readers.mupdf import PdfWord
from anabranch_readers.pdf_layout.reading_order import document_paragraphs
from anabranch_readers.pdf_layout.text_lines import Line
from plugins.readers.tests.pdf_layout.build import line, page
from plugins.readers.tests.pdf_layout.test_table_grid import lattice

PROSE = "Some words of plain prose that run on to the end of the line"


def prose(first: float, count: int, x: float = 50, width: float = 500) -> list[Line]:
    return [line(f"{PROSE} {at}", x, first + 12 * at, width=width) for at in range(count)]


def nobody_asks(_: int) -> list[PdfWord]:
    pytest.fail("the places of words are dear")


def test_a_table_stands_between_the_prose_above_and_below() -> None:
    cells = [
        line(text, x, y)
        for text, x, y in (("Part", 55, 204), ("Use", 155, 204), ("Pump", 55, 224), ("lifts", 155, 224))
    ]
    one = replace(page(1, [*cells, *prose(300, 3), *prose(100, 3)]), rulings=lattice([50, 150, 300], [200, 220, 240]))
    found = document_paragraphs([one], nobody_asks)
    assert [paragraph.text[:20] for paragraph in found] == [PROSE[:20], "| Part | Use |\n| Pum", PROSE[:20]]


def test_a_table_in_one_of_two_columns_leaves_the_other_whole() -> None:
    left = [*prose(100, 5, 50, 220), *prose(300, 5, 50, 220)]
    cells = [
        line(text, x, y)
        for text, x, y in (("Part", 55, 204), ("Use", 155, 204), ("Pump", 55, 224), ("lifts", 155, 224))
    ]
    drawn = lattice([50, 150, 270], [200, 220, 240])
    both = replace(page(1, [*prose(100, 17, 320, 220), *left, *cells]), rulings=drawn)
    found = document_paragraphs([both], nobody_asks)
    assert [(paragraph.table, paragraph.text.count(PROSE)) for paragraph in found] == [
        (False, 5),
        (True, 0),
        (False, 5),
        (False, 17),
    ]


def test_the_words_of_a_page_are_asked_for_once() -> None:
    asked: list[int] = []

    def words_on(number: int) -> list[PdfWord]:
        asked.append(number)
        return []

    cells = [line(text, x, y, width=w) for text, x, y, w in (("Part Use", 55, 204, 120), ("Pump lifts", 55, 224, 120))]
    drawn = lattice([50, 150, 300], [200, 220, 240])
    document_paragraphs([replace(page(number, cells), rulings=drawn) for number in (1, 2)], words_on)
    assert asked == [1, 2]


def test_stamps_in_the_margin_come_last_and_sideways_pages_in_the_order_of_the_file() -> None:
    stamp = Line("arXiv:1", 10, 300, 20, 500, 0.0)
    upright = replace(page(1, prose(100, 3)), margin=(stamp,))
    assert [paragraph.text for paragraph in document_paragraphs([upright], nobody_asks)][-1] == "arXiv:1"
    turned = replace(page(1, [line("B.", 300, 100), line("A.", 50, 100)]), upright=False)
    assert [paragraph.text for paragraph in document_paragraphs([turned], nobody_asks)] == ["B. A."]
