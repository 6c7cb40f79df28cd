"""What else than words MuPDF finds on a page: glyphs, lines, areas and images."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pymupdf

from anabranch.readers.mupdf import TEXT, Box, Page, PdfWord, spans_of, spell_out, text_page
from anabranch.readers.tex_codes import code_tables, has_codes

# Glyphs of one font: `text`, `bbox`, `origin`, `size`, `flags`, `char_flags`, `color`, `alpha`.
PdfSpan = dict[str, Any]
# A line or an area that is drawn: `bbox`, `stroked`, `isrect` (its sides run along the page's), `color`, `alpha`.
Shape = dict[str, Any]
# Lines of spans (`type` 0, `lines`) or a `Shape` (`type` 3), in the order in which they are painted.
RawBlock = dict[str, Any]
# The words of a page with their places; asked for only when a line has to be cut.
PageWords = Callable[[], Sequence[PdfWord]]
_NO_MEMORY = re.compile(r"\b(?:m|c|re)alloc")
_FLAGS = TEXT | pymupdf.TEXT_COLLECT_VECTORS | pymupdf.TEXT_LAZY_VECTORS  # lazily, so that an underline cuts no line


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
    blocks: list[RawBlock] = text_page(page, _FLAGS).extractDICT()["blocks"]
    spans = list(spans_of(blocks))
    if any(has_codes(span["text"]) for span in spans):
        tables = code_tables(page, ((span["text"], span["font"]) for span in spans))
        for span in spans:
            span["text"] = span["text"].translate(tables.get(span["font"], {}))
    for span in spans:
        span["text"] = spell_out(span["text"])
    return blocks


def list_images(page: Page) -> list[Image]:
    """Return the images on a page; costs more than its text does."""
    turned = _turned(page)
    return [Image(turned(x["bbox"]), x["width"], not x.get("has-mask")) for x in page.get_image_info()]


def list_painted(page: Page) -> list[tuple[str, Box]]:
    """Return what is painted on a page, in that order: `fill-text`, `fill-image` and the like, and where."""
    turned = _turned(page)
    return [(kind, turned(box)) for kind, box in page.get_bboxlog()]


def _turned(page: Page) -> Callable[[Box], Box]:
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
