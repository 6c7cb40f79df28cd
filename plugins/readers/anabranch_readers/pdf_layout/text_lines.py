"""The lines of a PDF page, with what the eye cannot see left out.

MuPDF gives lines that end at every wide gap, so a table cell is a line of its own, and so is half a line of prose.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from typing import Any

from anabranch.readers.mupdf import Page, PdfWord, words
from anabranch.text.normalization import clean_counted
from anabranch_readers.page_contents import PdfSpan, RawBlock, list_images, list_painted, raw_blocks
from anabranch_readers.pdf_layout.emphasis import BOLD, ITALIC, is_mostly, leading_words
from anabranch_readers.pdf_layout.hidden_text import hidden_spans, is_painted
from anabranch_readers.pdf_layout.table_grid import UNRULED, Rulings, rulings

_STAMP, _WHOLE = 100, 0.6  # characters of a stamp on a scan, share of the page that the scan covers
_SOFT_HYPHEN = re.compile(r"\u00ad\s*$")  # shown at a line end, and nowhere else
_LEADER = re.compile(r" ?(?:[.·_] ?){5,}")
_UNKNOWN = re.compile("[\ufffd\ue000-\uf8ff]")

# Blanks that set words apart as a tabulator does, in text that was laid out by them.
_BLANKS = re.compile(r" {3,}")

# Behind a point, or behind a comma and before three digits: `1, 2` are two numbers.
_SPLIT_NUMBER = re.compile(r"(?<=\d\.) (?=\d)|(?<=\d,) (?=\d{3}(?!\d))")

RawLine = dict[str, Any]
# Words of a page by the point, from its top, where their middle is.
WordsByHeight = dict[int, list[PdfWord]]


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
        lead: How many of its first characters are set in bold or in italics, all alike.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool = False
    italic: bool = False
    lead: int = 0


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
        upright: False in vertical writing, where only the order of the file is known.
        scanned: Whether it is a picture that its text layer, if it has one, says next to nothing of.
        rulings: What its tables may be ruled with.
        invisible: How many characters without a glyph were dropped: zero-width, bidirectional, tags.
    """

    number: int
    width: float
    height: float
    lines: tuple[Line, ...]
    margin: tuple[Line, ...]
    hidden: int
    upright: bool
    scanned: bool = False
    rulings: Rulings = UNRULED
    invisible: int = 0


def page_lines(page: Page) -> PageLines:
    """Return the lines of a `pymupdf.Page`, which is turned first if most of its text runs up, down or on its head.

    Raises whatever MuPDF raises on a page that it cannot read.
    """
    blocks = raw_blocks(page)
    raw = [line for block in blocks for line in block.get("lines", ())]
    turn = _turn(raw)
    if turn:
        page.set_rotation((page.rotation + turn) % 360)
        blocks = raw_blocks(page)
        raw = [line for block in blocks for line in block.get("lines", ())]
    hidden = hidden_spans(page, blocks)
    spans = [span for line in raw for span in line["spans"] if span["text"].strip()]
    seen = [span for span in spans if id(span) not in hidden]
    upright = sum(line["wmode"] for line in raw) < 0.2 * max(1, len(raw))
    read = [line for line in raw if not upright or _quarter(line) == 0]
    lines = () if _is_gibberish(seen) else _built(read, hidden, cache(partial(_words_by_height, page)))
    along = [line for line in raw if upright and _quarter(line) != 0]
    margin = _built(along, hidden, dict, is_margin=True)
    pictured = bool(seen) or _is_pictured(page, blocks, bool(spans))
    return PageLines(
        page.number + 1,
        page.rect.width,
        page.rect.height,
        lines,
        margin,
        sum(len(span["text"].strip()) for span in spans if id(span) in hidden),
        upright,
        pictured and _is_scanned(page, [*lines, *margin], seen),
        rulings(block for block in blocks if "lines" not in block) if upright else UNRULED,
        sum(map(_invisible, seen)),
    )


def _turn(lines: Sequence[RawLine]) -> int:
    """Return by how many degrees, clockwise, a page has to be turned for most of its letters to stand upright."""
    letters: Counter[int] = Counter()
    for line in lines:
        letters[_quarter(line)] += sum(len(span["text"].strip()) for span in line["spans"])
    most = max(letters, key=lambda turn: letters[turn], default=0)
    # Half of the letters at least: on a drawing with labels in all directions none is the right one.
    return most if most > 0 and 2 * letters[most] > letters.total() else 0


def _quarter(line: RawLine) -> int:
    """Return the turn that sets a line upright, in degrees clockwise; -1 for slanted and for vertical writing."""
    across, down = line["dir"]
    if line["wmode"] or max(abs(across), abs(down)) <= 0.99:
        return -1
    return (0 if across > 0 else 180) if abs(across) > 0.99 else (270 if down > 0 else 90)


def _is_gibberish(spans: Sequence[PdfSpan]) -> bool:
    """Tell a text layer whose font does not say what its glyphs mean; to OCR, that is a picture like any other."""
    text = "".join(span["text"] for span in spans)
    return len(_UNKNOWN.findall(text)) > 0.5 * len(text)


def _is_pictured(page: Page, blocks: Sequence[RawBlock], is_written: bool) -> bool:
    """Tell whether a page with nothing to read shows something; letters that are all hidden are not shown."""
    drawn = (kind for kind, _ in list_painted(page))
    return any("lines" not in block for block in blocks) or any(not is_written or "text" not in kind for kind in drawn)


def _is_scanned(page: Page, lines: Sequence[Line], spans: Sequence[PdfSpan]) -> bool:
    """Tell a page whose words are in a picture: it has no text, or no more than a stamp on an image of the page."""
    if not lines:
        return True
    if sum(len(line.text) for line in lines) > _STAMP or not all(map(is_painted, spans)):  # OCR has left its layer
        return False
    whole = page.rect.width * page.rect.height
    boxes = [image.box for image in list_images(page)]
    return any((x1 - x0) * (y1 - y0) >= _WHOLE * whole for x0, y0, x1, y1 in boxes)


def _invisible(span: PdfSpan) -> int:
    """Count characters without a glyph, but not the soft hyphens that type-setting programs leave."""
    text: str = span["text"]
    if text.isascii() or not clean_counted(text)[1]:
        return 0
    return sum(unicodedata.category(each) == "Cf" and each != "\u00ad" for each in text)


def _built(
    lines: Sequence[RawLine], hidden: Collection[int], heights: Callable[[], WordsByHeight], *, is_margin: bool = False
) -> tuple[Line, ...]:
    shown = ([span for span in line["spans"] if id(span) not in hidden] for line in lines)
    parts = (part for spans in shown for part in _parts(spans, heights))
    return tuple(line for line in (_line(part, is_margin) for part in parts) if line is not None)


def _words_by_height(page: Page) -> WordsByHeight:
    found: WordsByHeight = {}
    for word in words(page):
        found.setdefault(int((word[1] + word[3]) / 2), []).append(word)
    return found


def _parts(spans: list[PdfSpan], heights: Callable[[], WordsByHeight]) -> Iterator[list[PdfSpan]]:
    """Yield the spans of a line, cut where a row of blanks sets words apart as the gap between two cells does."""
    whole = "".join(span["text"] for span in spans)
    if not _BLANKS.search(whole.strip()):
        yield spans
        return
    found: list[list[PdfSpan]] = [[]]
    for span in spans:
        for at, piece in enumerate(_pieces(span, heights())):
            if at:
                found.append([])
            found[-1] += [piece] if piece["text"].strip() else []
    yield from (part for part in found if part)


def _pieces(span: PdfSpan, there: WordsByHeight) -> list[PdfSpan]:
    """Cut a span at its rows of blanks; whole where the words of the page, from left to right, are not its own."""
    x0, y0, x1, y1 = span["bbox"]
    level = (word for height in range(int(y0), int(y1) + 1) for word in there.get(height, ()))
    own = sorted(word for word in level if x0 - 1 <= word[0] and word[2] <= x1 + 1)
    texts = _BLANKS.split(span["text"])
    if [word[4] for word in own] != span["text"].split():
        return [span]
    left = iter(own)
    placed = [(text, list(islice(left, len(text.split())))) for text in texts]
    return [
        {**span, "text": text, "bbox": (inside[0][0], y0, inside[-1][2], y1) if inside else (x0, y0, x0, y1)}
        for text, inside in placed
    ]


def _line(spans: Sequence[PdfSpan], is_margin: bool) -> Line | None:
    text = _clean_text("".join(span["text"] for span in spans))
    if not text:
        return None
    inked = [span for span in spans if span["text"].strip()]
    lead = _clean_text(leading_words(spans))
    # The longest span decides: the raised mark of a footnote has a size and a baseline of its own.
    main = max(inked, key=lambda span: len(span["text"]))
    size, baseline = main["size"], main["origin"][1]
    return Line(
        text,
        min(span["bbox"][0] for span in inked),
        min(span["bbox"][1] for span in inked) if is_margin else baseline - 0.75 * size,
        max(span["bbox"][2] for span in inked),
        max(span["bbox"][3] for span in inked) if is_margin else baseline + 0.2 * size,
        0.0 if is_margin else size,
        is_mostly(inked, BOLD),
        is_mostly(inked, ITALIC),
        len(lead) if text.startswith(lead) else 0,
    )


def _clean_text(written: str) -> str:
    written = _SOFT_HYPHEN.sub("-", written)
    return with_whole_numbers(_LEADER.sub(" … ", " ".join(clean_counted(written)[0].split())))


def with_whole_numbers(text: str) -> str:
    """Return figures without the spaces that wide type leaves within them: `11,062. 6`; words are left as they are."""
    return text if any(map(str.isalpha, text)) else _SPLIT_NUMBER.sub("", text)
