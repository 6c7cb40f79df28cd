"""Walk through the text of an OpenDocument file: paragraphs, lists and tables in order, headings by their level."""

from __future__ import annotations

from collections.abc import Iterator

from anabranch.readers.document import Block, HeadingPath, titles, with_heading
from anabranch.readers.document_parts import LeftOut, squeezed_lines
from anabranch.readers.inert_xml import Element, local_name
from anabranch.readers.merged_cells import TableCell, lay_out, under_spans
from anabranch.readers.table_blocks import table_parts
from anabranch.text.normalization import clean, squeeze
from anabranch_readers.zip_container import Archive, attribute

_SKIPPED = frozenset({"tracked-changes", "forms", "sequence-decls", "variable-decls", "user-field-decls", "notes"})
# Ruby text says how to pronounce what it stands above, and the citation of a note is its number.
_UNPRINTED = frozenset({"hidden-text", "ruby-text", "note-citation", "script"})
# White space collapses as in HTML; a blank that shall stay is an element (OpenDocument 1.3, part 3, 6.1.2).
_BREAKS = {"s": " ", "tab": " ", "line-break": "\n"}
_SHAPES = frozenset({"frame", "text-box", "custom-shape", "g", "rect", "ellipse", "polygon", "a"})
_MOST_REPEATS = 100  # a cell of a text may claim to stand in any number of columns
COMMENTS = "comments were not read ({})"


class OdfBody:
    """One walk.

    Attributes:
        path: The headings that are open.
        page: The slide, where there are slides.
        left_out: Counts what nobody would see, remarks and embedded objects.
    """

    def __init__(self, styles: HiddenStyles, left_out: LeftOut) -> None:
        """Take the styles that hide."""
        self.path: HeadingPath = ()
        self.page: int | None = None
        self.left_out = left_out
        self._styles = styles
        self._footnotes: list[str] = []
        self._beside: list[Element] = []

    def blocks(self, parent: Element) -> Iterator[Block]:
        """Yield what stands below an element; text boxes after their paragraph."""
        for element in parent:
            name = local_name(element)
            if self._is_hidden(element):
                self._hide(element)
            elif name in {"p", "h"}:
                yield from self._paragraph(element)
            elif name == "list":
                yield from self._list(element)
            elif name == "table":
                for text in table_parts(self.rows(element)):
                    yield from self._block(text)
                yield from self._boxes()
            elif name in {"object", "object-ole"}:
                self.left_out["embedded objects were not read ({})"] += 1
            elif name == "annotation":
                self.left_out[COMMENTS] += 1
            elif name not in _SKIPPED:
                yield from self.blocks(element)

    def footnotes(self) -> Iterator[Block]:
        """Yield the notes of the text so far."""
        for note in self._footnotes:
            yield from self._block(note)
        self._footnotes = []

    def text(self, element: Element) -> str:
        """Return the words of a paragraph."""
        return squeezed_lines("".join(self._pieces(element)))

    def rows(self, table: Element) -> list[list[str]]:
        """Return the cells of a table in a text; what spans rows stands in each, and a name over columns in theirs."""
        # A table in a cell has rows of its own, which are read with that cell.
        rows = (row for row in table.iter("{*}table-row") if _owner(row, "table") is table)
        return under_spans(lay_out(map(self._cells, rows)))

    def _cells(self, row: Element) -> Iterator[TableCell]:
        # A cell that another one covers is left out: it takes its place from that one, and shows nothing.
        for cell in row.iterchildren("{*}table-cell"):
            text = squeeze(" ".join(self.text(each) for each in cell.iter("{*}p", "{*}h") if self._is_own(each, cell)))
            made = TableCell(text, repeats(cell, "number-columns-spanned"), repeats(cell, "number-rows-spanned"))
            yield from [made] * min(repeats(cell, "number-columns-repeated"), _MOST_REPEATS)

    def _is_own(self, paragraph: Element, cell: Element) -> bool:
        """Tell whether a paragraph is the cell's own text, and not that of a remark or a text box in it."""
        between = paragraph.iterancestors()
        inside = [local_name(each) for each in iter(lambda: next(between, cell), cell)]
        # These are read at their own place, or left out and counted.
        return not {"annotation", "note", "frame", "custom-shape"} & set(inside)

    def _paragraph(self, element: Element) -> Iterator[Block]:
        text = self.text(element)
        if local_name(element) == "h" and text:
            level = attribute(element, "outline-level", "1")
            text = squeeze(text)
            self.path = with_heading(self.path, int(level) if level.isdecimal() else 1, text)
            yield Block(text, self.page, titles(self.path), is_heading=True)
        else:
            yield from self._block(text)
        yield from self._boxes()

    def _list(self, element: Element) -> Iterator[Block]:
        headings = list(element.iter("{*}h"))
        if headings:  # a list that only numbers headings
            for item in element:
                yield from self.blocks(item)
            return
        yield from self._block("\n".join(self._items(element, 0)))
        yield from self._boxes()

    def _items(self, element: Element, depth: int) -> Iterator[str]:
        for item in element:
            marker = "- "
            for child in item:
                if local_name(child) == "list":
                    yield from self._items(child, depth + 1)
                elif local_name(child) == "p":
                    text = squeeze(self.text(child))
                    if text:
                        yield "  " * depth + marker + text
                        marker = "  "

    def _block(self, text: str) -> Iterator[Block]:
        if text:
            yield Block(text, self.page, titles(self.path))

    def _boxes(self) -> Iterator[Block]:
        beside, self._beside = self._beside, []
        for box in beside:
            yield from self.blocks(box)

    def _pieces(self, element: Element) -> Iterator[str]:
        yield clean(element.text or "")
        for child in element:
            name = local_name(child)
            if name in _BREAKS:
                yield _BREAKS[name]
            elif self._is_hidden(child):
                self._hide(child)
            elif name == "annotation":
                self.left_out[COMMENTS] += 1
            elif name == "note":
                self._footnotes.append(squeeze(" ".join(self.text(each) for each in child.iter("{*}p"))))
            # The words of a link are in the sentence; what is drawn stands beside it.
            elif name in _SHAPES and name != "a":
                self._beside.append(child)
            elif name not in _UNPRINTED:
                yield from self._pieces(child)
            # What stands behind a child is the paragraph's own, also where the child is left out.
            yield clean(child.tail or "")

    def _is_hidden(self, element: Element) -> bool:
        family = {"span": "text", "p": "paragraph", "h": "paragraph", "table": "table"}.get(local_name(element), "")
        if family and (family, attribute(element, "style-name")) in self._styles:
            return True
        if attribute(element, "display") == "none":
            return True
        marks = element.iterfind("{*}hidden-paragraph") if family == "paragraph" else ()
        return any(attribute(mark, "is-hidden") == "true" for mark in marks)

    def _hide(self, element: Element) -> None:
        self.left_out["hidden text was left out ({} characters)"] += len(squeeze("".join(element.itertext())))


def repeats(element: Element, name: str) -> int:
    """Return how often a row or a cell stands there."""
    value = attribute(element, name, "1")
    return int(value) if value.isdecimal() else 1


def _owner(element: Element, tag: str) -> Element:
    return next(element.iterancestors(f"{{*}}{tag}"), None)


_HIDING = (
    ("text-properties", "display", "none"),
    ("table-properties", "display", "false"),
    ("drawing-page-properties", "visibility", "hidden"),
)

# Family and name of each style that hides.
HiddenStyles = frozenset[tuple[str, str]]


def hidden_styles(archive: Archive, content: Element) -> HiddenStyles:
    """Return the styles that hide text, sheets or slides, in the content and in the file's list of styles."""
    roots = [content, *([archive.xml("styles.xml")] if "styles.xml" in archive.names else [])]
    return frozenset(
        (attribute(style, "family"), attribute(style, "name"))
        for root in roots
        for style in root.iter("{*}style")
        if any(_hides(style))
    )


def _hides(style: Element) -> Iterator[bool]:
    for kind, name, value in _HIDING:
        said = style.find(f"{{*}}{kind}")
        yield said is not None and attribute(said, name) == value
