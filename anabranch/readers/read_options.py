"""What a person may say about how files are read."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of one run.

    Attributes:
        passwords: Tried in turn on protected files; never written anywhere.
        ocr: Whether pages that are pictures of text go through Tesseract, where it is on this machine.
        ocr_languages: Tesseract's names of the languages on those pages, such as `eng` or `deu`.
    """

    passwords: tuple[str, ...] = field(default=(), repr=False)
    ocr: bool = True
    ocr_languages: tuple[str, ...] = ("eng",)


PLAIN = ReadOptions()
"""No passwords; OCR where it can be had."""
