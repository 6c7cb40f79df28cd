"""The part of PyMuPDF that the reader leans on, with names for what its untyped functions return."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pymupdf
from pymupdf.mupdf import FzErrorBase

# Left, top, right, bottom in points from the upper left corner.
Box = tuple[float, float, float, float]
# Glyphs of one font: `text`, `bbox`, `origin`, `size`, `flags`, `char_flags`, `color`, `alpha`.
PdfSpan = dict[str, Any]
# A line or an area that is drawn: `bbox`, `stroked`, `isrect` (its sides run along the page's), `color`, `alpha`.
Shape = dict[str, Any]
# Lines of spans (`type` 0, `lines`) or a `Shape` (`type` 3), in the order in which they are painted.
RawBlock = dict[str, Any]
# Left, top, right, bottom, the letters; then its block, line and place, which nobody here asks for.
PdfWord = tuple[float, float, float, float, str, int, int, int]
# The words of a page with their places; asked for only when a line has to be cut.
PageWords = Callable[[], Sequence[PdfWord]]
# A `pymupdf.Page`; the library brings no types.
Page: TypeAlias = Any
# A `pymupdf.Document`, to be closed by its `with` block.
Pdf: TypeAlias = Any
# What MuPDF raises on a damaged file.
FAULTS: tuple[type[Exception], ...] = (RuntimeError, ValueError, FzErrorBase)
_EVERYWHERE: Box = (-1e6, -1e6, 1e6, 1e6)  # else MuPDF drops what lies outside the page without a word
_NO_MEMORY = re.compile(r"\b(?:m|c|re)alloc")
# Ligatures are spelt out here: MuPDF puts the letters of an Arabic one in the wrong order.
_LIGATURES = re.compile("[\ufb00-\ufd3d\ufd50-\ufdff\ufe70-\ufefc]")
_TEXT = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_PRESERVE_LIGATURES  # without images
_FLAGS = _TEXT | pymupdf.TEXT_COLLECT_VECTORS | pymupdf.TEXT_LAZY_VECTORS  # lazily, so that an underline cuts no line


def open_pdf(file: Path | bytes) -> Pdf:
    """Open a file, or the bytes of one, as a PDF whatever it begins with, MuPDF's own messages silenced.

    Raises:
        Exception: One of `FAULTS`: MuPDF finds no PDF in it.
    """
    tools: Any = pymupdf.TOOLS
    tools.mupdf_display_errors(False)
    tools.mupdf_display_warnings(False)
    opener: Any = pymupdf.open
    if isinstance(file, bytes):
        return opener(stream=file, filetype="pdf")
    return opener(file, filetype="pdf")


class Image(NamedTuple):
    """An image on a page.

    Attributes:
        box: Where it stands.
        pixels: How many it is wide.
        is_opaque: Whether it hides what is painted before it.
    """

    box: Box
    pixels: int
    is_opaque: bool


def raw_blocks(page: Page) -> list[RawBlock]:
    """Return everything on a page that is text or drawn by lines. Raises whatever MuPDF raises on a bad page."""
    blocks: list[RawBlock] = _read(page, _FLAGS).extractDICT()["blocks"]
    for span in (span for block in blocks for line in block.get("lines", ()) for span in line["spans"]):
        span["text"] = _spelt_out(span["text"])
    return blocks


def words(page: Page) -> list[PdfWord]:
    """Return the words of a page with their places."""
    found: list[PdfWord] = _read(page, _TEXT).extractWORDS()
    return [(*word[:4], _spelt_out(word[4]), *word[5:]) for word in found]


def _spelt_out(text: str) -> str:
    """Return a text with its ligatures and presentation forms as the letters that they stand for."""
    return text if text.isascii() else _LIGATURES.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def images(page: Page) -> list[Image]:
    """Return the images on a page; costs more than its text does."""
    shown = _shown(page)
    return [Image(shown(x["bbox"]), x["width"], not x.get("has-mask")) for x in page.get_image_info()]


def painted(page: Page) -> list[tuple[str, Box]]:
    """Return what is painted on a page, in that order: `fill-text`, `fill-image` and the like, and where."""
    shown = _shown(page)
    return [(kind, shown(box)) for kind, box in page.get_bboxlog()]


def _read(page: Page, flags: int) -> Any:  # noqa: ANN401  # a `pymupdf.TextPage`
    # MuPDF reads a page that is turned as if it were not; the matrix puts its words where the eye sees them.
    return page.get_textpage(flags=flags, clip=_EVERYWHERE, matrix=page.rotation_matrix)


def _shown(page: Page) -> Callable[[Box], Box]:
    """Return what tells where a box is seen, on a page that may be turned."""
    if not page.rotation:
        return lambda box: box
    rect: Any = pymupdf.Rect
    matrix = page.rotation_matrix
    return lambda box: tuple(rect(box).transform(matrix))


def raise_if_out_of_memory(error: Exception) -> None:
    """Let an error of MuPDF be the file's fault, unless it says that no memory was left.

    Raises:
        MemoryError: It says so.
    """
    if _NO_MEMORY.search(str(error)):
        raise MemoryError from error
