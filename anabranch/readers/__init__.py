"""Turn files into documents: `read` picks the reader by the file's extension.

A file that cannot become text raises `ReadingError` with a one-word reason; a part of a file that cannot is yielded as
a `Failure`, and the rest goes on. Nothing is left out without a word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from anabranch.errors import MissingExtraError, ReadingError, SettingsError
from anabranch.readers.code_languages import LANGUAGES
from anabranch.readers.corpus_marker import is_corpus, names_in
from anabranch.readers.document import PLAIN, Document, Failure, ReadOptions
from anabranch.registry import Registry
from anabranch.text.normalization import squeeze, storable

__all__ = ["PLAIN", "READERS", "Failure", "ReadOptions", "Reader", "read"]

# Takes a file, what a person calls it (`Document.source`), and the options of the run; raises what `read` does.
Reader = Callable[[Path, str, ReadOptions], Iterator[Document | Failure]]


class _FileFormat(NamedTuple):
    """What belongs to the extensions of one format.

    Attributes:
        extensions: Lower case, separated by spaces.
        reader: Where it is, as "module:function".
        most_bytes: What a file may have at most; None where it is streamed.
        hint: What to do with a larger one.
    """

    extensions: str
    reader: str
    most_bytes: int | None = 1 << 30
    hint: str = "Split it."


# What Notion puts behind the name of each page that it exports.
_EXPORT_ID = re.compile(r"(?<=\S) [0-9a-f]{32}$")
# A text becomes one document, which is held in memory and handed over whole (`framing.MOST_BYTES`).
_MOST_TEXT_BYTES = 100 << 20
# What is parsed as a whole takes many times its size.
_MOST_PARSED_BYTES = 1 << 25

_FORMATS = (
    _FileFormat(".pdf", "anabranch.readers.pdf:read_pdf"),
    _FileFormat(".md .markdown .mdx .qmd .rmd", "anabranch.readers.markdown:read_markdown", _MOST_TEXT_BYTES),
    _FileFormat(".txt .text .log", "anabranch.readers.plain_text:read_text", _MOST_TEXT_BYTES),
    _FileFormat(".html .htm .xhtml", "anabranch.readers.html:read_html"),
    _FileFormat(".docx .docm .dotx .dotm", "anabranch.readers.docx:read_docx"),
    _FileFormat(".doc .ppt", "anabranch.readers.legacy_office:read_legacy_office", 1 << 28),
    _FileFormat(".pptx .pptm .ppsx", "anabranch.readers.pptx:read_pptx"),
    _FileFormat(".xlsx .xlsm", "anabranch.readers.spreadsheet:read_spreadsheet"),
    _FileFormat(".xls .xlsb", "anabranch.readers.legacy_spreadsheet:read_xls", 1 << 28),
    _FileFormat(".odt .ods .odp", "anabranch.readers.opendocument:read_odf"),
    _FileFormat(".epub", "anabranch.readers.epub:read_epub"),
    _FileFormat(".fb2", "anabranch.readers.fictionbook:read_fb2", _MOST_PARSED_BYTES),
    _FileFormat(".eml", "anabranch.readers.eml:read_eml"),
    _FileFormat(".msg", "anabranch.readers.outlook_message:read_msg", 1 << 28),
    _FileFormat(".mbox", "anabranch.readers.mbox:read_mbox", most_bytes=None),
    _FileFormat(".mhtml .mht", "anabranch.readers.mhtml:read_mhtml", _MOST_PARSED_BYTES),
    _FileFormat(".ics", "anabranch.readers.ics:read_ics", _MOST_PARSED_BYTES),
    _FileFormat(".rtf", "anabranch.readers.rtf:read_rtf", _MOST_PARSED_BYTES),
    _FileFormat(".rst", "anabranch.readers.restructuredtext:read_rst", _MOST_PARSED_BYTES),
    _FileFormat(".adoc .asciidoc", "anabranch.readers.asciidoc:read_asciidoc", _MOST_PARSED_BYTES),
    _FileFormat(".org", "anabranch.readers.org:read_org", _MOST_PARSED_BYTES),
    _FileFormat(".tex", "anabranch.readers.latex:read_latex", _MOST_PARSED_BYTES),
    _FileFormat(".vtt .srt", "anabranch.readers.subtitles:read_subtitles", _MOST_PARSED_BYTES),
    _FileFormat(".xps .oxps", "anabranch.readers.picture:read_xps"),
    _FileFormat(".png .jpg .jpeg .tif .tiff .webp .bmp", "anabranch.readers.picture:read_picture", 1 << 28),
    _FileFormat(".csv .tsv .tab", "anabranch.readers.csv:read_delimited", most_bytes=None),
    _FileFormat(".jsonl .ndjson", "anabranch.readers.jsonl:read_jsonl", most_bytes=None),
    _FileFormat(".parquet", "anabranch.readers.parquet:read_parquet", most_bytes=None),
    _FileFormat(".ipynb", "anabranch.readers.notebook:read_notebook", 1 << 27, "Clear its outputs."),
    # So much of it is data, not code.
    _FileFormat(
        " ".join(LANGUAGES), "anabranch.readers.code:read_code", 1 << 25, "Turn it into CSV or JSON lines, or split it."
    ),
    # After source code, which both may turn out to be.
    _FileFormat(".json", "anabranch.readers.json_records:read_json", 1 << 27, "Turn it into JSON lines, or split it."),
    _FileFormat(".xml .rss .atom", "anabranch.readers.feed:read_xml", 1 << 25),
)
_FORMAT_OF = {extension: each for each in _FORMATS for extension in each.extensions.split()}
# README, LICENSE, Makefile: only what is in them can tell.
_FORMAT_OF[""] = _FileFormat("", "anabranch.readers.extensionless:read_extensionless", 1 << 25)
_OTHERS = _FileFormat("", "")

READERS: Registry[Reader] = Registry("reader", {extension: each.reader for extension, each in _FORMAT_OF.items()})
"""Readers by extension, lower case. Each is imported when it is first used, so that start-up stays quick.

A package adds one for an extension of its own through the group of entry points `anabranch.readers`:

    [project.entry-points."anabranch.readers"]
    ".foo" = "my_package.foo:read_foo"
"""


def read(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document | Failure]:
    """Yield the documents of one file, and a `Failure` for each part of it that could not be read.

    Raises:
        ReadingError: On the first step, or in mid-file when the file turns out to be damaged. Reasons: `unsupported`,
            `unreadable` (permissions, a folder), `empty`, `too_large`, `encrypted`, `scanned`, `encoding`, `broken`.
    """
    try:
        reader = _reader_of(path, source)
        _check_size(path, source)
        for item in reader(path, source, options):
            yield item if isinstance(item, Failure) else _titled(item)
    except (ReadingError, MemoryError):  # the process that reads says itself that its memory was not enough
        raise
    except MissingExtraError as error:
        raise ReadingError(f"{source!r}: {error.message}", reason="unsupported", hint=error.hint) from error
    except OSError as error:
        if error.errno is None:  # not from the system: what some libraries raise on a damaged file
            raise _broken(source, error) from error
        what = error.strerror or type(error).__name__
        raise ReadingError(f"{source!r} cannot be opened: {what}.", reason="unreadable") from error
    except Exception as error:
        raise _broken(source, error) from error


def _broken(source: str, error: Exception) -> ReadingError:
    what = squeeze(str(error))[:200] or type(error).__name__
    return ReadingError(f"{source!r} cannot be read: {what}", reason="broken")


def _reader_of(path: Path, source: str) -> Reader:
    if path.is_dir():
        if is_corpus(names_in(path) or []):
            raise ReadingError(f"{source!r} is a corpus, left out with all that is in it.", reason="unsupported")
        raise ReadingError(f"{source!r} is a folder that may not be opened.", reason="unreadable")
    extension = path.suffix.lower()
    if extension not in READERS:
        raise ReadingError(f"{source!r} is not of a kind that can be read.", reason="unsupported")
    try:
        return READERS.get(extension)
    except SettingsError as error:  # somebody's package, that cannot be imported
        raise ReadingError(error.message, reason="unsupported", hint=error.hint) from error


def _titled(document: Document) -> Document:
    """Return a document whose title is text: where it comes from the file's name, that may be any bytes."""
    title = _EXPORT_ID.sub("", storable(document.title))
    return document if title == document.title else replace(document, title=title)


def _check_size(path: Path, source: str) -> None:
    size = path.stat().st_size
    if size == 0:
        raise ReadingError(f"{source!r} has no content.", reason="empty")
    limit = _FORMAT_OF.get(path.suffix.lower(), _OTHERS)
    if limit.most_bytes is not None and size > limit.most_bytes:
        msg = f"{source!r} has {size} bytes, over {limit.most_bytes}."
        raise ReadingError(msg, reason="too_large", hint=limit.hint)
