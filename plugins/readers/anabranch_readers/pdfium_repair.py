"""A second try for PDFs that MuPDF gives up: PDFium reads some of those, and writes their pages into a new file.

The new file goes the way of any other, so that hidden text, columns and tables are looked at as ever.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pypdfium2

_MOST_PAGES = 10_000  # a tree of pages that leads round in a ring may have any number


def repair_pdf(path: Path, passwords: Sequence[str]) -> bytes | None:
    """Return the pages of a PDF as a new one, None where PDFium finds none either."""
    for password in (None, *passwords):
        try:
            with pypdfium2.PdfDocument(path, password=password) as old, pypdfium2.PdfDocument.new() as new:
                if not len(old):
                    return None
                new.import_pages(old, list(range(min(len(old), _MOST_PAGES))))
                written = io.BytesIO()
                new.save(written)
                return written.getvalue()
        except (pypdfium2.PdfiumError, ValueError):
            continue
    return None
