"""Tracked changes of a Word document, taken as if all of them were accepted (ECMA-376 part 1, 17.13.5)."""

from __future__ import annotations

from anabranch.readers.inert_xml import Element
from anabranch_readers.ooxml.word_package import qn

_GONE = (qn("w:del"), qn("w:moveFrom"))
_BLOCKS = frozenset({qn("w:tbl"), qn("w:sdt"), qn("w:customXml")})


def accept_changes(root: Element) -> None:
    """Take out of a tree what was deleted or moved away: words, rows and cells of tables, ends of paragraphs.

    A paragraph whose end is gone has lost its style and its number with it; what is left of it begins the next one.
    """
    changes = list(root.iter(*_GONE, qn("w:cellDel")))
    parents: dict[Element, None] = {}
    for change in changes:
        holder = change.getparent()
        if holder.tag in {qn("w:trPr"), qn("w:tcPr")}:
            _take_out(holder.getparent())
        elif holder.tag != qn("w:rPr"):
            _take_out(change)
        elif (paragraph := _paragraph_of(holder)) is not None:
            parents[paragraph.getparent()] = None
    for parent in parents:
        _join_paragraphs(parent)


def _paragraph_of(properties: Element) -> Element | None:
    """Return the paragraph of whose end these are the properties, None for those of a run."""
    above = properties.getparent()
    return above.getparent() if above is not None and above.tag == qn("w:pPr") else None


def _join_paragraphs(parent: Element) -> None:
    waiting: list[Element] = []
    for each in [*parent, None]:
        is_paragraph = each is not None and each.tag == qn("w:p")
        if is_paragraph and _has_no_end(each):
            waiting.append(each)
        elif waiting and (is_paragraph or each is None or each.tag in _BLOCKS):
            # Before a table, or at the end of a cell, there is no paragraph to go on in.
            _move(waiting, each if is_paragraph else waiting.pop())
            waiting = []


def _has_no_end(paragraph: Element) -> bool:
    return any(paragraph.find(f"{qn('w:pPr')}/{qn('w:rPr')}/{name}") is not None for name in _GONE)


def _move(paragraphs: list[Element], following: Element) -> None:
    """Move what is in paragraphs to the start of the one that follows them; one that then has nothing goes, too."""
    content = [child for each in paragraphs for child in each if child.tag != qn("w:pPr")]
    start = int(following.find(qn("w:pPr")) is not None)
    following[start:start] = content
    for each in paragraphs:
        _take_out(each)
    if _has_no_end(following) and next(following.iter(qn("w:r")), None) is None:
        _take_out(following)


def _take_out(element: Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
