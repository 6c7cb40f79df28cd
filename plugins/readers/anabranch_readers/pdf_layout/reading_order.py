"""The pages of a PDF put together: paragraphs, headings and tables in the order in which a person reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import groupby

from anabranch.readers.dehyphenation import vocabulary
from anabranch.readers.mupdf import PdfWord
from anabranch_readers.page_contents import PageWords
from anabranch_readers.pdf_layout.columns import regions
from anabranch_readers.pdf_layout.headers_footers import without_running
from anabranch_readers.pdf_layout.line_numbers import without_line_numbers
from anabranch_readers.pdf_layout.page_tables import PdfTable
from anabranch_readers.pdf_layout.paragraphs import Paragraph, in_parts, paragraphs
from anabranch_readers.pdf_layout.ruled_tables import with_tables
from anabranch_readers.pdf_layout.text_lines import Line, PageLines
from anabranch_readers.pdf_layout.text_rows import TextRow, as_row, rows


def document_paragraphs(pages: Sequence[PageLines], words_on: Callable[[int], Sequence[PdfWord]]) -> list[Paragraph]:
    """Return the paragraphs of a document, without what its pages repeat at their edges.

    Args:
        pages: All of them, because what runs through a document is only seen on many pages.
        words_on: Gives the words of a page by its 1-based number, with their places; asked for few pages.
    """
    pages = without_line_numbers(pages)
    kept = without_running(pages)
    known = vocabulary(line.text for lines in kept for line in lines)
    found = []
    for page, lines in zip(pages, kept, strict=True):
        # The page is read a second time for them, so only where a line of a table has to be cut.
        words = cache(partial(words_on, page.number))
        found += paragraphs([*_regions(page, lines, known, words)], page.number, known, words)
    return [*in_parts(found)]


def _regions(
    page: PageLines, lines: Sequence[Line], known: frozenset[str], words: PageWords
) -> Iterator[list[TextRow]]:
    # In vertical writing the order of the file is all there is to go by.
    if not page.upright or _is_stacked(lines):
        yield [as_row([line]) for line in lines]
        return
    found = with_tables(page.rulings, [*lines, *page.margin], known, words)
    for region in regions([line for line in found if line.size]):
        yield from _runs(region)
    yield from ([as_row([line])] for line in found if not line.size)


def _runs(region: Sequence[Line]) -> Iterator[list[TextRow]]:
    """Yield the rows above, in and below each table of a region."""
    ordered = sorted(region, key=lambda line: (line.y0, line.x0))
    for is_table, run in groupby(ordered, key=lambda line: isinstance(line, PdfTable)):
        lines = [*run]
        yield from ([as_row([line])] for line in lines) if is_table else [rows(lines)]


def _is_stacked(lines: Sequence[Line]) -> bool:
    """Tell vertical Chinese or Japanese, which reaches us as one line per letter, from lines that run across."""
    return len(lines) > 10 and sum(len(line.text) == 1 for line in lines) > 0.7 * len(lines)
