"""How the files of one run are read, on whatever machine: what `ingest --queue` was told, kept with its jobs."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import TypeAdapter

from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.readers.document import PLAIN, ReadOptions

_USUAL = Limits()


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What is the same for all files of a run.

    Attributes:
        ocr: Whether scanned pages are read.
        ocr_languages: As Tesseract calls them.
        seconds: See `Limits`.
        bytes: See `Limits`.
        private_urls: Whether pages may come from addresses of one's own network.
    """

    ocr: bool = PLAIN.ocr
    ocr_languages: tuple[str, ...] = PLAIN.ocr_languages
    seconds: float = _USUAL.seconds
    bytes: int = _USUAL.bytes
    private_urls: bool = False

    @property
    def limits(self) -> Limits:
        """What each file may cost."""
        return Limits(self.seconds, self.bytes)

    def reading(self, passwords: tuple[str, ...]) -> ReadOptions:
        """Return the options of the readers, with the passwords of the worker: none of them is kept in a database."""
        return ReadOptions(passwords, ocr=self.ocr, ocr_languages=self.ocr_languages)


_JSON = TypeAdapter(RunOptions)


def to_text(options: RunOptions) -> str:
    """Return them as JSON, equal ones as the same text."""
    return _JSON.dump_json(options).decode()


def from_text(text: str) -> RunOptions:
    """Undo `to_text`.

    Raises:
        pydantic.ValidationError: Somebody has changed it.
    """
    return _JSON.validate_json(text)
