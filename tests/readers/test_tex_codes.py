from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from anabranch.readers.mupdf import open_pdf, words
from anabranch.readers.tex_codes import code_tables
from tests.readers.bitmap_font import bitmap_pdf
from tests.readers.read_bytes import texts

CORK = [b"a signi\x1ccant di\x1berence of 2\x154 \x16 for \x1drst", b"\x10quoted\x11 stra\xffe and e\x1ecient ba\x1fe"]


@pytest.mark.parametrize("named", [True, False])
def test_ligatures_dashes_and_quotation_marks_are_read(tmp_path: Path, named: bool) -> None:
    (text,) = texts(tmp_path, "paper.pdf", bitmap_pdf(CORK, named=named))
    assert text == "a significant difference of 2–4 — for flrst “quoted” straße and efficient baffle"


def test_words_are_whole_and_in_their_place() -> None:
    with open_pdf(bitmap_pdf(CORK)) as pdf:
        found = words(pdf[0])
    assert [word[4] for word in found][:6] == ["a", "significant", "difference", "of", "2–4", "—"]
    # 11 letters are drawn as 10 glyphs: from 48 to 98 points.
    assert found[1][:4] == pytest.approx((48, 40, 98, 50), abs=0.1)
    assert [word[5:] for word in found if word[4] == "“quoted”"] == [(0, 1, 0)]


def test_the_older_encoding_is_told_by_its_ligatures(tmp_path: Path) -> None:
    lines = [b"a signi\x0ccant di\x0berence, a \rag, e\x0ecient ba\x0fe", b"b\x1bufs and na\x10ve stra\x19e"]
    (text,) = texts(tmp_path, "paper.pdf", bitmap_pdf(lines))
    assert text == "a significant difference, a flag, efficient baffle bœufs and naıve straße"


def test_a_font_of_formulas_keeps_its_codes() -> None:
    with open_pdf(bitmap_pdf([b"x\x0c y\x1c z"])) as pdf:
        assert "fi" not in "".join(word[4] for word in words(pdf[0]))


def test_a_bitmap_font_without_codes_keeps_its_letters_beside_one_with_codes() -> None:
    class Page:
        def get_fonts(self) -> list[tuple[object, ...]]:
            return [(5, "n/a", "Type3", "F1", "F1", ""), (6, "n/a", "Type3", "Figure", "F2", "")]

    tables = code_tables(Page(), [("signi\x1ccant", "F1"), ("a grid of 3\xd74 cells", "Figure")])
    assert [*tables] == ["F1"]


def test_other_fonts_keep_theirs(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    pdf.new_page().insert_text((72, 72), "the signi\x1ccant words")
    assert "fi" not in texts(tmp_path, "paper.pdf", bytes(pdf.tobytes()))[0]
