"""Read Org files: headlines without their states and tags, lists, tables and source blocks.

Org Syntax (orgmode.org/worg/org-syntax.html), as far as text depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from anabranch.readers.document import PLAIN, Document, ReadOptions
from anabranch.readers.document_parts import one_document
from anabranch.readers.encoding import clean_text, decode
from anabranch.readers.size_limit import MOST_PARSED_BYTES, limited
from anabranch.text.normalization import squeeze
from anabranch_readers.markup_lines import MarkupLine, markup_blocks

_HEADLINE = re.compile(
    r"(\*+)\s+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)\s+)?(?:\[#\w\]\s+)?(.*?)(?:\s+:[\w@#%:]+:)?\s*$"
)
_KEYWORD = re.compile(r"\s*#\+(\w+):\s*(.*)")
_BEGIN = re.compile(r"\s*#\+begin_(\w+)", re.IGNORECASE)
_DRAWER = re.compile(r"\s*:[\w-]+:\s*$")
_PLANNING = re.compile(r"\s*(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):")
_ITEM = re.compile(r"(\s*)([-+]|\d+[.)])\s+(?:\[[ xX-]\]\s+)?(.*)")
_LINK = re.compile(r"\[\[([^]\[]+)\](?:\[([^]\[]+)\])?\]")
_EMPHASIS = re.compile(r"(?<![\w*/_=~+])([*/_=~+])(?=\S)([^\n]{0,1000}?\S)\1(?![\w*/_=~+])")
_AS_IT_STANDS = frozenset({"src", "example", "export", "verse"})


@limited(MOST_PARSED_BYTES)
def read_org(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a file; title: `#+TITLE`, else the first headline, else the file's name.

    Raises:
        ReadingError: `empty`, `broken` (binary data) or `encoding`.
    """
    text, notes = clean_text(*decode(path.read_bytes(), source))
    lines = text.split("\n")
    said = {found[1].lower(): found[2].strip() for found in map(_KEYWORD.match, lines) if found}
    facts = {"format": "org", "author": said.get("author", ""), "date": said.get("date", "")}
    yield one_document(source, path, markup_blocks(_lines(lines)), facts, squeeze(said.get("title", "")), notes)


def _lines(lines: list[str]) -> Iterator[MarkupLine]:
    closing = ""
    for line in lines:
        if closing:
            is_end = line.strip().lower() == closing
            closing = "" if is_end else closing
            if closing.startswith("#+end"):
                yield MarkupLine("code", line)
            elif is_end:
                yield MarkupLine("blank")
            continue
        begin = _BEGIN.match(line)
        if begin and begin[1].lower() in {*_AS_IT_STANDS, "comment"}:
            closing = f"#+end_{begin[1].lower()}"
            yield MarkupLine("blank")
        elif _DRAWER.match(line):
            closing = ":end:"
        else:
            yield _line(line)


def _line(line: str) -> MarkupLine:
    headline = _HEADLINE.match(line)
    if headline:
        return MarkupLine("heading", _words(headline[2]), len(headline[1]))
    stripped = line.strip()
    if not stripped:
        return MarkupLine("blank")
    if stripped.startswith("#") or _PLANNING.match(line):
        return MarkupLine("unseen")
    if stripped.startswith("|"):
        # A rule between rows says nothing.
        is_rule = stripped.startswith("|-")
        cells = tuple(squeeze(_words(cell)) for cell in stripped.strip("|").split("|"))
        return MarkupLine("unseen") if is_rule else MarkupLine("row", cells=cells)
    item = _ITEM.match(line)
    if item:
        return MarkupLine("item", f"{item[1]}{'-' if item[2] in '-+' else item[2]} {_words(item[3])}")
    return MarkupLine("prose", _words(stripped))


def _words(text: str) -> str:
    return _EMPHASIS.sub(r"\2", _LINK.sub(lambda found: found[2] or found[1], text))
