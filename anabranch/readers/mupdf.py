"""What is used of PyMuPDF, with names for what its untyped functions return."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import pymupdf
from pymupdf.mupdf import FzErrorBase

from anabranch.readers.tex_codes import code_tables, has_codes

# Left, top, right, bottom in points from the upper left corner.
Box = tuple[float, float, float, float]
# Left, top, right, bottom, the letters; then its block, line and place, which nobody here asks for.
PdfWord = tuple[float, float, float, float, str, int, int, int]
# A `pymupdf.Page`; the library brings no types.
Page: TypeAlias = Any
# A `pymupdf.Document`, to be closed by its `with` block.
Pdf: TypeAlias = Any
# What MuPDF raises on a damaged file.
FAULTS: tuple[type[Exception], ...] = (RuntimeError, ValueError, FzErrorBase)
_EVERYWHERE: Box = (-1e6, -1e6, 1e6, 1e6)  # else MuPDF drops what lies outside the page without a word
# Ligatures are spelt out here: MuPDF puts the letters of an Arabic one in the wrong order.
_LIGATURES = re.compile("[\ufb00-\ufd3d\ufd50-\ufdff\ufe70-\ufefc]")
TEXT = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_PRESERVE_LIGATURES  # without images


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


def words(page: Page) -> list[PdfWord]:
    """Return the words of a page with their places."""
    text = text_page(page, TEXT)
    found: list[PdfWord] = text.extractWORDS()
    # MuPDF parts words at control characters, and leaves these out.
    if has_codes(text.extractText()):
        found = list(_words_with_codes(page, text.extractRAWDICT()["blocks"]))
    return [(*word[:4], spell_out(word[4]), *word[5:]) for word in found]


def spans_of(blocks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the spans of all lines."""
    return (span for block in blocks for line in block.get("lines", ()) for span in line["spans"])


def _words_with_codes(page: Page, blocks: Sequence[dict[str, Any]]) -> Iterator[PdfWord]:
    """Yield the words of a page, put together from its single letters, with the codes of bitmap fonts spelt out."""
    texts = (("".join(letter["c"] for letter in span["chars"]), span["font"]) for span in spans_of(blocks))
    tables = code_tables(page, texts)
    for number, block in enumerate(blocks):
        for at, line in enumerate(block.get("lines", ())):
            letters = [
                (letter["c"].translate(tables.get(span["font"], {})), letter["bbox"])
                for span in line["spans"]
                for letter in span["chars"]
            ]
            runs = (list(run) for is_word, run in groupby(letters, _is_in_word) if is_word)
            for place, run in enumerate(runs):
                left, top, right, bottom = zip(*(box for _, box in run), strict=True)
                word = "".join(text for text, _ in run)
                yield min(left), min(top), max(right), max(bottom), word, number, at, place


def _is_in_word(letter: tuple[str, Box]) -> bool:
    return letter[0] > " " and letter[0] != "\xa0"


def spell_out(text: str) -> str:
    """Return a text with its ligatures and presentation forms as the letters that they stand for."""
    return text if text.isascii() else _LIGATURES.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def text_page(page: Page, flags: int) -> Any:  # noqa: ANN401  # a `pymupdf.TextPage`
    """Return the text of a page, all of it and turned upright. Raises whatever MuPDF raises on a bad page."""
    # MuPDF reads a page that is turned as if it were not; the matrix puts its words where the eye sees them.
    return page.get_textpage(flags=flags, clip=_EVERYWHERE, matrix=page.rotation_matrix)
