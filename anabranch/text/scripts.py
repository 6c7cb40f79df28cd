"""The scripts that a text is written in, by the names of its letters in Unicode."""

from __future__ import annotations

import unicodedata
from collections import Counter

# Vowel signs and accents that are characters of their own: `\w` leaves them out and would cut Hindi words apart.
MARKS = "".join(char for char in map(chr, range(0x300, 0x1E00)) if unicodedata.category(char) in {"Mn", "Mc"})
HAN = "Han"
# A name begins with the script, as in CYRILLIC SMALL LETTER A; these begin with what is no script of its own.
_NAMED = {"CJK": HAN, "IDEOGRAPHIC": HAN, "MODIFIER": "", "FEMININE": "Latin", "MASCULINE": "Latin", "MICRO": "Greek"}


def script_of(letter: str) -> str:
    """Return the script of a letter, as in "Latin" or "Cyrillic"; empty for what is no letter of a script."""
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
    """Return the script that most letters of a text are of; empty where it has none."""
    if text.isascii():  # nothing to count: the whole vocabulary of a model is asked about before its first question
        return "Latin" if any(map(str.isalpha, text)) else ""
    found = letters_by_script(text).most_common(1)
    return found[0][0] if found and found[0][1] else ""
