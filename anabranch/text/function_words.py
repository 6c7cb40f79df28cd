"""Small words that change the meaning of a sentence, by language, with the names of the Snowball stemmers."""

from __future__ import annotations

import tomllib
import unicodedata
from pathlib import Path


def fold_word(word: str) -> str:
    """Return a word in lower case, without accents and with a plain apostrophe."""
    if word.isascii():
        return word.lower()
    plain = "".join(char for char in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(char))
    return plain.replace("’", "'")


def _words(text: str) -> frozenset[str]:
    return frozenset(map(fold_word, text.split()))


_DATA = tomllib.loads(Path(__file__).with_name("function_words.toml").read_text("utf-8"))

NEGATIONS: dict[str, frozenset[str]] = {language: _words(entry["negations"]) for language, entry in _DATA.items()}
"""Negations, folded and without apostrophes."""

INTERROGATIVES: dict[str, frozenset[str]] = {
    language: _words(entry["interrogatives"]) for language, entry in _DATA.items()
}
"""Words of questions that yes or no cannot answer, such as "who", folded."""

LIGHT: dict[str, frozenset[str]] = {language: _words(entry["light"]) for language, entry in _DATA.items()}
"""Words that may be in any question, such as "get" and "made", folded: an answer need not have them."""

YES = frozenset({"x", "✓", "✔", "✅"}).union(*(_words(entry["answers"].split("|")[0]) for entry in _DATA.values()))
"""Words and signs for yes in a table's cell, in any language, folded."""

NO = frozenset({"-", "–", "—", "✗", "✘", "❌"}).union(
    *(_words(entry["answers"].split("|")[1]) for entry in _DATA.values())
)
"""Words and signs for no in a table's cell, in any language, folded."""
