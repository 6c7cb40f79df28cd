"""Make text safe and comparable: one normal form, and nothing in it that a reader of the page cannot see.

Invisible characters are a way to hide instructions in a document (Unicode tag characters, zero-width runs,
bidirectional overrides) and a way to lose matches (soft hyphens, byte-order marks in mid-text). Both go here, in one
place, so that documents, questions and quotations are compared in the same form.
"""

from __future__ import annotations

import re
import unicodedata

_NEWLINES = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")

_LIGATURES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
)

INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls except tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners and fillers without a glyph
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f"  # zero-width, bidirectional controls, invisible operators
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"  # fillers, variation selectors, byte-order mark, annotation marks
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"  # lone surrogates and noncharacters: not text, and UTF-8 refuses them
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # musical format controls, tag characters, more selectors
    "]"
)
"""Characters that a page or a terminal obeys, or does not show; tabs and newlines aside."""


def clean(text: str) -> str:
    """Return `text` in NFC with line feeds as line ends, Latin ligatures spelt out and invisible characters removed.

    Idempotent. Zero-width joiners go too: a joined emoji falls into its parts, a Persian word loses its half-space;
    what is compared (document, question, quotation) passes through here alike, so that they still match.
    """
    return clean_counted(text)[0]


def clean_counted(text: str) -> tuple[str, int]:
    """Return `clean(text)` and how many invisible characters were removed; line ends and ligatures do not count."""
    shown, removed = INVISIBLE.subn("", _spelt_out(text))
    return unicodedata.normalize("NFC", shown), removed


def visible(text: str) -> str:
    """Return what `clean` keeps of each character by itself, so that pieces of a text can be cleaned one by one.

    No piece may end between a carriage return and its line feed; the normal form, which goes over the borders of
    pieces, is left as it is.
    """
    return INVISIBLE.sub("", _spelt_out(text))


def _spelt_out(text: str) -> str:
    return _NEWLINES.sub("\n", text).translate(_LIGATURES)


def squeeze(text: str) -> str:
    """Return `clean(text)` on one line, with each run of white space turned into one space."""
    return " ".join(clean(text).split())


def storable(name: str) -> str:
    """Write the bytes of a file name that are no UTF-8 as escapes; SQLite takes only text."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
