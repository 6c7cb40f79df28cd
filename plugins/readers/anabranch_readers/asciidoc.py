"""Read AsciiDoc: headings, lists, tables, admonitions and listings; attributes, comments and macros are not text.

docs.asciidoctor.org/asciidoc/latest, as far as text depends on it. Asciidoctor itself is a program in Ruby, and what
there is in Python makes HTML by running it or by its configuration files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from anabranch.readers.document import PLAIN, Document, ReadOptions
from anabranch.readers.document_parts import one_document
from anabranch.readers.encoding import clean_text, decode
from anabranch.readers.size_limit import MOST_PARSED_BYTES, limited
from anabranch.text.normalization import squeeze
from anabranch_readers.markup_lines import MarkupLine, markup_blocks

_HEADING = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)(?:\s+\1)?\s*$")
_ATTRIBUTE = re.compile(r":(!?[\w][\w-]*!?):(?:\s+(.*))?$")
_LISTING = re.compile(r"(-{4,}|\.{4,}|`{3,}.*|\+{4,})\s*$")
_COMMENT = re.compile(r"/{4,}\s*$")
_FRAME = re.compile(r"(={4,}|\*{4,}|_{4,}|--)\s*$")
_TABLE = re.compile(r"[|,:!]={3,}\s*$")
_META = re.compile(r"\[[^\]]*\]\s*$|(?:include|ifdef|ifndef|endif|ifeval|toc)::.*$|(?:'{3,}|<{3,}|\+)\s*$")
_IMAGE = re.compile(r"(?:image|video|audio)::?[^\[\s]*\[([^\],]*)[^\]]*\]")
_ITEM = re.compile(r"\s*(\*{1,5}|-|\.{1,5}|\d+\.)\s+(?:\[[ xX*]\]\s+)?(.*)")
_TERM = re.compile(r"(\S.*?):{2,4}(?:\s+(.*))?$")
_CELL = re.compile(r"(?:^|\s)(?:\d*(?:\.\d+)?[+*])?[<^>.]*[aehlmsd]?\|")
_LINK = re.compile(r"(?:(?:link:|mailto:|xref:)[^\[\s]+|(?:https?|ftp)://[^\[\s]+)\[([^\]]*)\]")
_CROSS = re.compile(r"<<([^,<>]+)(?:,\s*([^<>]+))?>>")
_ANCHOR = re.compile(r"\[\[[^\]]*\]\]|\[#[\w-]+\](?=\S)|(?:indexterm2?|footnote):\[|\(\(\(.{0,1000}?\)\)\)")
# Nothing is emphasised over more than a thousand characters, so that a mark that nothing closes costs no more.
_MARKS = re.compile(r"(?<!\w)(\*\*|__|``|##|[*_`#+])(?=\S)(.{1,1000}?)(?<=\S)\1(?!\w)")
_BREAK = re.compile(r"\s\+$")
_REFERENCE = re.compile(r"\{([\w-]+)\}")


@limited(MOST_PARSED_BYTES)
def read_asciidoc(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a file; title: the first heading, else the file's name.

    Raises:
        ReadingError: `empty`, `broken` (binary data) or `encoding`.
    """
    text, notes = clean_text(*decode(path.read_bytes(), source))
    lines = text.split("\n")
    attributes = {found[1]: (found[2] or "").strip() for found in map(_ATTRIBUTE.match, lines) if found}
    facts = {"format": "asciidoc", "author": attributes.get("author", "")}
    yield one_document(source, path, markup_blocks(_AsciiDoc(attributes).lines(lines)), facts, notes=notes)


class _AsciiDoc:
    def __init__(self, attributes: dict[str, str]) -> None:
        self._attributes = attributes
        self._closing = ""
        self._cells: list[str] = []
        self._columns = 0

    def lines(self, lines: Sequence[str]) -> Iterator[MarkupLine]:
        for line in lines:
            if not self._closing:
                yield self._open(line)
            elif line.rstrip() == self._closing:
                yield from self._close()
            elif self._closing[1:].startswith("==="):
                yield from self._row(line)
            elif not self._closing.startswith("////"):
                yield MarkupLine("code", line)
        yield from self._close()

    def _open(self, line: str) -> MarkupLine:
        if _LISTING.match(line) or _COMMENT.match(line) or _TABLE.match(line):
            # A fence of backticks names its language on the first line only.
            self._closing = (
                line.rstrip().rstrip("abcdefghijklmnopqrstuvwxyz") if line.startswith("```") else line.rstrip()
            )
            self._columns = 0
            return MarkupLine("blank")
        if not line.strip() or _FRAME.match(line):
            return MarkupLine("blank")
        if line.startswith("//") or _ATTRIBUTE.match(line) or _META.match(line):
            return MarkupLine("unseen")
        return self._line(line)

    def _line(self, line: str) -> MarkupLine:
        heading = _HEADING.match(line)
        if heading:
            return MarkupLine("heading", self._words(heading[2]), len(heading[1]))
        item = _ITEM.match(line)
        if item:
            depth = len(item[1]) - 1 if item[1][0] in "*." else 0
            return MarkupLine(
                "item", f"{'  ' * depth}{item[1] if item[1][0].isdigit() else '-'} {self._words(item[2])}"
            )
        term = _TERM.match(line)
        if term and "://" not in line:
            return MarkupLine("item", f"{self._words(term[1])}: {self._words(term[2] or '')}".rstrip())
        # A title of a block stands behind a dot.
        text = line[1:] if re.match(r"\.\w", line) else line
        return MarkupLine("item" if text is not line else "prose", self._words(_BREAK.sub("", text.strip())))

    def _row(self, line: str) -> Iterator[MarkupLine]:
        pieces = _CELL.split(line)
        if self._cells and pieces[0].strip():
            self._cells[-1] += f" {pieces[0].strip()}"
        self._cells += [self._words(piece.strip()) for piece in pieces[1:]]
        # The first line tells how many cells make a row.
        self._columns = self._columns or len(self._cells)
        if not line.strip() or len(pieces) > 2:
            yield from self._rows()

    def _rows(self) -> Iterator[MarkupLine]:
        while self._columns and len(self._cells) >= self._columns:
            row, self._cells = self._cells[: self._columns], self._cells[self._columns :]
            yield MarkupLine("row", cells=tuple(map(squeeze, row)))

    def _close(self) -> Iterator[MarkupLine]:
        yield from self._rows()
        if self._cells:
            yield MarkupLine("row", cells=tuple(map(squeeze, self._cells)))
        self._closing, self._cells = "", []
        yield MarkupLine("blank")

    def _words(self, text: str) -> str:
        text = _REFERENCE.sub(lambda found: self._attributes.get(found[1], found[0]), text)
        text = _ANCHOR.sub("", _IMAGE.sub(r"\1", text))
        text = _CROSS.sub(lambda found: found[2] or found[1], _LINK.sub(r"\1", text))
        return _MARKS.sub(r"\2", _MARKS.sub(r"\2", text))
