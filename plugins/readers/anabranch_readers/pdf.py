"""Read a PDF: pages, columns, headings, and an honest word on what could not be read."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Document, ReadOptions, declared_title
from anabranch.readers.heartbeat import beat
from anabranch.readers.mupdf import FAULTS, Pdf, PdfWord, open_pdf, words
from anabranch.text.normalization import squeeze
from anabranch_readers.page_contents import raise_if_out_of_memory
from anabranch_readers.pdf_layout.headings import PdfOutline, body_size, with_outline, with_type
from anabranch_readers.pdf_layout.paragraphs import Paragraph
from anabranch_readers.pdf_layout.reading_order import document_paragraphs
from anabranch_readers.pdf_layout.run_in_headings import with_run_ins
from anabranch_readers.pdf_layout.text_lines import PageLines, page_lines
from anabranch_readers.scanned_pages import NoTextLayerError, Scans, pages_named, scan_notes, with_scans_read

# MuPDF keeps global state and is not safe to enter from two threads.
_LOCK = threading.Lock()
_REPAIRED = "the file is damaged: it was read as PDFium repaired it"
_LONGEST_TITLE = 200  # more is a pulled quote or an abstract in large type


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
    opened, is_repaired = _open(path, source, options.passwords)
    with opened as pdf:
        _check(pdf, source, options.passwords)
        pages, unreadable = _pages(pdf)
        scans = with_scans_read(pdf, pages, options)
        found = document_paragraphs(scans.pages, partial(_words, pdf))
        if not found:
            raise _no_text_error(scans, unreadable, source, is_damaged=is_repaired or pdf.is_repaired)
        outline = _outline(pdf)
        parted = with_run_ins(found)
        blocks = tuple(with_outline(parted, outline) if outline else with_type(parted))
        notes = (*scan_notes(scans), *_notes(pdf, scans.pages, unreadable))
        damage = _REPAIRED if is_repaired else _damage_note(pdf, scans, unreadable, path)
        notes = (damage, *notes) if damage else notes
        return Document(source, _title(pdf, found, path), blocks, _metadata(pdf), key=source, notes=notes)


def _open(path: Path, source: str, passwords: Sequence[str]) -> tuple[Pdf, bool]:
    """Open the file, or what PDFium makes of one in which MuPDF finds no page; the second tells which it is."""
    fault: Exception | None = None
    try:
        pdf = open_pdf(path)
        if pdf.needs_pass or (pdf.is_pdf and pdf.page_count > 0):
            return pdf, False
        pdf.close()
    except FAULTS as error:
        raise_if_out_of_memory(error)
        fault = error
    try:
        from anabranch_readers.pdfium_repair import repair_pdf
    except ImportError as error:
        more = "Export or download it again, or have PDFium try it: pip install 'anabranch[formats]'"
        raise _damage_error(source, more) from (fault or error)
    again = repair_pdf(path, passwords)
    if again is None:
        raise _damage_error(source) from fault
    return open_pdf(again), True


def _check(pdf: Pdf, source: str, passwords: Sequence[str]) -> None:
    # Many files are encrypted with the empty password, to restrict printing; every program opens those.
    if pdf.needs_pass and not any(pdf.authenticate(password) for password in ("", *passwords)):
        raise ReadingError(
            f"{source!r} is protected by a password{', and none that was given opens it' if passwords else ''}.",
            reason="encrypted",
            hint="Give it with --password, or save a copy without: qpdf --decrypt --password=... in.pdf out.pdf",
        )


def _damage_error(source: str, hint: str = "Export or download it again.") -> ReadingError:
    return ReadingError(f"{source!r} is no PDF, or too damaged.", reason="broken", hint=hint)


def _pages(pdf: Pdf) -> tuple[list[PageLines], list[int]]:
    pages, unreadable = [], []
    for number in range(pdf.page_count):
        try:
            pages.append(page_lines(pdf[number]))
        except FAULTS as error:  # one bad page must not cost the others
            raise_if_out_of_memory(error)
            unreadable.append(number + 1)
        beat()
    return pages, unreadable


def _words(pdf: Pdf, number: int) -> list[PdfWord]:
    """Return the words of a page that was read before; without their places, its tables are not as good."""
    try:
        return words(pdf[number - 1])
    except FAULTS as error:
        raise_if_out_of_memory(error)
        return []


def _damage_note(pdf: Pdf, scans: Scans, unreadable: Sequence[int], path: Path) -> str:
    """Return what is to be said of a file whose index of objects MuPDF had to rebuild.

    Harmless programs write wrong indexes, too; so nothing is said where every page has text and the file has its end.
    """
    bare = sum(not (page.lines or page.margin) for page in scans.pages) + len(unreadable)
    if not pdf.is_repaired or (not bare and _has_end(path)):
        return ""
    empty = f"{bare} of {pdf.page_count} pages {'has' if bare == 1 else 'have'} no text, and " if bare else ""
    return f"the file is damaged or cut off, and was repaired: {empty}pages may be missing"


def _has_end(path: Path) -> bool:
    """Tell whether the marker of the end stands in the last 1024 bytes, where programs accept it (PDF 1.7, H.3)."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 1024))
        return b"%%EOF" in file.read()


def _no_text_error(scans: Scans, unreadable: Sequence[int], source: str, *, is_damaged: bool) -> ReadingError:
    hidden = sum(page.hidden for page in scans.pages)
    if any(page.scanned for page in scans.pages):
        return NoTextLayerError(source, "; ".join(scan_notes(scans)), lack=scans.lack)
    if unreadable:
        return ReadingError(f"no page of {source!r} could be read.", reason="broken", hint="Export it again.")
    if is_damaged:
        msg = f"{source!r} is damaged or cut off: no page of {len(scans.pages)} has text."
        return ReadingError(msg, reason="broken", hint="Export or download it again.")
    if hidden:
        return ReadingError(f"{source!r} shows blank pages, with {hidden} letters hidden on them.", reason="empty")
    return ReadingError(f"every page of {source!r} is blank.", reason="empty")


def _outline(pdf: Pdf) -> PdfOutline:
    """Return the outline's entries that have a title and a page; one entry alone says nothing about the parts."""
    try:
        entries = [(level, squeeze(title), page) for level, title, page in pdf.get_toc()]
    except TypeError:  # a damaged outline must not cost the text
        return []
    except FAULTS as error:
        raise_if_out_of_memory(error)
        return []
    usable = [(level, title, page) for level, title, page in entries if title and page > 0]
    return usable if len(usable) > 1 else []


def _title(pdf: Pdf, found: Sequence[Paragraph], path: Path) -> str:
    """Return the title the file declares, else the largest words on its first page, else its name."""
    largest = _largest_words([paragraph for paragraph in found if paragraph.page == found[0].page], body_size(found))
    return declared_title((pdf.metadata or {}).get("title")) or largest or path.stem


def _largest_words(page: Sequence[Paragraph], body: float) -> str:
    """Return the first run of paragraphs set in the largest type of a page, if that stands out from the body."""
    short = [paragraph for paragraph in page if len(paragraph.text) <= _LONGEST_TITLE and not paragraph.table]
    size = max((paragraph.size for paragraph in short), default=0.0)
    if size <= 1.12 * body:
        return ""
    # On the whole page: two headings with prose between them are not one title.
    alike = (paragraph in short and abs(paragraph.size - size) < 0.5 for paragraph in page)
    runs = groupby(zip(alike, page, strict=True), key=itemgetter(0))
    title = squeeze(" ".join(paragraph.text for _, paragraph in next(run for is_large, run in runs if is_large)))
    return title if any(map(str.isalpha, title)) and len(title) <= _LONGEST_TITLE else ""


def _metadata(pdf: Pdf) -> dict[str, Any]:
    given = pdf.metadata or {}
    author, keywords = squeeze(given.get("author") or ""), squeeze(given.get("keywords") or "")
    facts = {"format": "pdf", "pages": pdf.page_count, "author": author, "keywords": keywords}
    return {name: value for name, value in facts.items() if value}


def _notes(pdf: Pdf, pages: Sequence[PageLines], unreadable: Sequence[int]) -> Iterator[str]:
    hidden, invisible = sum(page.hidden for page in pages), sum(page.invisible for page in pages)
    if unreadable:
        are = "is" if len(unreadable) == 1 else "are"
        yield f"{pages_named(unreadable)} {are} damaged and could not be read"
    if hidden:
        yield f"hidden text was left out ({hidden} characters)"
    if invisible:
        yield f"invisible characters were removed ({invisible})"
    if pdf.embfile_count():
        yield f"attached files were not read ({pdf.embfile_count()})"
