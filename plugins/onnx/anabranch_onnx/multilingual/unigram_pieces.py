"""A tokenizer of a quarter of a million pieces that is ready at once.

Unigram (Kudo 2018, "Subword Regularization") takes the most likely way to write a word with pieces, so only those that
the word has inside can matter. For each batch of texts a small tokenizer is made of the pieces inside its words: it
gives the same tokens as one of all pieces, which takes half a second and 200 MB to build.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer
from tokenizers.models import Unigram
from tokenizers.normalizers import NFKC, Normalizer, Replace
from tokenizers.normalizers import Sequence as Normalizers
from tokenizers.pre_tokenizers import Metaspace, PreTokenizer, WhitespaceSplit
from tokenizers.pre_tokenizers import Sequence as PreTokenizers

from anabranch.models.wordpiece_tokenizer import encodable, has_words_of

# No text has them: they are removed from it.
_UNKNOWN, _LEAST = "\x00", "\x01"


@dataclass(frozen=True, slots=True)
class UnigramVocabulary:
    """The pieces of a tokenizer.

    Attributes:
        numbers: The number of each piece, the special ones left out: a text cannot spell these.
        scores: The logarithmic probability of each piece by its number.
        begin: Number of the token before a text.
        end: Number of the token after it.
        unknown: Number of what no piece writes.
        scripts: How many pieces there are of each script, as `count_scripts` counts them.
    """

    numbers: Mapping[str, int]
    scores: NDArray[np.float32]
    begin: int
    end: int
    unknown: int
    scripts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class EncodedPieces:
    """The tokens of a text; see `anabranch.models.wordpiece_tokenizer.EncodedText`."""

    ids: list[int]

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for the first and the last token."""
        return [1, *([0] * (len(self.ids) - 2)), 1]

    def __len__(self) -> int:
        """Return the number of tokens, special ones included."""
        return len(self.ids)


class UnigramPieces:
    """Counts and locates the tokens of texts, and cuts these to what a model takes; safe to share between threads."""

    file = None

    def __init__(self, vocabulary: UnigramVocabulary, *, limit: int) -> None:
        """Take the pieces, and the most tokens of a text, special ones included, that the model gets to see."""
        self._vocabulary = vocabulary
        self._limit = limit
        self._longest = max(map(len, vocabulary.numbers), default=1)
        # No piece is less likely than this, and what no piece writes is less likely by a fixed amount.
        self._least = float(vocabulary.scores.min())
        self._normalizer = _normalizer()
        self._splitter = _splitter()

    def encode(self, texts: Sequence[str]) -> list[EncodedPieces]:
        """Return what the model gets for each text: special tokens added, cut, not padded."""
        asked = [encodable(text) for text in texts]
        tokenizer, numbers = self._tokenizer_for(asked)
        first, last, room = [self._vocabulary.begin], [self._vocabulary.end], self._limit - 2
        encodings = tokenizer.encode_batch_fast(asked, add_special_tokens=False)
        return [EncodedPieces(first + [numbers[small] for small in one.ids[:room]] + last) for one in encodings]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text, without special tokens, uncut."""
        asked = [encodable(text) for text in texts]
        tokenizer, _ = self._tokenizer_for(asked)
        return [len(one) for one in tokenizer.encode_batch_fast(asked, add_special_tokens=False)]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span [start, end) of each token of `text`, in order."""
        asked = encodable(text)
        tokenizer, _ = self._tokenizer_for([asked])
        return list(tokenizer.encode(asked, add_special_tokens=False).offsets)

    def reads(self, script: str) -> bool:
        """Tell whether the vocabulary has words of a script."""
        return has_words_of(script, self._vocabulary.scripts)

    def _tokenizer_for(self, texts: Sequence[str]) -> tuple[Tokenizer, list[int]]:
        """Return a tokenizer for these texts, and the number of each of its pieces in the vocabulary."""
        split, normalised = self._splitter.pre_tokenize_str, self._normalizer.normalize_str
        words = {word for text in texts for word, _ in split(normalised(text))}
        inside = {piece: number for word in words for piece, number in self._inside(word)}
        # Sorted, so that the same texts make the same tokenizer.
        ordered = sorted(inside, key=inside.__getitem__)
        scores = self._vocabulary.scores
        pieces = [(_UNKNOWN, 0.0), (_LEAST, self._least), *((piece, float(scores[inside[piece]])) for piece in ordered)]
        tokenizer = Tokenizer(Unigram(pieces, unk_id=0, byte_fallback=False))
        tokenizer.normalizer = self._normalizer
        tokenizer.pre_tokenizer = self._splitter
        unknown = self._vocabulary.unknown
        return tokenizer, [unknown, unknown, *(inside[piece] for piece in ordered)]

    def _inside(self, word: str) -> Iterator[tuple[str, int]]:
        """Yield the pieces that a word has inside, with their numbers."""
        numbers = self._vocabulary.numbers
        for start in range(len(word)):
            for end in range(start + 1, min(start + self._longest, len(word)) + 1):
                if (number := numbers.get(word[start:end])) is not None:
                    yield word[start:end], number


def _normalizer() -> Normalizer:
    """Return what XLM-RoBERTa does to a text, whose table of characters is NFKC and these two exceptions."""
    return Normalizers(
        [
            Replace(Regex(r"[\x{0}-\x{8}\x{B}\x{E}-\x{1F}\x{7F}\x{8F}\x{9F}]"), ""),
            # The mark that stands for a blank in pieces may not come from a text.
            Replace(Regex(r"[\x{1680}\x{200B}-\x{200F}\x{2028}\x{2029}\x{2581}\x{FEFF}\x{FFFD}]"), " "),
            NFKC(),
        ]
    )


def _splitter() -> PreTokenizer:
    return PreTokenizers([WhitespaceSplit(), Metaspace(replacement="▁", prepend_scheme="always")])
