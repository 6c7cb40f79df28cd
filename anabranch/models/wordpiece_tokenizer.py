"""Counts and locates tokens with a `tokenizer.json`, and cuts texts to what a model takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from tokenizers import Encoding, Tokenizer

from anabranch.errors import SettingsError
from anabranch.text.scripts import HAN, main_script

# WordPiece vocabulary of all-MiniLM-L6-v2, 30,522 pieces, uncased (Apache-2.0).
MINILM_TOKENIZER = Path(__file__).parent / "minilm" / "tokenizer.json"


_WORDS = 200
# A reader of newspapers knows some 3,000.
_HAN_CHARACTERS = 2_000


class Tokens(Protocol):
    """What chunking asks of an embedder; whoever only cuts loads no model."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the length of each text in this embedder's tokens, without special tokens."""
        ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of `text`, in order."""
        ...


def _load(file: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the Rust side raises bare Exception for every kind of fault
        msg = f"The tokenizer {str(file)!r} cannot be read: {error}"
        raise SettingsError(msg, hint="Point to a folder with a tokenizer.json of the tokenizers library.") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


class CountsInMiniLM:
    """Counts tokens as MiniLM does, for an embedder whose own vocabulary is not at hand: that would be a download."""

    def __init__(self) -> None:
        """Load the tokenizer."""
        self._pieces = WordPieces()

    @property
    def tokenizer(self) -> Path:
        """What it counts tokens with, for whoever counts in another process."""
        return self._pieces.file

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return each text's length in MiniLM's tokens."""
        return self._pieces.count(texts)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each of MiniLM's tokens in `text`."""
        return self._pieces.offsets(text)


class WordPieces:
    """One tokenizer in two roles: whole texts for counting, cut texts for a model; safe to share between threads."""

    def __init__(self, file: Path = MINILM_TOKENIZER, *, limit: int = 256) -> None:
        """Load the file; `limit` is the most tokens, special ones included, that the model gets to see."""
        self.file = file
        self._limit = limit
        self._whole = _load(file)

    @cached_property
    def _cut(self) -> Tokenizer:
        # A tokenizer keeps its truncation inside, so each role needs a copy of its own; who only counts needs but one.
        cut = _load(self.file)
        cut.enable_truncation(max_length=self._limit)
        return cut

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Return what the model gets for each text: special tokens added, cut, not padded."""
        return self._cut.encode_batch_fast([encodable(text) for text in texts])

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text, without special tokens, uncut."""
        encodings = self._whole.encode_batch_fast([encodable(text) for text in texts], add_special_tokens=False)
        return [len(encoding) for encoding in encodings]

    def reads(self, script: str) -> bool:
        """Tell whether the vocabulary has words of a script, or only its letters, as most have of every script.

        all-MiniLM-L6-v2 has 27,533 pieces of several Latin letters, 8 of Cyrillic ones and 488 Han characters; a model
        for many languages has thousands of each.
        """
        return self._pieces_of[script] >= (_HAN_CHARACTERS if script == HAN else _WORDS)

    @cached_property
    def _pieces_of(self) -> Counter[str]:
        """How many pieces of each script there are, such of a single letter left out; a Han character is a word."""
        vocabulary = self._whole.get_vocab()
        letters = (piece if piece.isalpha() else "".join(filter(str.isalpha, piece)) for piece in vocabulary)
        scripts = [(main_script(text), len(text)) for text in letters if text]
        return Counter(script for script, length in scripts if length > 1 or script == HAN)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span [start, end) of each token of `text`, in order."""
        offsets: Any = self._whole.encode(encodable(text), add_special_tokens=False).offsets
        return list(offsets)


def encodable(text: str) -> str:
    """Replace lone surrogates, which have no UTF-8 form, one for one so that offsets stay true."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
