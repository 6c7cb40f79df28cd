import io
import os
import random
import zipfile
from pathlib import Path

import docx
import pymupdf
import pytest
import xlsxwriter
from pptx import Presentation

from anabranch import readers
from anabranch.errors import ReadingError
from anabranch.readers import READERS, Failure, Reader, read
from anabranch.readers.document import Document, ReadOptions
from anabranch.readers.size_limit import SizeLimit, limit_of
from anabranch_readers.code_languages import LANGUAGES
from plugins.readers.tests.format_samples import FORMATS
from tests.readers.test_readers import reason


def small_pdf() -> bytes:
    pdf = pymupdf.open()
    pdf.new_page().insert_text((72, 72), "some words")
    pdf.set_toc([[1, "A", 1], [1, "B", 1]])
    return bytes(pdf.tobytes())


def small_docx() -> bytes:
    word = docx.Document()
    word.add_paragraph("some words")
    word.add_table(2, 2).cell(0, 0).text = "cell"
    buffer = io.BytesIO()
    word.save(buffer)
    return buffer.getvalue()


def small_pptx() -> bytes:
    deck = Presentation()
    made = deck.slides.add_slide(deck.slide_layouts[1])
    made.shapes.title.text = "some words"
    made.shapes.add_table(2, 2, 0, 0, 9, 9).table.cell(0, 0).text = "cell"
    buffer = io.BytesIO()
    deck.save(buffer)
    return buffer.getvalue()


def small_xlsx() -> bytes:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer) as workbook:
        workbook.add_worksheet().write_row(0, 0, ["some words", 1.5])
    return buffer.getvalue()


def packed(**entries: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=zipfile.ZIP_DEFLATED) as file:
        for name, text in entries.items():
            file.writestr(name.replace("_", "."), text)
    return buffer.getvalue()


def small_odt() -> bytes:
    return packed(content_xml="<d xmlns:t='urn:t'><t:body><t:text><t:p>some words</t:p></t:text></t:body></d>")


def small_epub() -> bytes:
    item = "<item id='a' href='a.html' media-type='application/xhtml+xml'/>"
    package = f"<package><manifest>{item}</manifest><spine><itemref idref='a'/></spine></package>"
    return packed(a_opf=package, a_html="<p>some words</p>")


SAMPLES = {
    ".pdf": small_pdf,
    ".docx": small_docx,
    ".md": lambda: b"# Head\n\nsome words\n",
    ".txt": lambda: b"some words\n",
    ".html": lambda: b"<h1>Head</h1><p>some words",
    ".jsonl": lambda: b'{"id": "a", "text": "some words"}\n',
    ".pptx": small_pptx,
    ".xlsx": small_xlsx,
    ".odt": small_odt,
    ".epub": small_epub,
    ".eml": lambda: b"From: a@b.c\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n\nsome words\n",
    ".csv": lambda: b'a,b\nsome words,"quoted ""text"""\n',
    ".ipynb": lambda: b'{"cells": [{"cell_type": "markdown", "source": ["some words"]}]}',
    ".py": lambda: b"def first():\n    return 'some words'\n",
}
SAMPLES |= FORMATS
TWINS = {".markdown": ".md", ".text": ".txt", ".log": ".txt", ".htm": ".html", ".xhtml": ".html"}
TWINS |= {".ndjson": ".jsonl", ".pptm": ".pptx", ".ppsx": ".pptx", ".xlsm": ".xlsx", ".ods": ".odt", ".odp": ".odt"}
TWINS |= {".tsv": ".csv", ".tab": ".csv"} | dict.fromkeys(LANGUAGES.keys() - {".json", ".xml"}, ".py")
TWINS |= dict.fromkeys((".docm", ".dotx", ".dotm"), ".docx") | dict.fromkeys((".mdx", ".qmd", ".rmd"), ".md")
TWINS |= {".mht": ".mhtml", ".asciidoc": ".adoc", ".oxps": ".xps", ".rss": ".xml", ".atom": ".xml", ".srt": ".vtt"}
TWINS |= dict.fromkeys((".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp"), ".png") | {".ppt": ".doc", ".xlsb": ".xls"}
TWINS |= dict.fromkeys(
    (".2", ".3", ".4", ".5", ".6", ".7", ".8", ".9", ".1p", ".3p", ".1ssl", ".3ssl", ".5ssl", ".7ssl"), ".1"
)
TWINS |= dict.fromkeys((".3pm", ".3perl", ".1posix", ".3posix"), ".1")
# Read only where an engine for OCR is, and of what no library here writes a sample: tried in files of their own.
APART = {".png", ".ppt", ".xlsb"}


@pytest.mark.parametrize("extension", [each for each in READERS.names if not {each, TWINS.get(each)} & APART])
def test_every_known_extension_is_read_in_either_case(tmp_path: Path, extension: str) -> None:
    sample = SAMPLES[TWINS.get(extension, extension)]()
    for name in (f"a{extension}", f"A{extension.upper()}"):
        (tmp_path / name).write_bytes(sample)
        (document,) = read(tmp_path / name, f"docs/{name}")
        assert isinstance(document, Document)
        assert any("some words" in block.text for block in document.blocks)
        assert document.source.startswith(f"docs/{name}")
        assert document.key
        assert document.title


def test_extensions_are_lower_case() -> None:
    named = [extension for extension in READERS.names if extension]
    assert all(extension == extension.lower() and extension.startswith(".") for extension in named)


@pytest.mark.parametrize("extension", READERS.names)
def test_no_bytes_are_empty(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"a{extension}"
    path.touch()
    assert reason(path) == "empty"


@pytest.mark.parametrize(
    ("extensions", "most"),
    [
        (".pdf .html .htm .xhtml .docx .pptx .pptm .ppsx .xlsx .xlsm .odt .ods .odp .epub .eml", 1 << 30),
        (".txt .text .log .md .markdown .mdx .qmd .rmd", 100 << 20),
        (".doc .ppt .xls .xlsb .msg .png .jpg", 1 << 28),
        (".json", 1 << 27),
        (".rst .org .adoc .tex .rtf .ics .fb2 .mhtml .vtt .srt .xml", 1 << 25),
        (".ipynb", 1 << 27),
        (" ".join(LANGUAGES.keys() - {".json"}), 1 << 25),
    ],
)
def test_a_file_over_its_limit_is_refused(tmp_path: Path, extensions: str, most: int) -> None:
    for extension in extensions.split():
        with (tmp_path / f"a{extension}").open("wb") as file:
            file.truncate(most + 1)  # a hole, which takes no room on the disk
        assert reason(tmp_path / f"a{extension}") == "too_large"


def test_what_is_streamed_has_no_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tiny(reader: Reader) -> SizeLimit:
        usual = limit_of(reader)
        return usual._replace(most_bytes=usual.most_bytes and 10)

    monkeypatch.setattr(readers, "limit_of", tiny)
    for extension in (".jsonl", ".ndjson", ".csv", ".tsv", ".tab", ".mbox", ".parquet"):
        (tmp_path / f"a{extension}").write_bytes(SAMPLES[TWINS.get(extension, extension)]())
        assert len(list(read(tmp_path / f"a{extension}", "a"))) == 1
    (tmp_path / "a.html").write_bytes(b"more than ten bytes")
    assert reason(tmp_path / "a.html") == "too_large"


@pytest.mark.parametrize("extension", [".pdf", ".docx", ".pptx", ".xlsx", ".odt", ".epub"])
def test_the_wrong_content_is_broken(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"a{extension}"
    for data in (b"<html>hello</html>", b"PK\x03\x04", small_pdf()[:200], small_docx()[:-30], os.urandom(2000)):
        path.write_bytes(data)
        assert reason(path) == "broken"


@pytest.mark.parametrize("times", [12, pytest.param(200, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("extension", SAMPLES)
def test_damage_gives_text_or_a_reason_and_nothing_else(tmp_path: Path, extension: str, times: int) -> None:
    chance = random.Random(extension)
    path = tmp_path / f"a{extension}"
    whole = SAMPLES[extension]()
    options = ReadOptions(ocr=times > 12)  # an engine takes seconds to load, and sees pictures of what is left
    for _ in range(times):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 20)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data[: chance.randint(1, len(data))] if chance.random() < 0.3 else data)
        try:
            found = list(read(path, path.name, options))
        except ReadingError as error:
            assert error.reason in {"broken", "empty", "encoding", "encrypted", "scanned", "unsupported", "too_large"}
        else:
            assert all(isinstance(item, Failure) or item.blocks for item in found)
