"""Chooses stop words and stemmer for a word, by the language of the corpus or by the word's script.

A word in another script is of another language, so an English corpus stems Russian and Arabic words as Russian and
Arabic, and an Arabic corpus stems English words as English.
"""

from __future__ import annotations

import re
import threading
from typing import Any

import Stemmer

from anabranch.errors import SettingsError
from anabranch.text.stopwords import STOP_WORDS

UNSTEMMED = "none"
"""The language without stop words and stemmer: words are only folded."""

_LATIN = "latin"
# The most common language of each script, among those that have a stemmer.
_USUAL = {
    _LATIN: "english",
    "cyrillic": "russian",
    "arabic": "arabic",
    "greek": "greek",
    "armenian": "armenian",
    "devanagari": "hindi",
    "tamil": "tamil",
}
_WRITTEN_IN = {language: (script,) for script, language in _USUAL.items()} | {
    "serbian": (_LATIN, "cyrillic"),
    "persian": ("arabic",),
    "nepali": ("devanagari",),
    "yiddish": ("hebrew",),
}
_SCRIPT = re.compile(
    "(?P<greek>[\u0370-\u03ff\u1f00-\u1fff])|(?P<cyrillic>[\u0400-\u052f])|(?P<armenian>[\u0530-\u058f])"
    "|(?P<hebrew>[\u0590-\u05ff])|(?P<arabic>[\u0600-\u06ff\u0750-\u077f])|(?P<devanagari>[\u0900-\u097f])|(?P<tamil>[\u0b80-\u0bff])"
)


def languages() -> list[str]:
    """Return every language that a corpus can have."""
    return [UNSTEMMED, *Stemmer.algorithms()]


def checked_language(language: str) -> str:
    """Return the language unchanged.

    Raises:
        SettingsError: There is no stemmer for it.
    """
    known = languages()
    if language not in known:
        msg = f"No stemmer for the language {language!r}."
        raise SettingsError(msg, hint=f"Use one of: {', '.join(known)}.")
    return language


class Stemming:
    """Reduces folded words to their stems; safe to share between threads."""

    def __init__(self, language: str) -> None:
        """Take a language of the Snowball stemmers, or `none`.

        Raises:
            SettingsError: There is no stemmer for that language.
        """
        self.language = checked_language(language)
        # With the version, because another release may produce other stems, and so another index.
        self.name = f"{language}:{'.'.join(Stemmer.version().split('.')[:2])}"
        own = dict.fromkeys(_WRITTEN_IN.get(language, (_LATIN,)), language)
        self._of_script = {} if language == UNSTEMMED else _USUAL | own
        self._stemmers: dict[str, Any] = {}
        # Stemmers are not thread-safe.
        self._lock = threading.Lock()

    @property
    def is_latin_english(self) -> bool:
        """Whether words in Latin letters count as English."""
        return self._of_script.get(_LATIN) == "english"

    def language_of(self, word: str) -> str:
        """Return the language whose stop words and stemmer a word gets."""
        found = None if word.isascii() else _SCRIPT.match(word)
        script = found.lastgroup if found is not None else None
        return self._of_script.get(script or _LATIN, UNSTEMMED)

    def is_stop_word(self, word: str) -> bool:
        """Tell whether a folded word is too common in its language to search by."""
        return word in STOP_WORDS.get(self.language_of(word), ())

    def stem(self, word: str) -> str:
        """Return the stem of a folded word."""
        language = self.language_of(word)
        if language == UNSTEMMED:
            return word
        with self._lock:
            if language not in self._stemmers:
                # `Analyser` keeps what it has stemmed.
                self._stemmers[language] = Stemmer.Stemmer(language, 0)
            return str(self._stemmers[language].stemWord(word))
