"""Read a Word document: paragraphs, lists and tables in the order of the page, headings from their styles.

The body's XML is walked directly: what sits in content controls, tracked insertions and text boxes is part of it, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from anabranch.readers.document import (
    PLAIN,
    Block,
    Document,
    HeadingPath,
    ReadOptions,
    titles,
    with_heading,
)
from anabranch.readers.document_parts import one_document, squeezed_lines
from anabranch.readers.inert_xml import Element
from anabranch.readers.merged_cells import TableCell, lay_out, under_spans
from anabranch.readers.table_blocks import table_parts
from anabranch.text.normalization import clean, squeeze
from anabranch_readers.ooxml.hidden_runs import HiddenRuns
from anabranch_readers.ooxml.list_numbers import BULLET, list_labels
from anabranch_readers.ooxml.package import properties
from anabranch_readers.ooxml.tracked_changes import accept_changes
from anabranch_readers.ooxml.word_package import WordPackage, qn
from anabranch_readers.protected_office import open_with_password
from anabranch_readers.zip_container import ZipFormat, open_archive

_KIND = ZipFormat("Word document", "Word's old .doc format", ".docx in Word")
# Word stores the names of its own styles in English, whatever language it speaks; other programs translate them.
_HEADING = re.compile(r"(?:heading|überschrift|titre|título|titolo)\s*([1-9])", re.IGNORECASE)
# A text box comes after its paragraph, and the code of a field is not what it shows.
_SKIPPED = frozenset({qn("w:txbxContent"), qn("w:pPr"), qn("w:instrText")})
# A compatibility block has the same content twice, for newer and for older programs; once is enough.
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_BREAKS = {qn("w:tab"): " ", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-", qn("w:ptab"): " "}


def read_docx(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a Word file; running headers and footers are left out, footnotes come last.

    Lists and clauses keep the numbers that Word prints before them. What nobody would see is left out and counted.

    Raises:
        ReadingError: `encrypted`, `unsupported` (the old .doc format), `broken`, `too_large`, `empty`.
    """
    with open_with_password(path, source, options.passwords) as plain, open_archive(plain, source, _KIND) as archive:
        word = WordPackage(archive, source)
        document, styles, notes = word.document(), word.styles(), word.notes()
        for root in (document, *notes):
            accept_changes(root)
        labels = list_labels(document, word.numbering(), styles)
        title, author = properties(archive)
    hidden = HiddenRuns(styles)
    for root in (document, *notes):
        hidden.remove_from(root)
    blocks = _Body(_levels(styles), labels).blocks(document, notes)
    said = (f"hidden text was left out ({hidden.letters} characters)",) if hidden.letters else ()
    yield one_document(source, path, blocks, {"format": "docx", "author": author}, title, said)


def _levels(styles: Element | None) -> Mapping[str, int]:
    """Return the heading level of each style that has one, a style based on a heading being one too."""
    levels: dict[str, int] = {}
    for style in styles.iter(qn("w:style")) if styles is not None else ():
        name = style.find(qn("w:name"))
        based = style.find(qn("w:basedOn"))
        called = name.get(qn("w:val"), "") if name is not None else ""
        found = _HEADING.fullmatch(called)
        outline = style.find(f"{qn('w:pPr')}/{qn('w:outlineLvl')}")
        level = int(found.group(1)) if found else 1 if called == "Title" else _outline_level(outline)
        # What a style does not say itself, it has from the one that it is based on.
        if not level and based is not None:
            level = levels.get(based.get(qn("w:val"), ""), 0)
        if level:
            levels[style.get(qn("w:styleId"), "")] = level
    return levels


def _outline_level(element: Element | None) -> int:
    value = element.get(qn("w:val"), "") if element is not None else ""
    return int(value) + 1 if value.isdecimal() and int(value) < 9 else 0


class _Body:
    """Walks the body; consecutive list items make one block."""

    def __init__(self, levels: Mapping[str, int], labels: Mapping[Element, str]) -> None:
        self._levels = levels
        self._labels = labels
        self._path: HeadingPath = ()
        self._list: list[str] = []

    def blocks(self, document: Element, notes: Sequence[Element]) -> Iterator[Block]:
        for body in document.iterchildren(qn("w:body")):
            yield from self._walk(body)
        yield from self._end_list()
        for note in _footnotes(notes):
            yield Block(note, None, titles(self._path))

    def _walk(self, parent: Element) -> Iterator[Block]:
        for element in parent:
            if element.tag == qn("w:p"):
                yield from self._paragraph(element)
            elif element.tag == qn("w:tbl"):
                yield from self._end_list()
                for text in table_parts(_rows(element)):
                    yield Block(text, None, titles(self._path))
            elif element.tag in {qn("w:sdt"), qn("w:sdtContent"), qn("w:ins"), qn("w:customXml"), qn("w:moveTo")}:
                yield from self._walk(element)

    def _paragraph(self, element: Element) -> Iterator[Block]:
        text, level = paragraph_text(element), self._level(element)
        label = self._labels.get(element, BULLET if _is_item(element) else "")
        if text and not level and label:
            self._list.append(f"{label} {text}")
        elif text:
            yield from self._end_list()
            if level:
                text = squeeze(text if label == BULLET else f"{label} {text}")
                self._path = with_heading(self._path, level, text)
            yield Block(text, None, titles(self._path), bool(level))
        for box in element.iter(qn("w:txbxContent")):
            if not any(ancestor.tag == _FALLBACK for ancestor in box.iterancestors()):
                yield from self._walk(box)

    def _end_list(self) -> Iterator[Block]:
        if self._list:
            yield Block("\n".join(self._list), None, titles(self._path))
            self._list = []

    def _level(self, element: Element) -> int:
        own = _outline_level(element.find(f"{qn('w:pPr')}/{qn('w:outlineLvl')}"))
        style = element.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
        return own or (self._levels.get(style.get(qn("w:val"), ""), 0) if style is not None else 0)


def _is_item(element: Element) -> bool:
    number = element.find(f"{qn('w:pPr')}/{qn('w:numPr')}")
    style = element.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
    return number is not None or (style is not None and style.get(qn("w:val"), "").startswith("List"))


def paragraph_text(element: Element) -> str:
    """Return the text of a `w:p` as it prints: insertions in, deletions and text boxes out."""
    return squeezed_lines("".join(_pieces(element)))


def _pieces(element: Element) -> Iterator[str]:
    for child in element:
        if child.tag in _SKIPPED or child.tag == _FALLBACK:
            continue
        if child.tag == qn("w:t"):
            yield clean(child.text or "")
        elif child.tag in _BREAKS:
            yield _BREAKS[child.tag]
        else:
            yield from _pieces(child)


def _rows(table: Element) -> list[list[str]]:
    """Return the rows of a `w:tbl`; a table inside a cell is written on the cell's line."""
    return under_spans(
        lay_out(
            [_table_cell(cell) for cell in row.iter(qn("w:tc")) if _parent(cell, "w:tr") is row]
            for row in _own_rows(table)
        )
    )


def _table_cell(cell: Element) -> TableCell:
    span = cell.find(f"{qn('w:tcPr')}/{qn('w:gridSpan')}")
    across = span.get(qn("w:val"), "1") if span is not None else "1"
    merge = cell.find(f"{qn('w:tcPr')}/{qn('w:vMerge')}")
    # Without a value, a cell goes on with the one above it (ECMA-376 part 1, 17.4.84).
    goes_on = merge is not None and merge.get(qn("w:val"), "continue") == "continue"
    return TableCell(_cell(cell), max(1, int(across)) if across.isdecimal() else 1, 0 if goes_on else 1)


def _own_rows(table: Element) -> Iterator[Element]:
    # Not only its children: rows stand in content controls, too, and a table in a cell has rows of its own.
    for row in table.iter(qn("w:tr")):
        if _parent(row, "w:tbl") is table:
            yield row


def _parent(element: Element, tag: str) -> Element | None:
    return next(element.iterancestors(qn(tag)), None)


def _cell(cell: Element) -> str:
    return squeeze(" ".join(paragraph_text(paragraph) for paragraph in cell.iter(qn("w:p"))))


def _footnotes(roots: Sequence[Element]) -> Iterator[str]:
    for root in roots:
        notes = (" ".join(paragraph_text(p) for p in note.iter(qn("w:p"))) for note in root)
        yield from (squeeze(note) for note in notes if note.strip())
