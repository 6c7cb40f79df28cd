"""Pages that are pictures of text, and the Tesseract that may be on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf
import pytest

from anabranch_readers.ocr import OcrUnavailable, Tesseract, tesseract

WORDS = "The river divides above the town and each arm keeps its own course for some miles."


def program() -> Tesseract:
    """Return the real program, or skip the test where it is not installed."""
    found = tesseract(("eng",))
    if isinstance(found, OcrUnavailable):
        pytest.skip(f"{found.what}: put `tesseract` with its English data on the PATH to run this")
    return found


def picture(text: str = WORDS, turn: int = 0, kind: str = "png") -> bytes:
    """Return a page with large letters as a picture of 200 dpi."""
    page = pymupdf.open().new_page(width=500, height=300)
    page.insert_textbox((40, 40, 460, 260), text, fontsize=16)
    zoom = pymupdf.Matrix(200 / 72, 200 / 72).prerotate(turn)
    pixels: Any = page.get_pixmap(matrix=zoom, colorspace=pymupdf.csGRAY)
    data: bytes = pixels.tobytes(kind)
    return data


def scan(pdf: Any, text: str = WORDS, turn: int = 0) -> Any:
    """Add a page that is a picture of text."""
    page = pdf.new_page(width=500, height=300)
    page.insert_image(page.rect, stream=picture(text, turn))
    return page


def stand_in(folder: Path, script: str) -> Tesseract:
    """Put a program of that name into a folder: the real one neither fails nor hangs when it is told to."""
    path = folder / "tesseract"
    path.write_text(f'#!/bin/sh\nif [ "$1" = --list-langs ]; then printf "List:\\neng\\n"; exit; fi\n{script}\n')
    path.chmod(0o755)
    return Tesseract(str(path), ("eng",), knows_directions=False)
