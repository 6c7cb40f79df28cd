from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.read_bytes import documents, reason


def pdf(count: bytes) -> bytes:
    """Return a PDF with one page whose tree of pages says that there are `count`."""
    text = b"BT /F1 24 Tf 72 700 Td (TestString123 words) Tj ET"
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count " + count + b" >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data = b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % each for each in enumerate(parts, 1))
    return data + b"trailer\n<< /Size 6 /Root 1 0 R >>\n%%EOF\n"


@pytest.mark.parametrize("count", [b"-1", b"999999999999"])
def test_a_file_that_mupdf_gives_up_is_read_by_pdfium(tmp_path: Path, count: bytes) -> None:
    (document,) = documents(tmp_path, "a.pdf", pdf(count))
    assert [(block.text, block.page) for block in document.blocks] == [("TestString123 words", 1)]
    assert document.notes == ("the file is damaged: it was read as PDFium repaired it",)


def test_a_sound_file_is_read_without_it(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "a.pdf", pdf(b"1"))
    assert document.notes == ()


def test_what_neither_can_read_is_broken_and_not_blank(tmp_path: Path) -> None:
    assert reason(tmp_path, "a.pdf", b"%PDF-1.4\nnothing") == "broken"
    assert reason(tmp_path, "a.pdf", pdf(b"1").replace(b"/Pages 2 0 R", b"            ")) == "broken"
