"""Turns text into the terms that BM25 counts: words, numbers, identifiers and characters, folded and stemmed.

Documents and queries go through the same function, so whatever it folds, it folds on both sides.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from anabranch.text.scripts import MARKS
from anabranch.text.stemmer import Stemming

_WORD = rf"[\w{MARKS}]+"

# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, kana, Han, Hangul.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003134f"
)

# The dashes of an option (--dry-run), the dot of a name (.NET, .env).
_HEAD = r"(?:(?<![\w\-])--(?=[A-Za-z])|(?<![\w.)\]])\.(?=[A-Za-z]))?"
# A dot before a capital ends a word: in scientific abstracts, a third of all distinct words would be two sentences'.
_JOINT = r"(?:['’\-]|\.(?!(?<=[a-z]\.)[A-Z]|[A-Z][a-z]))"
# A date, a number with its separators, or a word with its joints and the signs of C++ and C#.
_TOKEN = re.compile(rf"\d{{4}}-\d\d-\d\d(?!\d)|\d+(?:[.,]\d+)+|{_HEAD}{_WORD}(?:{_JOINT}{_WORD})*(?:\+\+|#(?!\w))?")
_RUN = re.compile(rf"[{UNSPACED}]+|[^{UNSPACED}]+")
_GROUPED_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)+")
_IN_DOTTED = re.compile(r"\d+(?:\.\d+)+|[^.]+")
_VERSION = re.compile(r"[vV]\d+(?:\.\d+)+")
_ABBREVIATION = re.compile(r"\w(?:\.\w)+")
_DIGIT = re.compile(r"\d")
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^A-Za-z]+")
_PLURAL_ACRONYM = re.compile("[A-Z]{2,}s")
_APOSTROPHE = re.compile("['’]")
# Zero-width characters, and the vowel points of Hebrew and Arabic, which are optional.
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u2060\ufeff\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]"
)
_ACCENT = re.compile("[\u0300-\u036f]")
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})

_LONGEST_TERM = 100  # characters; what is longer is a key or encoded data
_LONGEST_COMPOUND = 40
_LONGEST_STRETCH = 60  # characters without a space; longer ones are Chinese sentences or data, and seldom repeat


class Analyser:
    """Splits text into terms for one language; results are cached by word, which is fast on real text."""

    def __init__(self, language: str = "english") -> None:
        """Take a language of the Snowball stemmers, or `none` for folding alone.

        Raises:
            SettingsError: There is no stemmer for that language.
        """
        self.language = language
        self._stemming = Stemming(language)
        self._terms_of_token = lru_cache(maxsize=1 << 16)(lambda token: tuple(self._expand(token)))
        self._terms_of_stretch = lru_cache(maxsize=1 << 16)(lambda stretch: tuple(self._terms_by_token(stretch)))

    @property
    def name(self) -> str:
        """The name in manifests: with another name, the index must be rebuilt."""
        return f"words-2:{self._stemming.name}"

    def terms(self, text: str) -> list[str]:
        """Return the terms of `text` in order, duplicates kept."""
        if not text.isascii():
            text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
        # No token contains a space, so text between spaces ("word,") is looked up as a whole, in half the time.
        stretches = text.split()
        if len(max(stretches, key=len, default="")) > _LONGEST_STRETCH:
            return list(self._terms_by_token(text))
        return list(chain.from_iterable(map(self._terms_of_stretch, stretches)))

    def _terms_by_token(self, text: str) -> Iterator[str]:
        return chain.from_iterable(map(self._terms_of_token, _TOKEN.findall(text)))

    def _expand(self, token: str) -> Iterator[str]:
        if token.isascii() and token.isalpha() and (token.islower() or token.istitle()):
            yield from self._term(token)  # most words need no further checks
            return
        if not token.isascii():
            token = _DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), token)
        if _NUMBER.fullmatch(token):
            yield (token.replace(",", "") if _GROUPED_NUMBER.fullmatch(token) else token)[:_LONGEST_TERM]
            return
        bare = token.removeprefix("--").removeprefix(".")
        if bare != token and len(token) <= _LONGEST_COMPOUND:
            yield token.casefold()
        parts = bare.split("-")
        # "10-K", "GPT-4" and "2024-05-31" are names; "well-known" is two words.
        if len(parts) > 1 and _DIGIT.search(bare) and len(bare) <= _LONGEST_COMPOUND:
            yield "".join(parts).casefold()
        for part in parts:
            yield from self._split_dotted(part)

    def _split_dotted(self, part: str) -> Iterator[str]:
        """Keep a file name or an attribute's path (`a.b.c`) whole, and also split it; "U.S." is two letters."""
        if "." not in part:
            yield from self._words(part)
            return
        if _VERSION.fullmatch(part):
            part = part[1:]
        pieces = _IN_DOTTED.findall(part)
        if len(pieces) > 1 and len(part) <= _LONGEST_COMPOUND and part.isascii() and not _ABBREVIATION.fullmatch(part):
            yield part.casefold()
        for piece in pieces:
            if _NUMBER.fullmatch(piece):
                yield piece[:_LONGEST_TERM]
            else:
                yield from self._words(piece)

    def _words(self, part: str) -> Iterator[str]:
        for run in [part] if part.isascii() else _RUN.findall(part):
            if not run.isascii() and re.match(f"[{UNSPACED}]", run):
                yield from _bigrams(run)
            else:
                for word in self._without_apostrophes(run):
                    yield from self._identifier(word.strip("_"))

    def _without_apostrophes(self, word: str) -> list[str]:
        """Join English contractions ("dont") and drop the genitive; elsewhere an apostrophe separates two words."""
        parts = _APOSTROPHE.split(word)
        if not self._stemming.is_latin_english:
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
        if not folded or self._stemming.is_stop_word(folded):
            return
        if not _DIGIT.search(folded) and len(folded) <= _LONGEST_TERM:
            folded = self._stemming.stem(folded)
        if plain := _without_accents(folded)[:_LONGEST_TERM]:
            yield plain


def _bigrams(run: str) -> list[str]:
    return [run[index : index + 2] for index in range(max(1, len(run) - 1))]


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", word))).translate(_LETTERS)


@lru_cache(maxsize=8)
def analyser(language: str = "english") -> Analyser:
    """Return the analyser of a language, made once."""
    return Analyser(language)
