"""Bold and italic type: whether a line is set in it, and how many of its first letters are, where the rest is not."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch_readers.page_contents import PdfSpan

BOLD, ITALIC = 1 << 4, 1 << 1
_MOST = 2 / 3  # of the letters; a bold word does not make a bold line


def is_mostly(spans: Sequence[PdfSpan], flag: int) -> bool:
    """Tell whether two thirds of the letters of a line or more are bold, or italic."""
    letters = sum(len(span["text"]) for span in spans)
    return sum(len(span["text"]) for span in spans if span["flags"] & flag) >= _MOST * letters


def leading_words(spans: Sequence[PdfSpan]) -> str:
    """Return what a line begins with in bold or italics, all of one kind; empty where its first letters are neither."""
    inked = [at for at, span in enumerate(spans) if span["text"].strip()]
    style = spans[inked[0]]["flags"] & (BOLD | ITALIC) if inked else 0
    if not style:
        return ""
    end = 0
    for at in inked:
        if spans[at]["flags"] & (BOLD | ITALIC) == style:
            end = at + 1
        elif any(map(str.isalpha, spans[at]["text"])):  # the mark of a note, or a number, may be set in any type
            break
    return "".join(span["text"] for span in spans[:end])
