"""Turns text into the terms that BM25 counts: words, numbers, identifiers and characters, folded and stemmed.

Documents and queries go through the same function, so whatever it folds, it folds on both sides.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

import snowballstemmer

from anabranch.corpus.stopwords import STOP_WORDS
from anabranch.errors import SettingsError

# Vowel signs and accents that are characters of their own: `\w` leaves them out and would cut Hindi words apart.
_MARKS = "".join(char for char in map(chr, range(0x300, 0x1E00)) if unicodedata.category(char) in {"Mn", "Mc"})

# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, kana, Han, Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003134f"
)

# A number with its separators, or a word with its hyphens, apostrophes, and the signs of C++ and C#.
_TOKEN = re.compile(rf"\d+(?:[.,]\d+)+|[\w{_MARKS}]+(?:['’\-][\w{_MARKS}]+)*(?:\+\+|#(?!\w))?")
_RUN = re.compile(rf"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_GROUPED_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)+")
_DIGIT = re.compile(r"\d")
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^A-Za-z]+")
_PLURAL_ACRONYM = re.compile("[A-Z]{2,}s")
_APOSTROPHE = re.compile("['’]")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_ACCENT = re.compile("[\u0300-\u036f]")

_LONGEST_TERM = 100
_LONGEST_COMPOUND = 40


class Analyser:
    """Text to terms for one language; results are kept per distinct word, so it is quick on real text."""

    def __init__(self, language: str = "english") -> None:
        """Take a language of the Snowball stemmers, or `none` for folding alone.

        Raises:
            SettingsError: There is no stemmer for that language.
        """
        known = ["none", *snowballstemmer.algorithms()]
        if language not in known:
            msg = f"No stemmer for the language {language!r}."
            raise SettingsError(msg, hint=f"Use one of: {', '.join(known)}.")
        self.language = language
        self._stop_words = STOP_WORDS.get(language, frozenset())
        self._stemmer = None if language == "none" else snowballstemmer.stemmer(language)
        self._stemming = threading.Lock()
        self._terms_of_token = lru_cache(maxsize=1 << 16)(lambda token: tuple(self._expanded(token)))

    @property
    def name(self) -> str:
        """What a manifest records: another name means that the index has to be built again."""
        return f"words-1:{self.language}"

    def terms(self, text: str) -> list[str]:
        """Return the terms of `text` in order, duplicates kept."""
        if not text.isascii():
            text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
        return list(chain.from_iterable(map(self._terms_of_token, _TOKEN.findall(text))))

    def _expanded(self, token: str) -> Iterator[str]:
        if _NUMBER.fullmatch(token):
            number = token.replace(",", "") if _GROUPED_NUMBER.fullmatch(token) else token
            yield number[:_LONGEST_TERM]
            return
        parts = token.split("-")
        # "10-K", "GPT-4" and "2024-05-31" are names; "well-known" is two words.
        if len(parts) > 1 and _DIGIT.search(token) and len(token) <= _LONGEST_COMPOUND:
            yield "".join(parts).casefold()
        for part in parts:
            yield from self._words(part)

    def _words(self, part: str) -> Iterator[str]:
        for run in [part] if part.isascii() else _RUN.findall(part):
            if not run.isascii() and re.match(f"[{_UNSPACED}]", run):
                yield from _bigrams(run)
            else:
                for word in self._without_apostrophes(run):
                    yield from self._identifier(word.strip("_"))

    def _without_apostrophes(self, word: str) -> list[str]:
        """Join English contractions ("dont") and drop its genitive; elsewhere an apostrophe parts two words."""
        parts = _APOSTROPHE.split(word)
        if self.language != "english":
            return parts
        return ["".join(parts[:-1] if len(parts) > 1 and parts[-1] in {"s", "S"} else parts)]

    def _identifier(self, word: str) -> Iterator[str]:
        """Keep a code identifier whole, and split it as well."""
        if _PLURAL_ACRONYM.fullmatch(word):
            word = word[:-1]
        yield from self._term(word)
        parts = [hump for part in word.split("_") for hump in (_CAMEL.findall(part) if _HUMP.search(part) else [part])]
        if len(parts) > 1:
            for part in parts:
                if len(part) > 1:
                    yield from self._term(part)

    def _term(self, word: str) -> Iterator[str]:
        folded = word.casefold()
        if not folded or folded in self._stop_words:
            return
        if self._stemmer is not None and not _DIGIT.search(folded) and len(folded) <= _LONGEST_TERM:
            # The pure-Python stemmers keep the word they work on inside themselves.
            with self._stemming:
                folded = self._stemmer.stemWord(folded)
        if plain := _without_accents(folded)[:_LONGEST_TERM]:
            yield plain


def _bigrams(run: str) -> list[str]:
    return [run[index : index + 2] for index in range(max(1, len(run) - 1))]


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", word)))


@lru_cache(maxsize=8)
def analyser(language: str = "english") -> Analyser:
    """Return the analyser of a language, made once."""
    return Analyser(language)
