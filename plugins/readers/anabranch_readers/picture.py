"""Read what MuPDF reads and is no PDF: pictures and scans by OCR, and XPS; each as the PDF that it makes of it."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymupdf

from anabranch.errors import MissingExtraError, ReadingError
from anabranch.readers.document import PLAIN, Document, ReadOptions
from anabranch.readers.mupdf import FAULTS, Page
from anabranch.readers.size_limit import limited
from anabranch_readers.page_contents import raise_if_out_of_memory
from anabranch_readers.pdf import read_pdf
from anabranch_readers.scanned_pages import NoTextLayerError
from anabranch_readers.zip_container import ZipFormat, check

_XPS = ZipFormat("XPS document")
_SMALLEST, _FEWEST = 100, 3  # pixels of a side, and words: smaller is an icon, and fewer are a label or a guess
_WORD = re.compile("[\u2e80-\ud7ff]|\\w+")
_WEBP = b"WEBP"  # at byte 8 (developers.google.com/speed/webp/docs/riff_container)


@limited(1 << 28)
def read_picture(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a picture of text; a TIFF may have several pages.

    Raises:
        ReadingError: `broken`; `unsupported` when it is an icon, when fewer than three words are found on it, or there
            is no OCR: a picture beside the notes is no failure.
    """
    data = path.read_bytes()
    data = _from_webp(data) if data[8:12] == _WEBP else data
    try:
        found = [*_as_pdf(data, path, source, options)]
    except ReadingError as error:
        if error.reason not in {"scanned", "empty"}:
            raise
        lack = error.lack if isinstance(error, NoTextLayerError) else None
        why = f"{lack.what}." if lack else "no text is found on it."
        raise ReadingError(f"{source!r} is a picture; {why}", reason="unsupported", hint=error.hint) from error
    if sum(len(_WORD.findall(block.text)) for document in found for block in document.blocks) < _FEWEST:
        why = f"{source!r} is a picture; fewer than {_FEWEST} words are found on it."
        raise ReadingError(why, reason="unsupported")
    yield from found


def read_xps(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of an XPS file, as `read_pdf` does.

    Raises:
        ReadingError: `broken`, `too_large`, `scanned`, `empty`.
    """
    check(path, source, _XPS)
    yield from _as_pdf(path.read_bytes(), path, source, options)


def _as_pdf(data: bytes, path: Path, source: str, options: ReadOptions) -> Iterator[Document]:
    kind = path.suffix.lower().removeprefix(".")
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
        copy = Path(folder) / f"{path.stem}.pdf"
        copy.write_bytes(_converted(data, kind, source))
        for document in read_pdf(copy, source, options):
            facts = {name: value for name, value in document.metadata.items() if name != "pages" or value > 1}
            yield replace(document, metadata={**facts, "format": kind})


def _converted(data: bytes, kind: str, source: str) -> bytes:
    tools: Any = pymupdf.TOOLS
    tools.mupdf_display_errors(False)
    tools.mupdf_display_warnings(False)
    opener: Any = pymupdf.open
    try:
        with opener(stream=data, filetype="xps" if kind == "oxps" else kind) as found:
            sides = [] if "xps" in kind else _sides(found[0])
            pages: bytes = found.convert_to_pdf() if min(sides, default=_SMALLEST) >= _SMALLEST else b""
    except FAULTS as error:
        raise_if_out_of_memory(error)
        msg = f"{source!r} is damaged, or is not what its extension says."
        raise ReadingError(msg, reason="broken", hint="Export or download it again.") from error
    if not pages:
        raise ReadingError(f"{source!r} is a picture of less than {_SMALLEST} pixels on a side.", reason="unsupported")
    return pages


def _sides(page: Page) -> list[int]:
    return [image[side] for image in page.get_image_info() for side in ("width", "height")]


def _from_webp(data: bytes) -> bytes:
    """Return a WebP as PNG: MuPDF does not read it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError("Reading WebP pictures", "ocr") from error
    png = io.BytesIO()
    with Image.open(io.BytesIO(data)) as picture:
        picture.convert("RGB").save(png, "png")
    return png.getvalue()
