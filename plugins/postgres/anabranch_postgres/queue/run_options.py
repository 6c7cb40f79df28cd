"""The reading options of one run, stored with its jobs so that they hold on every machine."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import TypeAdapter

from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.readers.document import PLAIN, ReadOptions

_USUAL = Limits()


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options common to all files of a run.

    Attributes:
        ocr: Whether scanned pages are read.
        ocr_languages: Language codes of Tesseract.
        seconds: See `Limits`.
        bytes: See `Limits`.
        private_urls: Whether pages may come from private addresses.
    """

    ocr: bool = PLAIN.ocr
    ocr_languages: tuple[str, ...] = PLAIN.ocr_languages
    seconds: float = _USUAL.seconds
    bytes: int = _USUAL.bytes
    private_urls: bool = False

    @property
    def limits(self) -> Limits:
        """The limits of each file."""
        return Limits(self.seconds, self.bytes)

    def reading(self, passwords: tuple[str, ...]) -> ReadOptions:
        """Return the options of the readers, with the worker's passwords, which are never stored in a database."""
        return ReadOptions(passwords, ocr=self.ocr, ocr_languages=self.ocr_languages)


_JSON = TypeAdapter(RunOptions)


def to_text(options: RunOptions) -> str:
    """Return the options as JSON; equal options give the same text."""
    return _JSON.dump_json(options).decode()


def from_text(text: str) -> RunOptions:
    """Undo `to_text`.

    Raises:
        pydantic.ValidationError: The text was changed.
    """
    return _JSON.validate_json(text)
