r"""Reads the letters of bitmap fonts that TeX has made (Type 3), which a PDF has as bare codes.

Such a font names no glyph, so that its codes come out as characters of the same number. Those of letters are right, but
ligatures, dashes and quotation marks have the numbers of control characters: `signi\x1ccant`, `2\x154`. Source of the
codes: F. Mittelbach and others, LaTeX font encodings (encguide), T1 (also called Cork) and OT1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

Codes = dict[int, str]
_T1: Codes = str.maketrans({
    "\x10": "“", "\x11": "”", "\x12": "„", "\x13": "«", "\x14": "»", "\x15": "–", "\x16": "—", "\x19": "ı",
    "\x1b": "ff", "\x1c": "fi", "\x1d": "fl", "\x1e": "ffi", "\x1f": "ffl", "\xd7": "Œ", "\xf7": "œ", "\xff": "ß",
})  # fmt: skip
_OT1: Codes = str.maketrans({
    "\x0b": "ff", "\x0c": "fi", "\r": "fl", "\x0e": "ffi", "\x0f": "ffl", "\x10": "ı", "\x19": "ß", "\x1a": "æ",
    "\x1b": "œ", "\x1c": "ø", "\x1d": "Æ", "\x1e": "Œ", "\x1f": "Ø",
})  # fmt: skip
_CODE = re.compile("[\x0b-\x1f]")
_PROSE = re.compile("[a-z]{3}")  # fonts of formulas have the codes of Greek letters and signs there
_OT1_FI = re.compile("[a-z]\x0c[a-z]|\x0c[a-z]{2}")


def has_codes(text: str) -> bool:
    """Tell whether a text may have codes in it."""
    return _CODE.search(text) is not None


def code_tables(page: Any, texts: Iterable[tuple[str, str]]) -> dict[str, Codes]:  # noqa: ANN401  # a `pymupdf.Page`
    """Return for `str.translate` the codes of the bitmap fonts in which a page's prose is set, by the font's name.

    Args:
        page: The page.
        texts: What stands on it, each with the name of its font.
    """
    bitmaps = {name or f"Type3 ({xref} 0 R)" for xref, _, kind, name, *_ in page.get_fonts() if kind == "Type3"}
    written: dict[str, list[str]] = {}
    for text, font in texts:
        if font in bitmaps:
            written.setdefault(font, []).append(text)
    joined = {font: "\n".join(said) for font, said in written.items()}
    # A bitmap font without codes may be of another program, whose × is no Œ.
    prose = {font: said for font, said in joined.items() if _PROSE.search(said) and has_codes(said)}
    return {font: _OT1 if _OT1_FI.search(said) else _T1 for font, said in prose.items()}
