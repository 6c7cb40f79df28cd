"""What stands on a page according to PDFium, which no reader measured here uses: its lines, and how they join."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

_WORDS = 4  # of a snippet, and of either side of a joint
_ORPHAN = re.compile(r"\W*\d{1,4}\W*")  # the number of a line, or of a page
_COUNTED = re.compile(r"\d{1,4}\s+(?=\S)")  # where lines are numbered
_GAP = 1.5  # times the height of a line: cells of a table, not words of a sentence
_LETTERS = 0.75  # share of what is no space; figures and formulas have fewer


class TextLine(NamedTuple):
    """A line as PDFium gives it, in points from the lower left corner."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    height: float
    is_prose: bool


@dataclass(frozen=True, slots=True)
class PageReference:
    """What a reader should find of one page, letters and digits only (see `squeezed`).

    Attributes:
        number: 1-based.
        text: All of it.
        snippets: Four words of a line each.
        joints: The last four words of a line with the first four of the next one in its column.
    """

    number: int
    text: str
    snippets: tuple[str, ...]
    joints: tuple[str, ...]


def squeezed(text: str) -> str:
    """Return the letters and digits alone: no library is judged by its spaces, its hyphens or its ligatures."""
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


def references(path: Path, most: int) -> list[PageReference]:
    """Return what stands on the first `most` pages; nothing for a file that PDFium cannot open."""
    import pypdfium2

    try:
        pdf: Any = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError:
        return []
    found = []
    for at in range(min(len(pdf), most)):
        lines = _lines(pdf[at].get_textpage())
        text = squeezed(" ".join(line.text for line in lines))
        found.append(PageReference(at + 1, text, tuple(_snippets(lines)), tuple(_joints(lines))))
    pdf.close()
    return found


def _lines(page: Any) -> list[TextLine]:  # noqa: ANN401  # a `pypdfium2.PdfTextPage`
    import pypdfium2.raw

    # One by one, for each to have its box: the text as a whole leaves some out.
    codes = (pypdfium2.raw.FPDFText_GetUnicode(page, at) for at in range(page.count_chars()))
    text = "".join(chr(code) if 0 < code < 0x110000 else " " for code in codes)
    found = []
    for match in re.finditer(r"[^\r\n]+", text):
        inked = [at for at in range(*match.span()) if not text[at].isspace()]
        boxes = [page.get_charbox(at) for at in inked]
        if boxes:
            found.append(_line(match.group(), boxes))
    return found


def _line(text: str, boxes: Sequence[tuple[float, float, float, float]]) -> TextLine:
    height = median(y1 - y0 for _, y0, _, y1 in boxes)
    widest = max((right[0] - left[2] for left, right in pairwise(boxes)), default=0.0)
    letters = sum(map(str.isalpha, text)) >= _LETTERS * len(boxes)
    is_level = abs(boxes[0][1] - boxes[-1][1]) <= 2 * max(height, 1)
    return TextLine(
        text.replace("\x02", "").replace("\ufffe", ""),
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
        height,
        letters and is_level and widest <= _GAP * max(height, 4.0) and boxes[-1][2] > boxes[0][0],
    )


def _snippets(lines: Sequence[TextLine]) -> list[str]:
    words = [line.text.split() for line in lines]
    middles = (each[len(each) // 2 - _WORDS // 2 :][:_WORDS] for each in words if len(each) >= _WORDS)
    # A number at the edge may count the line, or stand in a contents beside its title.
    found = (squeezed(" ".join(middle)) for middle in middles if not middle[0].isdigit() and not middle[-1].isdigit())
    return [snippet for snippet in found if sum(map(str.isalpha, snippet)) >= 10]


def _joints(lines: Sequence[TextLine]) -> list[str]:
    kept = [line for line in lines if not _ORPHAN.fullmatch(line.text)]
    if 2 * sum(bool(_COUNTED.match(line.text)) for line in kept) > len(kept):
        kept = [line._replace(text=_COUNTED.sub("", line.text)) for line in kept]
    pairs = ((above, below) for above, below in pairwise(kept) if _is_joined(above, below))
    found = ((above.text.split()[-_WORDS:], below.text.split()[:_WORDS]) for above, below in pairs)
    return [squeezed(" ".join([*left, *right])) for left, right in found]


def _is_joined(above: TextLine, below: TextLine) -> bool:
    """Tell two lines of a text from a heading above a text, cells, and the foot and the head of two columns."""
    enough = all(line.is_prose and len(line.text.split()) >= _WORDS for line in (above, below))
    shared = min(above.x1, below.x1) - max(above.x0, below.x0)
    size = max(above.height, 1.0)
    step = above.y0 - below.y0
    close = 0.5 * size < step < 4.0 * size and 0.7 < below.height / size < 1.4
    return enough and close and shared >= 0.5 * min(above.x1 - above.x0, below.x1 - below.x0)
