"""Read Rich Text Format (.rtf) by striprtf: its words, its tables row by row; it knows no headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from striprtf.striprtf import rtf_to_text

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Block, Document, ReadOptions, declared_title
from anabranch.readers.document_parts import one_document
from anabranch.readers.encoding import clean_text
from anabranch.readers.plain_text import paragraphs
from anabranch.readers.size_limit import MOST_PARSED_BYTES, limited
from anabranch.readers.table_blocks import table_parts
from anabranch.text.normalization import squeeze

# Possessive: a digit behind `\u` fits in two ways, and a group that nothing closes would be tried in all of them.
_TITLE = re.compile(r"\{\\title\s((?:[^{}\\]|\\'[0-9a-f]{2}|\\u-?\d+\s?\??)*+)\}")
_AUTHOR = re.compile(r"\{\\author\s((?:[^{}\\]|\\'[0-9a-f]{2}|\\u-?\d+\s?\??)*+)\}")
# Letters that are hidden end where the group does, or where they are said not to be.
_HIDDEN = re.compile(r"\\v(?:1)?(?![a-z0-9-])[ ]?((?:[^{}\\]|\\'[0-9a-f]{2})*)")


@limited(MOST_PARSED_BYTES)
def read_rtf(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of an .rtf file.

    Raises:
        ReadingError: `broken` when it is no RTF; `empty`.
    """
    # RTF is ASCII; what is not is escaped, in the code page that it names.
    data = path.read_bytes().decode("latin-1")
    if not data.lstrip().startswith("{\\rtf"):
        raise ReadingError(f"{source!r} is no RTF.", reason="broken", hint="Check the file's extension.")
    hidden = sum(len(squeeze(found[1])) for found in _HIDDEN.finditer(data))
    text, notes = clean_text(_words(_HIDDEN.sub("", data)), ())
    if hidden:
        notes = (*notes, f"hidden text was left out ({hidden} characters)")
    facts = {"format": "rtf", "author": _property_text(_AUTHOR, data)}
    yield one_document(source, path, _blocks(text), facts, declared_title(_property_text(_TITLE, data)), notes)


def _words(rtf: str) -> str:
    convert: Any = rtf_to_text  # the library brings no types
    return str(convert(rtf, errors="replace"))


def _property_text(pattern: re.Pattern[str], data: str) -> str:
    found = pattern.search(data)
    return squeeze(_words(f"{{\\rtf1\\ansi {found[1]}}}")) if found else ""


def _blocks(text: str) -> Iterator[Block]:
    rows: list[list[str]] = []
    # An end of line is an end of a paragraph; cells end with a bar.
    for line in [line for part in paragraphs(text) for line in part.split("\n")] + [""]:
        if line.rstrip().endswith("|"):
            rows.append([squeeze(cell) for cell in line.rstrip()[:-1].split("|")])
            continue
        yield from map(Block, table_parts(rows))
        rows = []
        if words := squeeze(line):
            yield Block(words)
