"""Makes text safe and comparable: in one normal form, without invisible characters.

Invisible characters can hide instructions in a document (Unicode tag characters, zero-width runs, bidirectional
overrides), and prevent matches (soft hyphens, byte-order marks). Documents, questions and quotes are all cleaned here.
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
"""Characters that control a page or a terminal, or are not shown, except tabs and newlines."""


def clean(text: str) -> str:
    """Return `text` in NFC with line feeds as line ends, Latin ligatures spelt out and invisible characters removed.

    Idempotent. Zero-width joiners are removed, too: a joined emoji falls apart, and a Persian word loses its
    half-space, in documents, questions and quotes alike.
    """
    return clean_counted(text)[0]


def clean_counted(text: str) -> tuple[str, int]:
    """Return `clean(text)` and how many invisible characters were removed; line ends and ligatures do not count."""
    shown, removed = INVISIBLE.subn("", _spelt_out(text))
    return unicodedata.normalize("NFC", shown), removed


def visible(text: str) -> str:
    """Return what `clean` keeps of each character by itself, so that pieces of a text can be cleaned one by one.

    No piece may end between a carriage return and its line feed. The text is not brought to its normal form, which
    could change across pieces.
    """
    return INVISIBLE.sub("", _spelt_out(text))


def _spelt_out(text: str) -> str:
    return _NEWLINES.sub("\n", text).translate(_LIGATURES)


def squeeze(text: str) -> str:
    """Return `clean(text)` on one line, with each run of white space turned into one space."""
    return " ".join(clean(text).split())


def storable(name: str) -> str:
    """Escape the bytes of a file name that are not UTF-8, because SQLite takes only text."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
