"""Read the words of a drawing: the text frames, tables and SmartArt on slides, the text boxes on sheets."""

from __future__ import annotations

from collections.abc import Iterator

from anabranch.readers.document_parts import squeezed_lines
from anabranch.readers.inert_xml import Element, local_name
from anabranch.readers.merged_cells import TableCell, lay_out, under_spans
from anabranch.text.normalization import clean, squeeze

# Hundredths of a point; nobody reads type of this size.
_TINIEST = 200
_BULLETS = ("buChar", "buAutoNum", "buBlip")
_NODES = frozenset({None, "node", "asst"})


class DrawingText:
    """The words of one drawing; remembers how many letters nobody would see."""

    def __init__(self) -> None:
        """Start with nothing hidden."""
        self.hidden = 0

    def text(self, body: Element, *, is_list: bool = False) -> str:
        """Return a text frame, one paragraph a line, those with a bullet or a number as list items.

        Args:
            body: A `txBody`.
            is_list: Whether paragraphs have bullets unless they say otherwise, as those of a slide's body have.
        """
        found = [(paragraph, squeezed_lines("".join(self._pieces(paragraph)))) for paragraph in body.iterfind("{*}p")]
        filled = [(paragraph, text) for paragraph, text in found if text]
        # One paragraph alone is no list, whatever bullet its layout would give it.
        is_list = is_list and len(filled) > 1
        return "\n".join(_marker(paragraph, is_list=is_list) + text for paragraph, text in filled)

    def rows(self, table: Element) -> list[list[str]]:
        """Return the cells of a table; what spans rows stands in each, and a name over columns in theirs."""
        return under_spans(lay_out(map(self._cells, table.iterfind("{*}tr"))))

    def _cells(self, row: Element) -> Iterator[TableCell]:
        for cell in row.iterfind("{*}tc"):
            # A cell that another one covers to the right is there, too (ECMA-376 part 1, 21.1.3.18).
            if cell.get("hMerge") not in {"1", "true"}:
                body, across = cell.find("{*}txBody"), cell.get("gridSpan", "1")
                goes_on = cell.get("vMerge") in {"1", "true"}
                text = squeeze(self.text(body)) if body is not None and not goes_on else ""
                yield TableCell(text, max(1, int(across)) if across.isdecimal() else 1, 0 if goes_on else 1)

    def hide(self, element: Element) -> None:
        """Count the letters of something that is not shown."""
        self.hidden += sum(len(squeeze(text.text or "")) for text in element.iter("{*}t"))

    def _pieces(self, element: Element) -> Iterator[str]:
        for child in element:
            name = local_name(child)
            if name == "t":
                yield clean(child.text or "")
            elif name == "br":
                yield "\n"
            elif name == "r" and _is_tiny(child):
                self.hide(child)
            elif name not in {"pPr", "rPr", "Fallback"}:
                yield from self._pieces(child)


def shape_texts(root: Element) -> Iterator[str]:
    """Yield the text of each text box in the drawing of a sheet."""
    for body in root.iter("{*}txBody"):
        text = DrawingText().text(body)
        if text and not any(local_name(ancestor) == "Fallback" for ancestor in body.iterancestors()):
            yield text


def diagram_text(root: Element) -> str:
    """Return the words of a SmartArt diagram's data, one node a line."""
    nodes = (point for point in root.iter("{*}pt") if point.get("type") in _NODES)
    texts = (DrawingText().text(body) for node in nodes for body in node.iterfind("{*}t"))
    return "\n".join(f"- {squeeze(text)}" for text in texts if text)


def _marker(paragraph: Element, *, is_list: bool) -> str:
    said = paragraph.find("{*}pPr")
    level = said.get("lvl", "0") if said is not None else "0"
    indent = "  " * min(int(level), 8) if level.isdecimal() else ""
    if said is not None and said.find("{*}buNone") is not None:
        return indent if is_list else ""
    has_bullet = said is not None and any(said.find(f"{{*}}{name}") is not None for name in _BULLETS)
    return f"{indent}- " if is_list or has_bullet else ""


def _is_tiny(run: Element) -> bool:
    said = run.find("{*}rPr")
    size = said.get("sz", "") if said is not None else ""
    return size.isdecimal() and int(size) <= _TINIEST
