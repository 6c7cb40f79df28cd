"""The lines of a PDF page, with what the eye cannot see left out.

MuPDF gives lines that end at every wide gap, so a table cell is a line of its own. Text that a person would not see
(white on white, too small, invisible without a scan beneath it, outside the page) is dropped and counted, because it
is a way to plant instructions in a document. The invisible layer that OCR puts over a scan stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import pymupdf

from anabranch.corpus.reading.cleaning import squeeze
from anabranch.corpus.reading.layout.mupdf import Box, Page, Span

_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE  # without images, ligatures spelt out
_EVERYWHERE: Box = (-1e6, -1e6, 1e6, 1e6)  # else MuPDF drops what lies outside the page without a word
_BOLD, _ITALIC = 1 << 4, 1 << 1
_PAINTED = 1 << 4 | 1 << 5 | 1 << 6  # filled, stroked or used for clipping
_LEAST_SIZE = 1.0
_WHITE = 0xF0
_PROBE = 800
_MOST = 2 / 3
_SOFT_HYPHEN = re.compile(r"\u00ad\s*$")  # shown at a line end, and nowhere else
_LEADER = re.compile(r"\s*(?:[.·_]\s?){5,}")


@dataclass(frozen=True, slots=True)
class Line:
    """A run of glyphs on one baseline, without a wide gap inside.

    Attributes:
        text: Cleaned, stripped, never empty.
        x0: Left edge in points from the left of the page.
        y0: Top of the letters in points from the top of the page, from baseline and size (font boxes overlap).
        x1: Right edge.
        y1: Bottom of the letters.
        size: Font size of most of its letters, in points; 0 in the margin (see `PageLines.margin`).
        bold: Whether two thirds of its letters or more are bold.
        italic: The same for italics.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool = False
    italic: bool = False


@dataclass(frozen=True, slots=True)
class PageLines:
    """One page, read.

    Attributes:
        number: 1-based.
        width: In points.
        height: In points.
        lines: In the order of the file.
        margin: Lines that run up or down an upright page: stamps, labels of axes.
        hidden: How many letters were dropped because nobody would see them.
        upright: False when the text runs vertically, so that only the order of the file is known.
        pictured: Whether the page shows an image or a drawing.
    """

    number: int
    width: float
    height: float
    lines: tuple[Line, ...]
    margin: tuple[Line, ...]
    hidden: int
    upright: bool
    pictured: bool


def page_lines(page: Page) -> PageLines:
    """Return the lines of a `pymupdf.Page`. Raises whatever MuPDF raises on a page that it cannot read."""
    raw = page.get_text("dict", flags=_FLAGS, clip=_EVERYWHERE)
    lines = [line for block in raw["blocks"] for line in block["lines"]]
    spans = [span for line in lines for span in line["spans"] if span["text"].strip()]
    is_hidden = _hidden_test(page, spans)
    hidden = sum(len(span["text"].strip()) for span in spans if is_hidden(span))
    along = [line for line in lines if _runs_along(line)]
    upright = len(along) < 0.2 * len(lines) or not along
    margin = [replace(line, size=0.0) for line in _build(along, is_hidden)] if upright else []
    read = _build([line for line in lines if not upright or not _runs_along(line)], is_hidden)
    pictured = bool(spans) or bool(page.get_bboxlog())
    return PageLines(
        page.number + 1, page.rect.width, page.rect.height, tuple(read), tuple(margin), hidden, upright, pictured
    )


def _runs_along(line: dict[str, Any]) -> bool:
    return bool(line["wmode"] or line["dir"][0] <= 0.99)


def _build(lines: Iterable[dict[str, Any]], is_hidden: Callable[[Span], bool]) -> list[Line]:
    built = (_line([span for span in line["spans"] if not is_hidden(span)]) for line in lines)
    return [line for line in built if line is not None]


def _line(spans: list[Span]) -> Line | None:
    written = _SOFT_HYPHEN.sub("-", "".join(span["text"] for span in spans))
    text = _LEADER.sub(" … ", squeeze(written))
    if not text:
        return None
    inked = [span for span in spans if span["text"].strip()]
    letters = sum(len(span["text"]) for span in inked)
    main = max(inked, key=lambda span: len(span["text"]))
    size, baseline = main["size"], main["origin"][1]
    return Line(
        text,
        min(span["bbox"][0] for span in inked),
        baseline - 0.75 * size,
        max(span["bbox"][2] for span in inked),
        baseline + 0.2 * size,
        size,
        sum(len(span["text"]) for span in inked if span["flags"] & _BOLD) >= _MOST * letters,
        sum(len(span["text"]) for span in inked if span["flags"] & _ITALIC) >= _MOST * letters,
    )


def _hidden_test(page: Page, spans: list[Span]) -> Callable[[Span], bool]:
    """Return the test that this page needs; pages with nothing suspicious pay for no image and no rendering."""
    tests = [_tiny_or_outside(page, spans)]
    if any(_unpainted(span) for span in spans) and not all(_unpainted(span) for span in spans):
        scans = [image["bbox"] for image in page.get_image_info()]
        tests.append(lambda span: _unpainted(span) and not any(_inside(span["bbox"], scan) for scan in scans))
    if any(_whitish(span["color"]) for span in spans):
        is_blank = _blank_test(page)
        tests.append(lambda span: _whitish(span["color"]) and not _unpainted(span) and is_blank(span["bbox"]))
    return lambda span: any(test(span) for test in tests)


def _tiny_or_outside(page: Page, spans: list[Span]) -> Callable[[Span], bool]:
    width, height = page.rect.width, page.rect.height
    all_tiny = all(span["size"] < 4 * _LEAST_SIZE for span in spans)  # a map in its own units, not a trick

    def test(span: Span) -> bool:
        x0, y0, x1, y1 = span["bbox"]
        outside = x1 <= 0 or y1 <= 0 or x0 >= width or y0 >= height
        return outside or (span["size"] < _LEAST_SIZE and not all_tiny)

    return test


def _unpainted(span: Span) -> bool:
    return not span["char_flags"] & _PAINTED or span["alpha"] == 0


def _whitish(color: int) -> bool:
    return min(color >> 16 & 0xFF, color >> 8 & 0xFF, color & 0xFF) >= _WHITE


def _inside(box: Box, frame: Box) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return frame[0] <= x <= frame[2] and frame[1] <= y <= frame[3]


def _blank_test(page: Page) -> Callable[[Box], bool]:
    """Render the page small and return whether a box of it shows nothing but white."""
    dpi = max(1, int(72 * min(0.5, _PROBE / max(page.rect.width, page.rect.height, 1))))
    picture = page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY, alpha=False)
    samples, stride, scale = picture.samples, picture.stride, dpi / 72

    def test(box: Box) -> bool:
        left, right = max(0, int(box[0] * scale)), min(picture.width, int(box[2] * scale) + 1)
        top, bottom = max(0, int(box[1] * scale)), min(picture.height, int(box[3] * scale) + 1)
        rows = (samples[row * stride + left : row * stride + right] for row in range(top, bottom))
        return all(not row or min(row) >= _WHITE for row in rows)

    return test
