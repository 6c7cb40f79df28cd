"""Counts and locates tokens with a `tokenizer.json`, and cuts texts to what a model takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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


class EncodedText(Protocol):
    """What a model gets of a text; tokenizers' `Encoding` is one."""

    @property
    def ids(self) -> list[int]:
        """Numbers of the tokens."""
        ...

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for each token that the model was trained to find around a text, 0 for those of the text."""
        ...

    def __len__(self) -> int: ...


class Pieces(Tokens, Protocol):
    """What an embedder asks of its tokenizer."""

    @property
    def file(self) -> Path | None:
        """Its tokenizer.json; None where it has none."""
        ...

    def encode(self, texts: Sequence[str]) -> Sequence[EncodedText]:
        """Return what the model gets for each text: special tokens added, cut, not padded."""
        ...

    def reads(self, script: str) -> bool:
        """Tell whether the vocabulary has words of a script, and not only its letters."""
        ...


def count_scripts(vocabulary: Iterable[str]) -> Counter[str]:
    """Count the pieces of each script, such of a single letter left out; a Han character is a word."""
    letters = (piece if piece.isalpha() else "".join(filter(str.isalpha, piece)) for piece in vocabulary)
    scripts = [(main_script(text), len(text)) for text in letters if text]
    return Counter(script for script, length in scripts if length > 1 or script == HAN)


def has_words_of(script: str, counts: Mapping[str, int]) -> bool:
    """Tell by `count_scripts` whether a vocabulary has words of a script, or only its letters, as most have of each.

    all-MiniLM-L6-v2 has 27,533 pieces of several Latin letters, 8 of Cyrillic ones and 488 Han characters; a model
    for many languages has thousands of each.
    """
    return counts.get(script, 0) >= (_HAN_CHARACTERS if script == HAN else _WORDS)


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
        self._whole = _load(file)
        self._room = max(0, limit - self._whole.num_special_tokens_to_add(is_pair=False))

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Return what the model gets for each text: special tokens added, cut, not padded."""
        # A tokenizer cuts only if it is told to for all texts, and a second one would take as long to load again.
        encodings = self._whole.encode_batch_fast([encodable(text) for text in texts], add_special_tokens=False)
        for encoding in encodings:
            encoding.truncate(self._room)
        return [self._whole.post_process(encoding) for encoding in encodings]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text, without special tokens, uncut."""
        encodings = self._whole.encode_batch_fast([encodable(text) for text in texts], add_special_tokens=False)
        return [len(encoding) for encoding in encodings]

    def reads(self, script: str) -> bool:
        """Tell whether the vocabulary has words of a script; see `has_words_of`."""
        return has_words_of(script, self._scripts)

    @cached_property
    def _scripts(self) -> Counter[str]:
        return count_scripts(self._whole.get_vocab())

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span [start, end) of each token of `text`, in order."""
        offsets: Any = self._whole.encode(encodable(text), add_special_tokens=False).offsets
        return list(offsets)


def encodable(text: str) -> str:
    """Replace lone surrogates, which have no UTF-8 form, one for one so that offsets stay true."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
