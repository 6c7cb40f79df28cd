"""The readers that are compared: this project's, and the libraries that happen to be installed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from anabranch.errors import ReadingError
from anabranch.readers.document import Block, Document, ReadOptions
from anabranch.readers.markdown import markdown_blocks
from anabranch_readers.pdf import read_pdf


@dataclass(frozen=True, slots=True)
class Reading:
    """One file, read.

    Attributes:
        document: Its blocks, with pages where the library tells them.
        cpu: Seconds.
    """

    document: Document
    cpu: float


Reader = Callable[[Path], Document]


def readers() -> dict[str, Reader]:
    """Return the readers by name, this project's first."""
    found: dict[str, Reader] = {"anabranch": _anabranch}
    optional = {"kreuzberg": _kreuzberg, "markitdown": _markitdown, "pymupdf4llm": _pymupdf4llm}
    return found | {name: reader for name, reader in optional.items() if find_spec(name)}


def timed(reader: Reader, path: Path) -> Reading:
    """Read one file; a file that cannot be read is an empty document."""
    began = time.process_time()
    try:
        document = reader(path)
    except Exception as error:  # noqa: BLE001  # each library has errors of its own, and none may end the run
        document = Document(path.name, f"{type(error).__name__}: {error}"[:200], ())
    return Reading(document, time.process_time() - began)


def _anabranch(path: Path) -> Document:
    try:
        (document,) = read_pdf(path, path.name, ReadOptions(ocr=False))
    except ReadingError as error:
        return Document(path.name, str(error), ())
    return document


def _kreuzberg(path: Path) -> Document:
    import kreuzberg

    config = kreuzberg.ExtractionConfig(
        pages=kreuzberg.PageConfig(extract_pages=True), output_format="markdown", disable_ocr=True, use_cache=False
    )
    found: Any = kreuzberg.extract_file_sync(str(path), config=config)
    pages = [(page["page_number"], page["content"]) for page in found.pages or ()]
    # Headings are in the text of the whole alone, pages in those of the pages alone: both are asked for what they have.
    paged = [block for number, text in pages for block in _markdown(text, number) if not block.is_heading]
    headed = [block for block in _markdown(found.content, None) if block.is_heading or not pages]
    return Document(path.name, path.name, (*paged, *headed))


def _markitdown(path: Path) -> Document:
    from markitdown import MarkItDown

    return Document(path.name, path.name, tuple(_markdown(MarkItDown().convert(path).text_content, None)))


def _pymupdf4llm(path: Path) -> Document:
    import pymupdf4llm

    # What repeats at the head and the foot of pages is left out, as it is here.
    chunks: Any = pymupdf4llm.to_markdown(str(path), page_chunks=True, use_ocr=False, header=False, footer=False)
    blocks = [block for number, chunk in enumerate(chunks, start=1) for block in _markdown(chunk["text"], number)]
    return Document(path.name, path.name, tuple(blocks))


def _markdown(text: str, page: int | None) -> list[Block]:
    """Return the blocks of what a library writes as Markdown, as this project reads it."""
    return [replace(block, page=page) for block in markdown_blocks(text)[0]]
