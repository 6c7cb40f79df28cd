"""Turn files into documents: `read` picks the reader by the file's extension.

A file that cannot become text raises `ReadingError` with a one-word reason; a part of a file that cannot is yielded as
a `Failure`, and the rest goes on. Nothing is left out without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from anabranch.errors import ReadingError
from anabranch.readers.code_languages import LANGUAGES
from anabranch.readers.corpus_marker import is_corpus, names_in
from anabranch.readers.document import Document
from anabranch.readers.part_failure import Failure
from anabranch.readers.read_options import PLAIN, ReadOptions
from anabranch.text.normalization import squeeze, storable

__all__ = ["PLAIN", "READERS", "SUPPORTED", "Failure", "ReadOptions", "Reader", "read"]

Reader = Callable[[Path, str, ReadOptions], Iterator[Document | Failure]]

_MOST_BYTES = 1 << 30
_MOST_TEXT_BYTES = 100 << 20
"""Of a file that becomes one document, which is held in memory and handed over whole (`frames.MOST_BYTES`)."""

_STREAMED = frozenset({".jsonl", ".ndjson", ".csv", ".tsv", ".tab"})


def _pdf(path: Path, source: str, options: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.pdf import read_pdf

    return read_pdf(path, source, options)


def _markdown(path: Path, source: str, _: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.markdown import read_markdown

    return read_markdown(path, source)


def _text(path: Path, source: str, _: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.plain_text import read_text

    return read_text(path, source)


def _html(path: Path, source: str, _: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.html import read_html

    return read_html(path, source)


def _docx(path: Path, source: str, _: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.docx import read_docx

    return read_docx(path, source)


def _pptx(path: Path, source: str, _: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.pptx import read_pptx

    return read_pptx(path, source)


def _spreadsheet(path: Path, source: str, _: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.spreadsheet import read_spreadsheet

    return read_spreadsheet(path, source)


def _odf(path: Path, source: str, _: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.opendocument import read_odf

    return read_odf(path, source)


def _epub(path: Path, source: str, _: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.epub import read_epub

    return read_epub(path, source)


def _eml(path: Path, source: str, _: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.eml import read_eml

    return read_eml(path, source)


def _delimited(path: Path, source: str, _: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.csv import read_delimited

    return read_delimited(path, source)


def _code(path: Path, source: str, _: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.code import read_code

    return read_code(path, source)


def _notebook(path: Path, source: str, _: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.notebook import read_notebook

    return read_notebook(path, source)


def _jsonl(path: Path, source: str, _: ReadOptions) -> Iterator[Document | Failure]:
    from anabranch.readers.jsonl import read_jsonl

    return read_jsonl(path, source)


READERS: dict[str, Reader] = {
    **dict.fromkeys(LANGUAGES, _code),
    ".pdf": _pdf,
    ".md": _markdown,
    ".markdown": _markdown,
    ".txt": _text,
    ".text": _text,
    ".rst": _text,
    ".log": _text,
    ".html": _html,
    ".htm": _html,
    ".xhtml": _html,
    ".docx": _docx,
    ".pptx": _pptx,
    ".pptm": _pptx,
    ".ppsx": _pptx,
    ".xlsx": _spreadsheet,
    ".xlsm": _spreadsheet,
    ".odt": _odf,
    ".ods": _odf,
    ".odp": _odf,
    ".epub": _epub,
    ".eml": _eml,
    ".csv": _delimited,
    ".tsv": _delimited,
    ".tab": _delimited,
    ".ipynb": _notebook,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
}
"""Reader by extension, lower case. Each imports its library when first used, so that start-up stays quick."""

SUPPORTED: tuple[str, ...] = tuple(sorted(READERS))


def read(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document | Failure]:
    """Yield the documents of one file, and a `Failure` for each part of it that could not be read.

    Args:
        path: The file.
        source: What a person calls it; it becomes `Document.source`.
        options: Passwords and the like.

    Raises:
        ReadingError: On the first step, or in mid-file when the file turns out to be damaged. Reasons: `unsupported`,
            `unreadable` (permissions, a folder), `empty`, `too_large`, `encrypted`, `scanned`, `encoding`, `broken`.
    """
    try:
        reader = _reader_of(path, source)
        _check_size(path, source)
        for item in reader(path, source, options):
            yield item if isinstance(item, Failure) else _titled(item)
    except (ReadingError, MemoryError):
        raise
    except OSError as error:
        what = error.strerror or type(error).__name__
        raise ReadingError(f"{source!r} cannot be opened: {what}.", reason="unreadable") from error
    except Exception as error:
        what = squeeze(str(error))[:200] or type(error).__name__
        raise ReadingError(f"{source!r} cannot be read: {what}", reason="broken") from error


def _reader_of(path: Path, source: str) -> Reader:
    if path.is_dir():
        if is_corpus(names_in(path) or []):
            raise ReadingError(f"{source!r} is a corpus, left out with all that is in it.", reason="unsupported")
        raise ReadingError(f"{source!r} is a folder that may not be opened.", reason="unreadable")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        msg = f"{source!r} is not of a kind that can be read."
        raise ReadingError(msg, reason="unsupported", hint=f"Known: {' '.join(SUPPORTED)}")
    return reader


def _titled(document: Document) -> Document:
    """Return a document whose title is text: where it comes from the file's name, that may be any bytes."""
    title = storable(document.title)
    return document if title == document.title else replace(document, title=title)


def _check_size(path: Path, source: str) -> None:
    size = path.stat().st_size
    if size == 0:
        raise ReadingError(f"{source!r} has no content.", reason="empty")
    kind = path.suffix.lower()
    most = _MOST_TEXT_BYTES if READERS[kind] in (_text, _markdown) else _MOST_BYTES
    if size > most and kind not in _STREAMED:
        raise ReadingError(f"{source!r} has {size} bytes, over {most}.", reason="too_large", hint="Split it.")
