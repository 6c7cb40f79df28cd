"""The pages of a PDF that are pictures of text: which they are, and what OCR made of them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import pymupdf

from anabranch.errors import ReadingError
from anabranch.readers.document import ReadOptions
from anabranch.readers.heartbeat import beat
from anabranch.readers.mupdf import FAULTS, Page, Pdf
from anabranch_readers.ocr import OcrUnavailable, Recognised, Tesseract, tesseract
from anabranch_readers.page_contents import Image, list_images, raise_if_out_of_memory
from anabranch_readers.pdf_layout.text_lines import Line, PageLines
from anabranch_readers.rapid_ocr import RapidOcr, rapid_ocr

_DPI = 300  # what Tesseract recommends for usual type
_LONGEST_SIDE = 5000  # pixels: a poster at 300 dpi would take gigabytes
_MOST_AT_ONCE = 4  # each is a process that holds the picture of a page
_OFF = OcrUnavailable("OCR is switched off", "Leave --no-ocr out, or run it through OCR first: ocrmypdf in.pdf out.pdf")


class NoTextLayerError(ReadingError):
    """A document shows pictures of text, and OCR found none on them, or there is no OCR: `lack` says why."""

    def __init__(self, source: str, why: str, *, lack: OcrUnavailable | None) -> None:
        """Name the document, and why its pictures give no text."""
        hint = lack.hint if lack else "Scan it again, with a higher resolution."
        msg = f"{source!r} shows pictures of text and has no text layer; {lack.what if lack else why}."
        super().__init__(msg, reason="scanned", hint=hint)
        self.lack = lack


@dataclass(frozen=True, slots=True)
class Scans:
    """The pages of a document, those that are scans as OCR read them.

    Attributes:
        pages: All of them.
        read: Numbers of the pages whose text is from OCR.
        wordless: Of those on which it found nothing.
        failed: Of those on which it failed, with the reason.
        lack: What there is no OCR for want of, if there were scans.
        doubtful: How many words were left out as guesses.
        languages: In which OCR read, or the engine that does not ask.
        seconds: That OCR took.
    """

    pages: tuple[PageLines, ...]
    read: tuple[int, ...] = ()
    wordless: tuple[int, ...] = ()
    failed: dict[int, str] = field(default_factory=dict)
    lack: OcrUnavailable | None = None
    doubtful: int = 0
    languages: tuple[str, ...] = ()
    seconds: float = 0.0


def with_scans_read(pdf: Pdf, pages: Sequence[PageLines], options: ReadOptions) -> Scans:
    """Return the pages with the words that OCR finds on those that are scans; takes seconds for each of them."""
    waiting = [page for page in pages if page.scanned]
    if not waiting:
        return Scans(tuple(pages))
    program: Tesseract | RapidOcr | OcrUnavailable = tesseract(options.ocr_languages) if options.ocr else _OFF
    # Not where Tesseract lacks a language that was asked for: the other one reads Latin letters and Chinese alone.
    if isinstance(program, OcrUnavailable) and program.is_missing:
        other = rapid_ocr()
        program = program if isinstance(other, OcrUnavailable) else other
    if isinstance(program, OcrUnavailable):
        return Scans(tuple(pages), lack=program)
    began = time.monotonic()
    found = dict(_recognised(pdf, waiting, program))
    texts = {number: said for number, said in found.items() if isinstance(said, Recognised)}
    better = {page.number: _better_page(page, texts[page.number]) for page in waiting if page.number in texts}
    read = tuple(page.number for page in waiting if better.get(page.number, page) is not page)
    return Scans(
        tuple(better.get(page.number, page) for page in pages),
        read,
        tuple(number for number in texts if number not in read),
        {number: said for number, said in found.items() if isinstance(said, str)},
        doubtful=sum(said.doubtful for said in texts.values()),
        languages=program.languages,
        seconds=time.monotonic() - began,
    )


def scan_notes(scans: Scans) -> Iterator[str]:
    """Yield what a person should know of the scans of a document, page by page."""
    unread = [page.number for page in scans.pages if page.scanned] if scans.lack else []
    bare = [page.number for page in scans.pages if page.number in unread and not page.lines and not page.margin]
    stamped = [number for number in unread if number not in bare]
    if scans.read:
        languages = ", ".join(scans.languages)
        yield f"{pages_named(scans.read)} {_were(scans.read)} read by OCR ({languages}) in {scans.seconds:.1f} s"
    if scans.doubtful:
        yield f"words that OCR could only guess were left out ({scans.doubtful})"
    if scans.wordless:
        yield f"OCR found no more words on {pages_named(scans.wordless)}"
    for reason in dict.fromkeys(scans.failed.values()):
        numbers = [number for number, why in scans.failed.items() if why == reason]
        yield f"{pages_named(numbers)} could not be read by OCR: {reason}"
    lack = f"{scans.lack.what} ({scans.lack.hint})" if scans.lack else ""
    if lack and bare:
        yield f"{pages_named(bare)} {_have(bare)} no text layer, and {lack}"
    if lack and stamped:
        yield f"{pages_named(stamped)} {_have(stamped)} next to no text layer, and {lack}"


def _were(numbers: Sequence[int]) -> str:
    return "was" if len(numbers) == 1 else "were"


def _have(numbers: Sequence[int]) -> str:
    return "has" if len(numbers) == 1 else "have"


def _better_page(page: PageLines, read: Recognised) -> PageLines:
    """Return the page as OCR read it, unless its own text layer, a stamp for instance, says as much."""
    if _letters(read.lines) + _letters(read.margin) <= 1.2 * (_letters(page.lines) + _letters(page.margin)):
        return page
    return replace(
        page, width=read.width, height=read.height, lines=read.lines, margin=read.margin, upright=True, scanned=False
    )


def _letters(lines: Sequence[Line]) -> int:
    return sum(len(line.text) for line in lines)


def _recognised(
    pdf: Pdf, pages: Sequence[PageLines], program: Tesseract | RapidOcr
) -> Iterator[tuple[int, Recognised | str]]:
    at_once = max(1, min(_MOST_AT_ONCE, (os.cpu_count() or 1) // 2, len(pages)))
    with ThreadPoolExecutor(at_once) as pool:
        for start in range(0, len(pages), at_once):
            batch = pages[start : start + at_once]
            # MuPDF renders in this thread alone; only Tesseract, another process, is waited for in others.
            drawn = [_picture(pdf[page.number - 1]) for page in batch]
            running = [
                picture if isinstance(picture, str) else pool.submit(program.read, *picture) for picture in drawn
            ]
            for page, answer in zip(batch, running, strict=True):
                yield page.number, answer if isinstance(answer, str) else answer.result()
                beat()


def _picture(page: Page) -> tuple[bytes, float] | str:
    """Return a page as a picture and its resolution, or why there is none."""
    longest = max(page.rect.width, page.rect.height, 1.0)
    try:
        # In colour: white words on a coloured ground, the head of a table for instance, are lost in grey.
        native = max(map(_resolution, list_images(page)), default=0.0)
        dpi = max(1, int(min(max(_DPI, native), 72 * _LONGEST_SIDE / longest)))
        return page.get_pixmap(dpi=dpi, colorspace=pymupdf.csRGB, alpha=False).tobytes("pnm"), float(dpi)
    except FAULTS as error:
        raise_if_out_of_memory(error)
        return "it cannot be drawn"


def _resolution(image: Image) -> float:
    """Return the pixels to the inch of an image where it stands; a small one, a logo for instance, does not count."""
    width = image.box[2] - image.box[0]
    return 72 * image.pixels / width if image.pixels > _DPI and width > 0 else 0.0


def pages_named(numbers: Sequence[int]) -> str:
    """Return `page 3` or `pages 3, 7-9` for numbers in ascending order."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = (f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
    return f"page{'' if len(numbers) == 1 else 's'} {', '.join(parts)}"
