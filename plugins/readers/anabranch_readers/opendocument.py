"""Read OpenDocument files: texts, spreadsheets and presentations (OASIS OpenDocument 1.3, ISO/IEC 26300)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from anabranch.readers.document import PLAIN, Block, Document, ReadOptions, declared_title
from anabranch.readers.document_parts import LeftOut, in_parts, under_name
from anabranch.readers.inert_xml import Element, local_name
from anabranch.readers.merged_cells import MergedCells, cells_in_order
from anabranch.readers.office_password import password_error
from anabranch.readers.table_blocks import table_texts
from anabranch.text.normalization import squeeze
from anabranch_readers.odf_body import COMMENTS, HiddenStyles, OdfBody, hidden_styles, repeats
from anabranch_readers.zip_container import COPY_HINT, Archive, ZipFormat, attribute, open_archive

_KIND = ZipFormat("OpenDocument file")
# Placeholders of a slide that say the same on each of them.
_RUNNING = frozenset({"footer", "header", "date-time", "page-number"})
_MOST_COLUMNS = 16_384  # of LibreOffice and Excel alike
_MOST_REPEATED = 100  # a file may say that a row stands there a million times
_MOST_SPREAD = 100_000  # characters that one repeated cell may become
_HIDDEN = "hidden cells were left out ({})"
_VALUES = ("value", "boolean-value", "string-value", "time-value")


def read_odf(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the document of an .odt, .ods or .odp file; a long spreadsheet comes in parts.

    Sheets are headings; a slide's number is its page. What is hidden is left out and counted.

    Raises:
        ReadingError: `encrypted`, `broken`, `too_large`, `empty`.
    """
    with open_archive(path, source, _KIND) as archive:
        _refuse_protected(archive, source)
        content = archive.xml("content.xml")
        text = _OdfText(content, hidden_styles(archive, content))
        title, author = _title_and_author(archive)
        yield from in_parts(text.blocks(), _whole(path, source, content, title, author), text.left_out.notes)


class _OdfText:
    """What a file shows, of whichever kind it is; counts what is left out."""

    def __init__(self, content: Element, styles: HiddenStyles) -> None:
        self._content = content
        self._styles = styles
        self.left_out = LeftOut()
        self._body = OdfBody(styles, self.left_out)

    def blocks(self) -> Iterator[Block]:
        for kind in self._content.iterfind("{*}body/*"):
            name = local_name(kind)
            if name == "spreadsheet":
                yield from self._sheets(kind)
            elif name == "presentation":
                yield from self._slides(kind)
            else:
                yield from self._body.blocks(kind)
                yield from self._body.footnotes()

    def _sheets(self, parent: Element) -> Iterator[Block]:
        for table in parent.iterchildren("{*}table"):
            if ("table", attribute(table, "style-name")) in self._styles:
                self.left_out["hidden sheets were left out ({})"] += 1
            else:
                yield from self._sheet(table)

    def _sheet(self, table: Element) -> Iterator[Block]:
        name = squeeze(attribute(table, "name"))
        self._body.path = ((1, name),) if name else ()
        yield from under_name(name, table_texts(_OdfRows(self._body).read(table)))
        for shapes in table.iterchildren("{*}shapes"):
            yield from self._body.blocks(shapes)

    def _slides(self, parent: Element) -> Iterator[Block]:
        for number, page in enumerate(parent.iterchildren("{*}page"), start=1):
            if ("drawing-page", attribute(page, "style-name")) in self._styles:
                self.left_out["hidden slides were left out ({})"] += 1
                continue
            yield from self._slide(page, number)

    def _slide(self, page: Element, number: int) -> Iterator[Block]:
        shapes = [shape for shape in page if attribute(shape, "class") not in _RUNNING and local_name(shape) != "notes"]
        heads = [shape for shape in shapes if attribute(shape, "class") == "title"]
        title = squeeze(" ".join(self._body.text(each) for head in heads for each in head.iter("{*}p")))
        self._body.page, self._body.path = number, ((1, title),) if title else ()
        heading = (title,) if title else ()
        if title:
            yield Block(title, number, heading, is_heading=True)
        for shape in shapes:
            if shape not in heads:
                yield from self._body.blocks([shape])
        for frame in page.iterfind("{*}notes/{*}frame"):
            texts = (block.text for block in self._body.blocks(frame)) if attribute(frame, "class") == "notes" else ()
            yield from (Block(f"Speaker notes: {text}", number, heading) for text in texts)


def _whole(path: Path, source: str, content: Element, title: str, author: str) -> Document:
    kinds = {"spreadsheet": "ods", "presentation": "odp"}
    kind = next((kinds.get(local_name(each), "odt") for each in content.iterfind("{*}body/*")), "odt")
    headings = (squeeze("".join(each.itertext())) for each in content.iter("{*}h"))
    first = next((heading for heading in headings if heading), "") if kind == "odt" else ""
    metadata = {"format": kind} | ({"author": author} if author else {})
    return Document(source, title or first or path.stem, (), metadata, key=source)


def _title_and_author(archive: Archive) -> tuple[str, str]:
    """Return the title and the author that the file declares."""
    if "meta.xml" not in archive.names:
        return "", ""
    said = {local_name(element): squeeze(element.text or "") for element in archive.xml("meta.xml").iter()}
    return declared_title(said.get("title")), said.get("initial-creator", "") or said.get("creator", "")


def _refuse_protected(archive: Archive, source: str) -> None:
    """Refuse a file that a password protects: its parts are encrypted, and its manifest says how."""
    if "META-INF/manifest.xml" in archive.names:
        entries = archive.xml("META-INF/manifest.xml").iterfind("{*}file-entry")
        if any(entry.find("{*}encryption-data") is not None for entry in entries):
            raise password_error(source, hint=COPY_HINT)


class _OdfRows:
    """The rows of one sheet."""

    def __init__(self, body: OdfBody) -> None:
        """Take what reads the words of the cells."""
        self._body = body
        self._down = MergedCells()

    def read(self, table: Element) -> Iterator[list[str]]:
        """Yield the rows with anything in them, and one empty row for each gap between them."""
        hidden = _hidden_columns(table)
        number = 0
        for element in table.iter("{*}table-row"):
            times = repeats(element, "number-rows-repeated")
            row = self._row(element, number + 1, hidden)
            if attribute(element, "visibility") == "collapse" and local_name(element.getparent()) != "table-row-group":
                self._body.left_out[_HIDDEN] += len(row)
            else:
                shown = min(times, _MOST_REPEATED) if row else 1
                self._body.left_out["rows like a hundred before them were left out ({})"] += times - shown if row else 0
                yield from [cells_in_order(self._down.fill_spans(row, number + 1))] * shown
            number += times

    def _row(self, element: Element, number: int, hidden: frozenset[int]) -> dict[int, str]:
        row: dict[int, str] = {}
        column = 1
        for cell in element.iterchildren("{*}table-cell", "{*}covered-table-cell"):
            times = repeats(cell, "number-columns-repeated")
            text = self._text(cell)
            if text:
                self._span(cell, column, number, text)
                # A cell may claim to stand in every column; what it says is said well enough then.
                last = min(column + times, _MOST_COLUMNS + 1) if times * len(text) <= _MOST_SPREAD else column + 1
                self._body.left_out[_HIDDEN] += len(hidden.intersection(range(column, last)))
                row |= {at: text for at in range(column, last) if at not in hidden}
            column += times
            if column > _MOST_COLUMNS:
                break
        return row

    def _span(self, cell: Element, column: int, number: int, text: str) -> None:
        down = repeats(cell, "number-rows-spanned")
        if down > 1:
            self._down.begin(column, number + down - 1, text)

    def _text(self, cell: Element) -> str:
        """Return what a cell shows; a date as the file keeps it, since what is shown may be read in two ways."""
        self._body.left_out[COMMENTS] += sum(1 for _ in cell.iterchildren("{*}annotation"))
        date = attribute(cell, "date-value").removesuffix("T00:00:00")
        if date:
            return date.replace("T", " ")
        shown = "\n".join(filter(None, (self._body.text(each) for each in cell.iterchildren("{*}p"))))
        value = next(filter(None, (attribute(cell, name) for name in _VALUES)), "")
        formula = attribute(cell, "formula")
        return shown or value or (f"={formula.partition(':=')[2] or formula}" if formula else "")


def _hidden_columns(table: Element) -> frozenset[int]:
    """Return the columns that are hidden; those of an outline that is folded up are not."""
    hidden: set[int] = set()
    column = 1
    for element in table.iter("{*}table-column"):
        last = min(column + repeats(element, "number-columns-repeated"), _MOST_COLUMNS + 1)
        if attribute(element, "visibility") == "collapse" and local_name(element.getparent()) != "table-column-group":
            hidden.update(range(column, last))
        column = last
    return frozenset(hidden)
