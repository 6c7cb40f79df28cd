from typing import Any

import pymupdf

from anabranch.readers.pdf_layout.mupdf import raw_blocks
from anabranch.readers.pdf_layout.ruling_lines import Rulings, rulings


def drawn(page: Any) -> Rulings:
    found = rulings(block for block in raw_blocks(page) if "lines" not in block)
    return Rulings(*(tuple(type(line)(*map(round, line)) for line in lines) for lines in found))


def test_lines_thin_boxes_and_frames_are_rulings() -> None:
    page = pymupdf.open().new_page()
    page.draw_line((50, 100), (300, 100))
    page.draw_rect((50, 200, 300, 201), fill=(0, 0, 0), color=None)
    page.draw_rect((400, 300, 500, 400))
    found = drawn(page)
    assert found.across == ((100, 50, 300), (200, 50, 300), (300, 400, 500), (400, 400, 500))
    assert found.down == ((400, 300, 400), (500, 300, 400))


def test_pieces_of_one_line_are_one() -> None:
    page = pymupdf.open().new_page()
    for start in (50, 100.5, 152, 300):
        page.draw_line((start, 100 + start % 1), (start + 50, 100 + start % 1))
    assert [(line.start, line.end) for line in drawn(page).across] == [(50, 202), (300, 350)]


def test_slants_curves_grounds_and_specks_are_none() -> None:
    page = pymupdf.open().new_page()
    page.draw_line((0, 0), (300, 300))
    page.draw_circle((300, 300), 40)
    page.draw_rect((50, 200, 300, 260), fill=(0.9, 0.9, 0.9), color=None)
    page.draw_line((10, 500), (12, 500))
    assert drawn(page) == Rulings()


def test_a_map_has_none() -> None:
    shape = {"bbox": (0.0, 0.0, 0.0, 0.0), "stroked": True, "isrect": True}
    many = [shape | {"bbox": (0.0, 9.0 * at, 100.0, 9.0 * at)} for at in range(7000)]
    assert rulings(many) == Rulings()
    assert len(rulings(many[:100]).across) == 100
