"""Read a PDF: pages, columns, headings, and an honest word on what could not be read."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from anabranch.corpus.document import Document
from anabranch.corpus.reading.cleaning import squeeze
from anabranch.corpus.reading.headed import declared
from anabranch.corpus.reading.joining import vocabulary
from anabranch.corpus.reading.layout.columns import regions
from anabranch.corpus.reading.layout.headings import Outline, body_size, with_outline, with_type
from anabranch.corpus.reading.layout.lines import Line, PageLines, page_lines
from anabranch.corpus.reading.layout.mupdf import Pdf, open_pdf
from anabranch.corpus.reading.layout.paragraphs import Paragraph, paragraphs
from anabranch.corpus.reading.layout.rows import Row, as_row, rows
from anabranch.corpus.reading.layout.running import without_running
from anabranch.corpus.reading.options import PLAIN, ReadOptions
from anabranch.errors import ReadingError

_LOCK = threading.Lock()
"""MuPDF keeps global state and is not safe to enter from two threads."""

_OCR_HINT = "Run it through OCR first, for instance: ocrmypdf in.pdf out.pdf"
_LONGEST_TITLE = 200


def read_pdf(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a PDF.

    Raises:
        ReadingError: `encrypted` (it needs a password), `scanned` (pictures of text only), `empty` (nothing on any
            page), `broken` (MuPDF finds no page in it).
    """
    with _LOCK:
        document = _read(path, source, options)
    yield document


def _read(path: Path, source: str, options: ReadOptions) -> Document:
    try:
        opened = open_pdf(path)
    except RuntimeError as error:
        raise _damaged(source) from error
    with opened as pdf:
        _check(pdf, source, options.passwords)
        pages, unreadable = _pages(pdf)
        found = _paragraphs(pages)
        if not found:
            raise _without_text(pages, unreadable, source)
        outline = _outline(pdf)
        blocks = tuple(with_outline(found, outline) if outline else with_type(found))
        notes = tuple(_notes(pdf, pages, unreadable))
        return Document(source, _title(pdf, found, path), blocks, _metadata(pdf), key=source, notes=notes)


def _check(pdf: Pdf, source: str, passwords: Sequence[str]) -> None:
    if pdf.needs_pass and not any(pdf.authenticate(password) for password in ("", *passwords)):
        raise ReadingError(
            f"{source!r} is protected by a password.",
            reason="encrypted",
            hint="Save a copy without a password, for instance: qpdf --decrypt --password=... in.pdf out.pdf",
        )
    if not pdf.is_pdf or (pdf.page_count == 0 and pdf.is_repaired):
        raise _damaged(source)


def _damaged(source: str) -> ReadingError:
    return ReadingError(f"{source!r} is no PDF, or too damaged.", reason="broken", hint="Export or download it again.")


def _pages(pdf: Pdf) -> tuple[list[PageLines], list[int]]:
    pages, unreadable = [], []
    for number in range(pdf.page_count):
        try:
            pages.append(page_lines(pdf[number]))
        except (RuntimeError, ValueError):  # MuPDF's errors; one bad page must not cost the others
            unreadable.append(number + 1)
    return pages, unreadable


def _paragraphs(pages: Sequence[PageLines]) -> list[Paragraph]:
    kept = without_running(pages)
    words = vocabulary(line.text for lines in kept for line in lines)
    found = []
    for page, lines in zip(pages, kept, strict=True):
        found += paragraphs([*_regions(page, lines)], page.number, words)
    return found


def _regions(page: PageLines, lines: Sequence[Line]) -> Iterator[list[Row]]:
    if not page.upright or _is_stacked(lines):
        yield [as_row([line]) for line in lines]
        return
    yield from (rows(region) for region in regions(lines))
    yield from ([as_row([line])] for line in page.margin)


def _is_stacked(lines: Sequence[Line]) -> bool:
    """Tell vertical Chinese or Japanese, which reaches us as one line per letter, from lines that run across."""
    return len(lines) > 10 and sum(len(line.text) == 1 for line in lines) > 0.7 * len(lines)


def _without_text(pages: Sequence[PageLines], unreadable: Sequence[int], source: str) -> ReadingError:
    if any(page.pictured for page in pages):
        return ReadingError(
            f"{source!r} shows pictures of text and has no text layer.", reason="scanned", hint=_OCR_HINT
        )
    if unreadable:
        return ReadingError(f"no page of {source!r} could be read.", reason="broken", hint="Export it again.")
    return ReadingError(f"every page of {source!r} is blank.", reason="empty")


def _outline(pdf: Pdf) -> Outline:
    """Return the outline's entries that have a title and a page; one entry alone says nothing about the parts."""
    try:
        entries = [(level, squeeze(title), page) for level, title, page in pdf.get_toc()]
    except (RuntimeError, ValueError, TypeError):  # a damaged outline must not cost the text
        return []
    usable = [(level, title, page) for level, title, page in entries if title and page > 0]
    return usable if len(usable) > 1 else []


def _title(pdf: Pdf, found: Sequence[Paragraph], path: Path) -> str:
    """Return the title the file declares, else the largest words on its first page, else its name."""
    largest = _largest_words([paragraph for paragraph in found if paragraph.page == found[0].page], body_size(found))
    return declared((pdf.metadata or {}).get("title")) or largest or path.stem


def _largest_words(page: Sequence[Paragraph], body: float) -> str:
    """Return the first run of paragraphs set in the largest type of a page, if that stands out from the body."""
    short = [paragraph for paragraph in page if len(paragraph.text) <= _LONGEST_TITLE]
    size = max((paragraph.size for paragraph in short), default=0.0)
    if size <= 1.12 * body:
        return ""
    alike = (abs(paragraph.size - size) < 0.5 for paragraph in short)
    runs = groupby(zip(alike, short, strict=True), key=itemgetter(0))
    title = squeeze(" ".join(paragraph.text for _, paragraph in next(run for is_large, run in runs if is_large)))
    return title if any(map(str.isalpha, title)) and len(title) <= _LONGEST_TITLE else ""


def _metadata(pdf: Pdf) -> dict[str, Any]:
    given = pdf.metadata or {}
    author, keywords = squeeze(given.get("author") or ""), squeeze(given.get("keywords") or "")
    facts = {"format": "pdf", "pages": pdf.page_count, "author": author, "keywords": keywords}
    return {name: value for name, value in facts.items() if value}


def _notes(pdf: Pdf, pages: Sequence[PageLines], unreadable: Sequence[int]) -> Iterator[str]:
    bare = [page.number for page in pages if not page.lines and not page.margin and page.pictured]
    hidden = sum(page.hidden for page in pages)
    if bare:
        yield f"{_listed(bare)} no text layer"
    if unreadable:
        yield f"{_listed(unreadable, 'is', 'are')} damaged and could not be read"
    if hidden:
        yield f"hidden text was left out ({hidden} characters)"
    if pdf.embfile_count():
        yield f"attached files were not read ({pdf.embfile_count()})"


def _listed(numbers: Sequence[int], one: str = "has", many: str = "have") -> str:
    """Return `page 3 has` or `pages 3, 7-9 have`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    text = ", ".join(
        f"{first}-{last}" if last > first + 1 else (f"{first}, {last}" if last > first else f"{first}")
        for first, last in runs
    )
    return f"page {text} {one}" if len(numbers) == 1 else f"pages {text} {many}"
