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

NOT = {language: fold_word(entry["negations"].split()[0]) for language, entry in _DATA.items()}
"""The word that negates a whole sentence, folded."""

OPPOSITES: dict[str, tuple[tuple[frozenset[str], frozenset[str]], ...]] = {
    language: tuple((_words(line.split("|")[0]), _words(line.split("|")[1])) for line in entry["opposites"])
    for language, entry in _DATA.items()
}
"""Pairs of sets of opposite words, such as "before" and "after"."""

CONJUNCTIONS: dict[str, frozenset[str]] = {language: _words(entry["conjunctions"]) for language, entry in _DATA.items()}
"""Words that begin another clause, such as "and": a negation before one does not apply after it."""

PERIODS: dict[str, tuple[frozenset[str], ...]] = {
    language: tuple(map(_words, entry["periods"].split("|"))) for language, entry in _DATA.items()
}
"""Sets of words, each for one period of payments or counts, such as "month" and "monthly"."""

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

_SPELT = (*range(2, 21), *range(30, 101, 10))

_JOINED = ("{ten}-{unit}", "{ten}{unit}", "{unit}und{ten}", "{unit}en{ten}", "{unit}og{ten}")
"""Forms of 21 to 99 in languages that write them as one word: "twenty-five", "venticinque", "fünfundzwanzig"."""


def _numbers(entry: dict[str, str]) -> dict[str, int]:
    spelt = {
        fold_word(word): number for word, number in zip(entry["numbers"].split(), _SPELT, strict=True) if word != "-"
    }
    tens = {word: number for word, number in spelt.items() if number in range(20, 100, 10)}
    units = {word: number for word, number in spelt.items() if number < 10} | dict.fromkeys(_words(entry["one"]), 1)
    joined = {
        form.format(ten=ten, unit=unit): tens[ten] + units[unit] for form in _JOINED for ten in tens for unit in units
    }
    return {**joined, **spelt}


NUMBERS: dict[str, dict[str, int]] = {language: _numbers(entry) for language, entry in _DATA.items()}
"""Numbers from 2 to 100 that are one word; "one" by itself is an article in most languages."""
