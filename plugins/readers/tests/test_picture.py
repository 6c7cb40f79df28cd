from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from PIL import Image

from anabranch.errors import ReadingError
from anabranch.readers.document import ReadOptions
from anabranch_readers import scanned_pages, zip_container
from anabranch_readers.ocr import OcrUnavailable, Recognised
from anabranch_readers.pdf_layout.text_lines import Line
from plugins.readers.tests.format_samples import xps
from plugins.readers.tests.scanned import picture
from tests.readers.read_bytes import documents, reason, texts


class Engine:
    """Stands in for OCR: says the colours that it was shown."""

    languages = ("eng",)

    def read(self, shown: bytes, dpi: float) -> Recognised:
        with Image.open(io.BytesIO(shown)) as image:
            said = f"words in mode {image.mode}"
        return Recognised((Line(said, 50, 50, 300, 66, 12),), (), 500, 300)


@pytest.fixture
def engine(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(scanned_pages, "rapid_ocr", Engine)


def as_file(kind: str) -> bytes:
    with Image.open(io.BytesIO(picture())) as image:
        buffer = io.BytesIO()
        image.convert("RGB").save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("kind", ["png", "jpeg", "tiff", "bmp", "webp"])
def test_a_picture_goes_through_ocr_in_colour(tmp_path: Path, kind: str) -> None:
    (document,) = documents(tmp_path, f"scan.{kind}", as_file(kind))
    assert [block.text for block in document.blocks] == ["words in mode RGB"]
    assert document.metadata == {"format": kind}
    assert re.fullmatch(r"page 1 was read by OCR \(eng\) in \d+\.\d s", *document.notes)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("size", "left_out"), [((99, 800), True), ((800, 16), True), ((100, 100), False)])
def test_an_icon_is_left_out(tmp_path: Path, size: tuple[int, int], left_out: bool) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", size).save(buffer, "png")
    if left_out:
        with pytest.raises(ReadingError, match="less than 100 pixels") as caught:
            documents(tmp_path, "plus.png", buffer.getvalue())
        assert caught.value.reason == "unsupported"
    else:
        assert texts(tmp_path, "plus.png", buffer.getvalue()) == ["words in mode RGB"]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("said", "left_out"), [("Max age", True), ("文字", True), ("Max age 30", False), ("文字识别", False)]
)
def test_a_picture_of_a_word_or_two_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, left_out: bool
) -> None:
    shown = Recognised((Line(said, 50, 50, 300, 66, 12),), (), 500, 300)
    monkeypatch.setattr(Engine, "read", lambda *_: shown)
    if left_out:
        with pytest.raises(ReadingError, match="fewer than 3 words"):
            documents(tmp_path, "scan.png", picture())
    else:
        assert texts(tmp_path, "scan.png", picture()) == [said]


@pytest.mark.usefixtures("engine")
def test_each_page_of_a_tiff_is_one(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(picture())) as image:
        image.save(buffer, "tiff", save_all=True, append_images=[image, image])
    (document,) = documents(tmp_path, "scan.tif", buffer.getvalue())
    assert [block.page for block in document.blocks] == [1, 2, 3]
    assert document.metadata["pages"] == 3


def test_without_ocr_a_picture_is_skipped_and_it_is_said_what_is_missing(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(scanned_pages, "rapid_ocr", lambda: OcrUnavailable("RapidOCR is not installed", ""))
    with pytest.raises(ReadingError, match="Tesseract is not on this machine") as caught:
        documents(tmp_path, "scan.png", picture())
    assert caught.value.reason == "unsupported"
    assert reason(tmp_path, "scan.png", picture(), ReadOptions(ocr=False)) == "unsupported"


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tiff", "a.webp", "a.xps"])
def test_damage_is_broken(tmp_path: Path, name: str) -> None:
    assert reason(tmp_path, name, b"no picture at all") == "broken"


def test_an_xps_document(tmp_path: Path) -> None:
    assert texts(tmp_path, "a.xps", xps("Some words in XPS")) == ["Some words in XPS"]


def test_an_xps_document_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(zip_container, "MOST_UNPACKED", 1000)
    assert reason(tmp_path, "a.xps", xps()) == "too_large"
