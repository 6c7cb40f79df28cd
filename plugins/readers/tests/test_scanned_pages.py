from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from anabranch.errors import ReadingError
from anabranch.readers.document import Document, ReadOptions
from anabranch_readers import scanned_pages
from anabranch_readers.ocr import OcrUnavailable
from anabranch_readers.pdf import read_pdf
from anabranch_readers.scanned_pages import pages_named
from plugins.readers.tests.scanned import WORDS, program, scan
from plugins.readers.tests.test_ocr import stand_in


def read(pdf: Any, folder: Path, **options: Any) -> Document:
    path = folder / "scan.pdf"
    pdf.save(str(path))
    (document,) = read_pdf(path, path.name, ReadOptions(**options))
    return document


def with_text() -> Any:
    pdf = pymupdf.open()
    pdf.new_page(width=500, height=300).insert_textbox((40, 40, 460, 260), "A page with a text layer of its own. " * 4)
    return pdf


def test_scanned_pages_are_read_and_named(tmp_path: Path) -> None:
    program()
    pdf = with_text()
    for number in (2, 3):
        scan(pdf, f"Page {number}. {WORDS}")
    pdf.new_page()
    scan(pdf, f"Last page. {WORDS}")
    document = read(pdf, tmp_path)
    assert re.fullmatch(r"pages 2, 3, 5 were read by OCR \(eng\) in \d+\.\d s", *document.notes)
    assert [(block.page, block.text) for block in document.blocks[1:]] == [
        (2, f"Page 2. {WORDS}"),
        (3, f"Page 3. {WORDS}"),
        (5, f"Last page. {WORDS}"),
    ]


def test_a_stamp_on_a_scan_is_no_text_layer(tmp_path: Path) -> None:
    program()
    pdf = pymupdf.open()
    scan(pdf).insert_text((400, 290), "ACME 000123", fontsize=8)
    document = read(pdf, tmp_path)
    assert WORDS in " ".join(block.text for block in document.blocks)
    assert re.fullmatch(r"page 1 was read by OCR \(eng\) in \d+\.\d s", *document.notes)


def test_a_picture_without_words_stays_one(tmp_path: Path) -> None:
    program()
    pdf = with_text()
    scan(pdf, "")
    assert read(pdf, tmp_path).notes == ("OCR found no more words on page 2",)
    alone = pymupdf.open()
    scan(alone, "")
    with pytest.raises(ReadingError) as caught:
        read(alone, tmp_path)
    assert (caught.value.reason, "OCR found no more words on page 1" in str(caught.value)) == ("scanned", True)


def test_the_same_pages_without_ocr_are_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pdf = with_text()
    scan(pdf)
    scan(pdf).insert_text((400, 290), "ACME 000123", fontsize=8)
    to_do = "(Leave --no-ocr out, or run it through OCR first: ocrmypdf in.pdf out.pdf)"
    assert read(pdf, tmp_path, ocr=False).notes == (
        f"page 2 has no text layer, and OCR is switched off {to_do}",
        f"page 3 has next to no text layer, and OCR is switched off {to_do}",
    )
    alone = pymupdf.open()
    scan(alone)
    with pytest.raises(ReadingError) as caught:
        read(alone, tmp_path, ocr=False)
    assert "--no-ocr" in caught.value.hint
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(scanned_pages, "rapid_ocr", lambda: OcrUnavailable("RapidOCR is not installed", ""))
    with pytest.raises(ReadingError) as caught:
        read(alone, tmp_path)
    assert caught.value.reason == "scanned"
    assert "Tesseract is not on this machine" in str(caught.value)
    assert "tesseract-ocr" in caught.value.hint


@pytest.mark.skipif(sys.platform == "win32", reason="stands in for Tesseract with a shell script")
def test_a_page_that_ocr_fails_on_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, "echo broken >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    pdf = with_text()
    scan(pdf)
    scan(pdf)
    document = read(pdf, tmp_path)
    assert document.notes == ("pages 2, 3 could not be read by OCR: Tesseract failed with code 1: broken",)
    assert len(document.blocks) == 1


def test_real_scans(shared: Path) -> None:
    program()
    folder = shared / "data/awkward"
    phrases = {
        "scanned__loremipsum-flat.pdf": "Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
        "scanned__francais.pdf": "Portez ce vieux whisky au juge blond qui fume",
    }
    for name, phrase in phrases.items():
        (document,) = read_pdf(folder / name, name)
        assert phrase in " ".join(block.text for block in document.blocks)
        assert re.fullmatch(r"page 1 was read by OCR \(eng\) in \d+\.\d s", *document.notes)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([3], "page 3"),
        ([3, 4], "pages 3, 4"),
        ([1, 2, 3], "pages 1-3"),
        ([1, 2, 3, 5, 6, 8, 9, 10], "pages 1-3, 5, 6, 8-10"),
    ],
)
def test_page_numbers_as_people_write_them(numbers: list[int], said: str) -> None:
    assert pages_named(numbers) == said
