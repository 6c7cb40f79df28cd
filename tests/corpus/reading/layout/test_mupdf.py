from pathlib import Path

import pymupdf
import pytest

from anabranch.corpus.reading.layout.mupdf import open_pdf


def test_a_pdf_opens_whatever_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "report"
    made = pymupdf.open()
    made.new_page()
    made.save(str(path))
    with open_pdf(path) as pdf:
        assert (pdf.is_pdf, pdf.page_count, pdf.is_repaired) == (True, 1, False)


def test_what_is_no_pdf_raises_in_silence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(b"plain words")
    with pytest.raises(RuntimeError):
        open_pdf(path)
    assert capfd.readouterr() == ("", "")
