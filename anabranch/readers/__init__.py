"""Turn files into documents: `read` picks the reader by the file's extension.

A file that cannot become text raises `ReadingError` with a one-word reason; a part of a file that cannot is yielded as
a `Failure`, and the rest goes on. Nothing is left out without a word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePath

from anabranch.errors import MissingExtraError, ReadingError, SettingsError
from anabranch.readers.corpus_marker import is_corpus, names_in
from anabranch.readers.document import PLAIN, Document, Failure, ReadOptions
from anabranch.readers.faults import refuse
from anabranch.readers.size_limit import limit_of
from anabranch.registry import Registry
from anabranch.text.normalization import storable

__all__ = ["PLAIN", "READERS", "Failure", "ReadOptions", "Reader", "extension_of", "read"]

# Takes a file, what a person calls it (`Document.source`), and the options of the run; raises what `read` does.
Reader = Callable[[Path, str, ReadOptions], Iterator[Document | Failure]]

# What Notion puts behind the name of each page that it exports.
_EXPORT_ID = re.compile(r"(?<=\S) [0-9a-f]{32}$")

# A message in a Maildir: its flags behind the name, or the time, a unique part and the host; no dot is an extension's.
_MAILDIR_NAME = re.compile(r".+[:;!]2,[A-Za-z]*|\d{9,}\.\w+\..+")

# The everyday formats; all others come with plugins. Without an extension (README, LICENSE, Makefile) only what is in a
# file can tell.
_BUILT_IN = {
    "anabranch.readers.markdown:read_markdown": ".md .markdown .mdx .qmd .rmd",
    "anabranch.readers.plain_text:read_text": ".txt .text .log",
    "anabranch.readers.html:read_html": ".html .htm .xhtml",
    "anabranch.readers.jsonl:read_jsonl": ".jsonl .ndjson",
    "anabranch.readers.json_records:read_json": ".json",
}

READERS: Registry[Reader] = Registry(
    "reader",
    {extension: place for place, extensions in _BUILT_IN.items() for extension in extensions.split()}
    | {"": "anabranch.readers.extensionless:read_extensionless"},
    use="Reading {} files",
)
"""Readers by extension, lower case. Each is imported when it is first used, so that start-up stays quick.

A package adds one for an extension of its own through the group of entry points `anabranch.readers`, as the plugin
`anabranch_readers` does; `size_limit.limited` gives it another limit than the usual one:

    [project.entry-points."anabranch.readers"]
    ".foo" = "my_package.foo:read_foo"
"""


def extension_of(path: PurePath) -> str:
    """Return the extension by which a file is read; empty for a message of a Maildir, whose name has none."""
    extension = path.suffix.lower()
    if extension == ".txt" and path.stem.lower().endswith((".rst", ".md")):  # Sphinx calls the sources of its pages so
        extension = PurePath(path.stem).suffix.lower()
    return "" if extension not in READERS and _MAILDIR_NAME.fullmatch(path.name) else extension


def read(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document | Failure]:
    """Yield the documents of one file, and a `Failure` for each part of it that could not be read.

    Raises:
        ReadingError: On the first step, or in mid-file when the file turns out to be damaged. Reasons: `unsupported`,
            `unreadable` (permissions, a folder), `empty`, `too_large`, `encrypted`, `scanned`, `encoding`, `broken`.
    """
    try:
        reader = _reader_of(path, source)
        _check_size(path, source, reader)
        for item in reader(path, source, options):
            yield item if isinstance(item, Failure) else _titled(item)
    except (ReadingError, MemoryError):  # the process that reads says itself that its memory was not enough
        raise
    except MissingExtraError as error:
        raise ReadingError(f"{source!r}: {error.message}", reason="unsupported", hint=error.hint) from error
    except OSError as error:
        if error.errno is None:  # not from the system: what some libraries raise on a damaged file
            raise refuse(source, "read", error) from error
        what = error.strerror or type(error).__name__
        raise ReadingError(f"{source!r} cannot be opened: {what}.", reason="unreadable") from error
    except Exception as error:
        raise refuse(source, "read", error) from error


def _reader_of(path: Path, source: str) -> Reader:
    if path.is_dir():
        if is_corpus(names_in(path) or []):
            raise ReadingError(f"{source!r} is a corpus, left out with all that is in it.", reason="unsupported")
        raise ReadingError(f"{source!r} is a folder that may not be opened.", reason="unreadable")
    extension = extension_of(path)
    if extension not in READERS:
        raise ReadingError(f"{source!r} is not of a kind that can be read.", reason="unsupported")
    try:
        return READERS.get(extension)
    except SettingsError as error:  # somebody's package, that cannot be imported
        raise ReadingError(error.message, reason="unsupported", hint=error.hint) from error


def _titled(document: Document) -> Document:
    """Return a document whose names are text: where they come from the file's name, that may be any bytes."""
    title, source = _EXPORT_ID.sub("", storable(document.title)), storable(document.source)
    return replace(document, title=title, source=source)


def _check_size(path: Path, source: str, reader: Reader) -> None:
    size = path.stat().st_size
    if size == 0:
        raise ReadingError(f"{source!r} has no content.", reason="empty")
    limit = limit_of(reader)
    if limit.most_bytes is not None and size > limit.most_bytes:
        msg = f"{source!r} has {size} bytes, over {limit.most_bytes}."
        raise ReadingError(msg, reason="too_large", hint=limit.hint)
