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
    following: Element | None = None
    # From the last to the first, so that each word is moved once, however many ends are gone.
    for each in reversed(list(parent)):
        if each.tag in _BLOCKS:
            following = None
        elif each.tag == qn("w:p"):
            is_open = any(each.find(f"{qn('w:pPr')}/{qn('w:rPr')}/{name}") is not None for name in _GONE)
            if is_open and following is not None:
                start = int(len(following) > 0 and following[0].tag == qn("w:pPr"))
                following[start:start] = [child for child in each if child.tag != qn("w:pPr")]
            if is_open and (following is not None or each.find(f".//{qn('w:r')}") is None):
                parent.remove(each)
            else:
                following = each


def _take_out(element: Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
