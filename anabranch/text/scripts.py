"""Recognises the scripts of a text by the Unicode names of its letters."""

from __future__ import annotations

import unicodedata
from collections import Counter

# Vowel signs and accents, which `\w` leaves out: it would split Hindi words.
MARKS = "".join(char for char in map(chr, range(0x300, 0x1E00)) if unicodedata.category(char) in {"Mn", "Mc"})
HAN = "Han"
# A name begins with the script, as in CYRILLIC SMALL LETTER A, except these.
_NAMED = {"CJK": HAN, "IDEOGRAPHIC": HAN, "MODIFIER": "", "FEMININE": "Latin", "MASCULINE": "Latin", "MICRO": "Greek"}


def script_of(letter: str) -> str:
    """Return the script of a letter, such as "Latin" or "Cyrillic"; empty for other characters."""
    if not letter.isalpha():
        return ""
    first = unicodedata.name(unicodedata.normalize("NFKC", letter)[0], "").split(" ")[0].split("-")[0]
    return _NAMED.get(first, first.capitalize())


def letters_by_script(text: str) -> Counter[str]:
    """Count the letters of a text by script."""
    if text.isascii():
        return Counter({"Latin": sum(map(str.isalpha, text))})
    return Counter(script for letter in text if (script := script_of(letter)))


def main_script(text: str) -> str:
    """Return the script of most letters of a text; empty without letters."""
    if text.isascii():  # fast, because this is called for the whole vocabulary of a model
        return "Latin" if any(map(str.isalpha, text)) else ""
    found = letters_by_script(text).most_common(1)
    return found[0][0] if found and found[0][1] else ""
