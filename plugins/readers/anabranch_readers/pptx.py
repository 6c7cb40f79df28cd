"""Read a PowerPoint presentation: slide by slide, the slide's number as the page and its title as the heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.document_parts import LeftOut, one_document
from anabranch.readers.inert_xml import Element, local_name
from anabranch.readers.table_blocks import table_parts, table_texts
from anabranch.text.normalization import squeeze
from anabranch_readers.ooxml.chart import chart_rows, chart_title
from anabranch_readers.ooxml.drawing_text import DrawingText, diagram_text
from anabranch_readers.ooxml.package import main_part, parts, properties, related, relations
from anabranch_readers.protected_office import open_with_password
from anabranch_readers.zip_container import Archive, ZipFormat, open_archive

_KIND = ZipFormat("PowerPoint presentation", "PowerPoint's old .ppt format", ".pptx in PowerPoint")
_TITLES = frozenset({"title", "ctrTitle"})
_RUNNING = frozenset({"dt", "ftr", "hdr", "sldNum"})
# A placeholder that names no type is one for any content (ECMA-376, ST_PlaceholderType: `obj` is the default).
_BODY = frozenset({"", "body", "obj"})
_MOST_LISTED = 20
_NO_TITLE = re.compile("powerpoint", re.IGNORECASE)

# Width and height of a slide.
Size = tuple[int, int]


def read_pptx(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a presentation; speaker's notes follow their slide, and are said to be such.

    Running footers are left out; so are hidden slides, hidden shapes and shapes beside the slide, which are counted.

    Raises:
        ReadingError: `encrypted`, `unsupported` (the old .ppt format), `broken`, `too_large`, `empty`.
    """
    with open_with_password(path, source, options.passwords) as plain, open_archive(plain, source, _KIND) as archive:
        deck = _Deck(archive, main_part(archive, "presentation", source))
        blocks = tuple(deck.blocks())
        title, author = properties(archive)
    facts = {"format": "pptx", "pages": deck.slides, "author": author}
    # PowerPoint calls a new file so itself.
    title = "" if _NO_TITLE.match(title) else title
    yield one_document(source, path, blocks, facts, title, deck.notes(), hint="Its slides may be pictures.")


class _Deck:
    """The slides of one presentation; counts what is left out."""

    def __init__(self, archive: Archive, main: str) -> None:
        self.slides = 0
        self._archive = archive
        self._main = main
        self._drawing = DrawingText()
        self._left_out = LeftOut()
        self._bare: list[int] = []

    def blocks(self) -> Iterator[Block]:
        root, named = self._archive.xml(self._main), relations(self._archive, self._main)
        size = _size(root)
        for element in root.iterfind("{*}sldIdLst/{*}sldId"):
            self.slides += 1
            part = related(self._archive, named, element, "slide")
            if part:
                yield from self._slide(part, size)

    def notes(self) -> Iterator[str]:
        yield from self._left_out.notes()
        if self._drawing.hidden:
            yield f"hidden text was left out ({self._drawing.hidden} characters)"
        if self._bare:
            listed = ", ".join(map(str, self._bare[:_MOST_LISTED]))
            yield f"slides without text: {listed}{', ...' if len(self._bare) > _MOST_LISTED else ''}"

    def _slide(self, part: str, size: Size) -> Iterator[Block]:
        root = self._archive.xml(part)
        if root.get("show") in {"0", "false"}:
            self._left_out["hidden slides were left out ({})"] += 1
            return
        # In the order of the file, which is the one in which a screen reader reads them out.
        shapes = [shape for tree in root.iterfind("{*}cSld/{*}spTree") for shape in self._visible_shapes(tree, size)]
        title = squeeze(" ".join(self._text(shape) for shape in shapes if _role(shape) in _TITLES))
        heading = (title,) if title else ()
        if title:
            yield Block(title, self.slides, heading, is_heading=True)
        others = (shape for shape in shapes if _role(shape) not in _TITLES | _RUNNING)
        texts = [text for shape in others for text in self._texts(shape, part)]
        if not title and not texts:
            self._bare.append(self.slides)
        said = [f"Speaker notes: {text}" for text in self._spoken(part)]
        yield from (Block(text, self.slides, heading) for text in [*texts, *said])
        self._count(part)

    def _visible_shapes(self, tree: Element, size: Size | None) -> Iterator[Element]:
        """Yield the shapes that have words, those in groups too, in the order in which they are read out."""
        for element in tree:
            name = local_name(element)
            # The same shape twice, for newer and for older programs.
            if name == "AlternateContent":
                choice = element.find("{*}Choice")
                yield from self._visible_shapes(choice if choice is not None else element.find("{*}Fallback"), size)
            elif name in {"sp", "grpSp", "graphicFrame"}:
                if _is_hidden(element) or (size and _is_outside(element, size)):
                    self._drawing.hide(element)
                # In a group, places count from the group's own corner, so none can be told to lie beside the slide.
                elif name == "grpSp":
                    yield from self._visible_shapes(element, None)
                else:
                    yield element

    def _texts(self, shape: Element, part: str) -> Iterator[str]:
        if local_name(shape) == "sp":
            text = self._text(shape)
            if text:
                yield text
            return
        table = shape.find("{*}graphic/{*}graphicData/{*}tbl")
        if table is not None:
            yield from table_parts(self._drawing.rows(table))
            return
        yield from self._graphic(shape, part)

    def _text(self, shape: Element) -> str:
        body = shape.find("{*}txBody")
        return self._drawing.text(body, is_list=_role(shape) in _BODY) if body is not None else ""

    def _graphic(self, frame: Element, part: str) -> Iterator[str]:
        named = relations(self._archive, part)
        for element in frame.iterfind("{*}graphic/{*}graphicData/{*}chart"):
            chart = related(self._archive, named, element, "chart")
            if chart:
                root = self._archive.xml(chart)
                yield from filter(None, [chart_title(root)])
                yield from table_texts(chart_rows(root))
        for element in frame.iterfind("{*}graphic/{*}graphicData/{*}relIds"):
            data = related(self._archive, named, element, "diagramData", "dm")
            text = diagram_text(self._archive.xml(data)) if data else ""
            if text:
                yield text

    def _spoken(self, part: str) -> Iterator[str]:
        for notes in parts(self._archive, part, "notesSlide"):
            for shape in self._archive.xml(notes).iterfind("{*}cSld/{*}spTree/{*}sp"):
                bodies = shape.iterfind("{*}txBody") if _role(shape) == "body" else ()
                yield from filter(None, map(self._drawing.text, bodies))

    def _count(self, part: str) -> None:
        self._left_out["embedded files were not read ({})"] += len(parts(self._archive, part, "oleObject", "package"))
        for comments in parts(self._archive, part, "comments"):
            self._left_out["comments were not read ({})"] += sum(1 for _ in self._archive.xml(comments).iter("{*}cm"))


def _size(root: Element) -> Size:
    size = root.find("{*}sldSz")
    return (_number(size, "cx"), _number(size, "cy")) if size is not None else (0, 0)


def _role(shape: Element) -> str:
    """Return the type of placeholder a shape is, `` for one without a type, `free` for none."""
    placeholder = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
    return placeholder.get("type", "") if placeholder is not None else "free"


def _is_hidden(element: Element) -> bool:
    own = next(element.iter("{*}cNvPr"), None)
    return own is not None and own.get("hidden") in {"1", "true"}


def _is_outside(element: Element, size: Size) -> bool:
    """Tell whether a shape that says where it is lies wholly beside the slide."""
    place = next((child for child in (element.find("{*}xfrm"), element.find("*/{*}xfrm")) if child is not None), None)
    offset, extent = (place.find(f"{{*}}{name}") if place is not None else None for name in ("off", "ext"))
    if offset is None or extent is None or not all(size):
        return False
    left, top = _number(offset, "x"), _number(offset, "y")
    right, bottom = left + _number(extent, "cx"), top + _number(extent, "cy")
    return right < 0 or bottom < 0 or left > size[0] or top > size[1]


def _number(element: Element, name: str) -> int:
    value = element.get(name, "0")
    return int(value) if value.removeprefix("-").isdecimal() else 0
