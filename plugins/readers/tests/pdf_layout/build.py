"""Lines and pages to lay out, without a PDF."""

from collections.abc import Sequence

from anabranch_readers.pdf_layout.text_lines import Line, PageLines
from anabranch_readers.pdf_layout.text_rows import TextRow, as_row


def line(text: str, x: float, y: float, size: float = 10.0, *, bold: bool = False, width: float | None = None) -> Line:
    return Line(text, x, y, x + (len(text) * size * 0.5 if width is None else width), y + 0.95 * size, size, bold)


def row(text: str, y: float, x: float = 50.0, size: float = 10.0, *, bold: bool = False) -> TextRow:
    cells = text.split("|")
    return as_row([line(cell.strip(), x + 150 * at, y, size, bold=bold) for at, cell in enumerate(cells)])


def page(number: int, lines: Sequence[Line], height: float = 800.0) -> PageLines:
    return PageLines(number, 600.0, height, tuple(lines), (), 0, upright=True)
