"""A page with words that nobody sees, in the ways in which instructions are planted in documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf

from anabranch.readers.document import Document
from benchmarks.reading.pdfium import squeezed

_WHITE = (1, 1, 1)
# What is said in each way, so that a leak tells which it was.
PLANTED = ("whiteword", "tinyword", "outsideword", "invisibleword", "coveredword", "camouflagedword", "transparentword")


def write_planted(path: Path) -> None:
    """Write a page of visible text with each of `PLANTED` hidden in its own way."""
    pdf: Any = pymupdf.open()
    page = pdf.new_page()
    page.insert_text((72, 72), "The river divides above the town, and each arm keeps its own course for some miles.")
    page.insert_text((72, 120), "whiteword", color=_WHITE)
    page.insert_text((72, 150), "tinyword", fontsize=0.4)
    page.insert_text((72, -80), "outsideword")
    page.insert_text((72, 180), "invisibleword", render_mode=3)
    page.insert_text((72, 210), "coveredword")
    page.draw_rect((60, 195, 200, 220), color=(0, 0, 0), fill=(0, 0, 0))
    page.draw_rect((60, 235, 200, 260), color=(0, 0, 0.5), fill=(0, 0, 0.5))
    page.insert_text((72, 250), "camouflagedword", color=(0, 0, 0.5))
    page.insert_text((72, 290), "transparentword", fill_opacity=0)
    pdf.save(path)
    pdf.close()


def leaked(document: Document) -> list[str]:
    """Return which of the hidden words were read."""
    said = squeezed(" ".join(block.text for block in document.blocks))
    return [word for word in PLANTED if word in said]
