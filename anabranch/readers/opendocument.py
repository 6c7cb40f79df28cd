"""Read OpenDocument files: texts, spreadsheets and presentations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from anabranch.readers.document import PLAIN, Block, Document, ReadOptions, declared_title
from anabranch.readers.document_parts import LeftOut, in_parts
from anabranch.readers.odf.odf_body import HiddenStyles, OdfBody, hidden_styles
from anabranch.readers.odf.odf_sheet import OdfRows
from anabranch.readers.table_blocks import table_texts
from anabranch.readers.zip_container import Archive, Element, ZipFormat, attribute, local, opened, protected
from anabranch.text.normalization import squeeze

_KIND = ZipFormat("OpenDocument file")
_RUNNING = frozenset({"footer", "header", "date-time", "page-number"})


def read_odf(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the document of an .odt, .ods or .odp file; a long spreadsheet comes in parts.

    Sheets are headings; a slide's number is its page. What is hidden is left out and counted.

    Raises:
        ReadingError: `encrypted`, `broken`, `too_large`, `empty`.
    """
    with opened(path, source, _KIND) as archive:
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
            name = local(kind)
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
        heading, rows = ((name,) if name else ()), OdfRows(self._body)
        is_first = True
        self._body.path = tuple((1, title) for title in heading)
        for text in table_texts(rows.read(table)):
            if is_first and name:
                yield Block(name, None, heading, is_heading=True)
            is_first = False
            yield Block(text, None, heading)
        for shapes in table.iterchildren("{*}shapes"):
            yield from self._body.blocks(shapes)

    def _slides(self, parent: Element) -> Iterator[Block]:
        for number, page in enumerate(parent.iterchildren("{*}page"), start=1):
            if ("drawing-page", attribute(page, "style-name")) in self._styles:
                self.left_out["hidden slides were left out ({})"] += 1
                continue
            yield from self._slide(page, number)

    def _slide(self, page: Element, number: int) -> Iterator[Block]:
        shapes = [shape for shape in page if attribute(shape, "class") not in _RUNNING and local(shape) != "notes"]
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
    kind = next((kinds.get(local(each), "odt") for each in content.iterfind("{*}body/*")), "odt")
    headings = (squeeze("".join(each.itertext())) for each in content.iter("{*}h"))
    first = next((heading for heading in headings if heading), "") if kind == "odt" else ""
    metadata = {"format": kind} | ({"author": author} if author else {})
    return Document(source, title or first or path.stem, (), metadata, key=source)


def _title_and_author(archive: Archive) -> tuple[str, str]:
    """Return the title and the author that the file declares."""
    if "meta.xml" not in archive.names:
        return "", ""
    said = {local(element): squeeze(element.text or "") for element in archive.xml("meta.xml").iter()}
    return declared_title(said.get("title")), said.get("initial-creator", "") or said.get("creator", "")


def _refuse_protected(archive: Archive, source: str) -> None:
    """Refuse a file that a password protects: its parts are encrypted, and its manifest says how."""
    if "META-INF/manifest.xml" in archive.names:
        entries = archive.xml("META-INF/manifest.xml").iterfind("{*}file-entry")
        if any(entry.find("{*}encryption-data") is not None for entry in entries):
            raise protected(source)
