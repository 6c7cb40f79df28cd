"""What leaves are measured in: tokens of the bundled WordPiece vocabulary, whatever embeds them.

Were they tokens of the embedder, another one would cut other leaves, and BM25 would rank them differently. That
vocabulary has the words of Latin script and the characters of Chinese, but of other scripts only letters, or not even
those. For an embedder that reads many languages, four letters of these count as one token (two, where letters are
syllables), about what its own tokens hold: cut by single letters, a leaf would be two lines. A corpus from before this
was so keeps the tokens of its embedder.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache

from anabranch.errors import SettingsError
from anabranch.models.embedder import Embedder, is_multilingual
from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER, CountsInMiniLM, Tokens
from anabranch.text.scripts import HAN, script_of

LEAF_UNIT = "leaf_unit"
"""The fact that a corpus keeps (`CorpusWriter.keep_meta`): one of those below, or nothing for its embedder's tokens."""

WORDPIECE, WORDPIECE_AND_LETTERS = "wordpiece", "wordpiece+letters"

_LETTERS, _SYLLABLES = 4, 2
_SYLLABIC = {"Hangul", "Hiragana", "Katakana"}
_PIECES_ARE_WORDS = {"", "Latin", HAN}


def choose_unit(known: str | None, embedder: Embedder, *, is_empty: bool) -> str:
    """Return the unit for further leaves of a corpus.

    Args:
        known: The fact that the corpus keeps.
        embedder: Its embedder.
        is_empty: Whether it has no leaves yet.
    """
    return known or (unit_for(embedder) if is_empty or _counts_in_wordpieces(embedder) else "")


def unit_for(embedder: Embedder) -> str:
    """Return the unit of new corpora."""
    return WORDPIECE_AND_LETTERS if is_multilingual(embedder) else WORDPIECE


def leaf_counter(unit: str, embedder: Tokens) -> Tokens:
    """Return what counts the tokens of leaves.

    Raises:
        SettingsError: A later version of Anabranch chose the unit.
    """
    if not unit or (unit == WORDPIECE and _counts_in_wordpieces(embedder)):
        return embedder
    if unit in (WORDPIECE, WORDPIECE_AND_LETTERS):
        return unit_counter(unit)
    msg = f"The corpus measures its leaves in {unit!r}, which this version does not know."
    raise SettingsError(msg, hint="Use the version of Anabranch that the corpus was made with, or a newer one.")


def _counts_in_wordpieces(embedder: Tokens) -> bool:
    return getattr(embedder, "tokenizer", None) == MINILM_TOKENIZER


@cache
def unit_counter(unit: str) -> Tokens:
    """Return what counts in a unit that is no embedder's."""
    return CountsInMiniLM() if unit == WORDPIECE else CountsLetters()


class CountsLetters:
    """Counts WordPieces, and letters where those are all that WordPieces have."""

    def __init__(self) -> None:
        """Load the vocabulary."""
        self._pieces = CountsInMiniLM()

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the length of each text."""
        found = [_find_letters(text) for text in texts]
        rest = [_blank(text, spans) for text, spans in zip(texts, found, strict=True)]
        return [count + len(spans) for count, spans in zip(self._pieces.count(rest), found, strict=True)]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of `text`, in order."""
        spans = _find_letters(text)
        return sorted([*spans, *self._pieces.offsets(_blank(text, spans))])


def _find_letters(text: str) -> list[tuple[int, int]]:
    """Return the spans of letters that count as one token each."""
    if text.isascii():
        return []
    sizes = {letter: size for letter in set(text) if (size := _per_token(letter))}
    spans = []
    for size in set(sizes.values()):
        letters = "".join(sorted(letter for letter in sizes if sizes[letter] == size))
        spans += [found.span() for found in _pattern(letters, size).finditer(text)]
    return sorted(spans)


def _blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return a text of the same length with blanks in the place of these spans."""
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*parts, text[at:]])


@lru_cache(maxsize=1_024)
def _pattern(letters: str, size: int) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(letters)}]{{1,{size}}}")


@lru_cache(maxsize=1 << 16)
def _per_token(char: str) -> int:
    """Return how many letters like this one count as a token; 0 where WordPieces count."""
    if unicodedata.category(char) in ("Mn", "Mc"):  # the vowels of Hindi and Thai
        script = unicodedata.name(char, "").partition(" ")[0].capitalize()
        return 0 if script in ("", "Combining", "Variation") else _LETTERS
    script = script_of(char)
    return 0 if script in _PIECES_ARE_WORDS else _SYLLABLES if script in _SYLLABIC else _LETTERS
