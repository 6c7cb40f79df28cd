"""The smallest parts of leaves: sentences, lines of code, and parts of those too long for a leaf."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from anabranch.chunking.table_captions import is_table
from anabranch.models.wordpiece_tokenizer import Tokens
from anabranch.readers.document import Block
from anabranch.text.sentences import spans

SEPARATOR = "\n\n"
"""Between two blocks in a document's text."""

# An indent belongs to the line after it: code without its first indent cannot be read.
_LINE_END = re.compile(r"\n(?:[^\S\n]*\n)*")
# Not at a colon, which separates a name from its value.
_CLAUSE_END = re.compile(r"[,;)\]—–]\s+|[、，；]\s*")
_LONG_RUN = re.compile(r"\S{257,}")
_GAP = re.compile(r"\s+")

# Most characters per call of the tokenizer, and per endless sentence: it takes up to a hundred bytes for each, and a
# huge document must not double in memory.
_BATCH = 1 << 16
_LONGEST = 1 << 15


class SplitPiece(NamedTuple):
    """A stretch of the document's text that stays together.

    Attributes:
        start: First character.
        end: One past the last; the white space after the words belongs to it.
        tokens: Length in the embedder's tokens.
        block: Which block it is from.
        heading: Whether that block is a heading.
        alone: Whether it is part of an unbroken run, whose token count only holds by itself.
    """

    start: int
    end: int
    tokens: int
    block: int
    heading: bool
    alone: bool = False


def pieces(text: str, blocks: Sequence[Block], embedder: Tokens, limit: int) -> Iterator[SplitPiece]:
    """Yield pieces of at most `limit` tokens that tile `text`, the blocks joined by `SEPARATOR`."""
    uncounted: list[SplitPiece] = []
    length = 0
    for piece in (part for sentence in _sentences(text, blocks) for part in _stretches(text, sentence)):
        if length + piece.end - piece.start > _BATCH:
            yield from _count(text, uncounted, embedder, limit)
            uncounted, length = [], 0
        uncounted.append(piece)
        length += piece.end - piece.start
    yield from _count(text, uncounted, embedder, limit)


def cut(text: str, piece: SplitPiece, embedder: Tokens, limit: int) -> list[SplitPiece]:
    """Cut a piece into pieces of at most `limit` tokens.

    They end with lines, else with sentences, clauses, words, at a sign between letters, and else anywhere.
    """
    parts = [piece]
    # From the least harmful cut to the worst; a part that fits is not cut further.
    for boundaries in (
        _ends_by(_LINE_END),
        _sentence_ends,
        _ends_by(_CLAUSE_END),
        _token_starts(embedder, _parts_words),
        _token_starts(embedder, _parts_tokens),
    ):
        parts = [small for part in parts for small in _refine(text, part, embedder, limit, boundaries)]
    anywhere = _halves(embedder, limit)
    return [small for part in parts for small in _refine(text, part, embedder, limit, anywhere, alone=True)]


def _sentences(text: str, blocks: Sequence[Block]) -> Iterator[SplitPiece]:
    start = 0
    for number, block in enumerate(blocks):
        # Add up lengths instead of searching: a document may repeat a block.
        end = start + len(block.text)
        found = _units(block)
        for first, last in found[:-1]:
            yield SplitPiece(start + first, start + last, 0, number, block.is_heading)
        after = min(end + len(SEPARATOR), len(text))
        yield SplitPiece(start + found[-1][0], after, 0, number, block.is_heading)
        start = after


def _units(block: Block) -> list[tuple[int, int]]:
    # A table is only cut between rows: half a row says nothing.
    if block.is_heading or is_table(block.text):
        return [(0, len(block.text))]
    if block.is_preformatted:
        return list(pairwise([0, *_ends_by(_LINE_END)(block.text), len(block.text)]))
    return spans(block.text)


def _stretches(text: str, piece: SplitPiece) -> Iterator[SplitPiece]:
    """Yield a sentence in parts of about `_LONGEST` characters, cut at the best places."""
    start = piece.start
    while piece.end - start > _LONGEST:
        after = _begin(text, start, piece.end)
        yield piece._replace(start=start, end=after)
        start = after
    if start < piece.end:
        yield piece._replace(start=start)


def _begin(text: str, start: int, end: int) -> int:
    """Return where the next part begins: after a line end of this one, else a clause, else a word, else anywhere."""
    near = start + _LONGEST
    for pattern in (_LINE_END, _CLAUSE_END, _GAP):
        ends = _ends_of(pattern, text[start:near])
        if ends:
            return start + ends[-1]
    gap = _GAP.match(text, near, end)
    return gap.end() if gap else near


def _count(text: str, uncounted: Sequence[SplitPiece], embedder: Tokens, limit: int) -> Iterator[SplitPiece]:
    counts = embedder.count([text[piece.start : piece.end] for piece in uncounted])
    for piece, tokens in zip(uncounted, counts, strict=True):
        counted = piece._replace(tokens=tokens)
        if _fits(text, counted, limit):
            yield counted
        else:
            yield from cut(text, counted, embedder, limit)


def _fits(text: str, piece: SplitPiece, limit: int) -> bool:
    """Tell whether a piece may stay whole.

    A tokenizer may count a long unbroken run as one unknown word; such a run does not fit either.
    """
    if piece.tokens > limit:
        return False
    return piece.alone or piece.end - piece.start <= 256 or not _LONG_RUN.search(text, piece.start, piece.end)


_Boundaries = Callable[[str], list[int]]


def _refine(
    text: str, piece: SplitPiece, embedder: Tokens, limit: int, boundaries: _Boundaries, *, alone: bool = False
) -> list[SplitPiece]:
    if _fits(text, piece, limit):
        return [piece]
    inside = text[piece.start : piece.end]
    bounds = [0, *boundaries(inside), len(inside)]
    counts = embedder.count([inside[start:end] for start, end in pairwise(bounds)])
    return [
        piece._replace(start=piece.start + start, end=piece.start + end, tokens=tokens, alone=alone)
        for (start, end), tokens in zip(pairwise(bounds), counts, strict=True)
    ]


def _ends_by(pattern: re.Pattern[str]) -> _Boundaries:
    return partial(_ends_of, pattern)


def _ends_of(pattern: re.Pattern[str], text: str) -> list[int]:
    # Blanks at either end stay with the words there: no search could find a piece of blanks.
    first, last = len(text) - len(text.lstrip()), len(text.rstrip())
    return [match.end() for match in pattern.finditer(text, first, last) if match.end() < last]


def _sentence_ends(text: str) -> list[int]:
    return [end for _, end in spans(text)[:-1]]


def _token_starts(embedder: Tokens, parts: Callable[[str, str], bool]) -> _Boundaries:
    def starts(text: str) -> list[int]:
        # A cut between adjoining tokens may change the tokens of both halves, and with them the counts.
        offsets = embedder.offsets(text)
        return [
            start for (_, end), (start, _) in pairwise(offsets) if end < start or parts(text[start - 1], text[start])
        ]

    return starts


def _halves(embedder: Tokens, limit: int) -> _Boundaries:
    def anywhere(text: str) -> list[int]:
        step = 256
        # Halve until it fits, because the characters per token differ by script.
        while step > 1:
            bounds = [*range(0, len(text.rstrip()), step), len(text)]
            if max(embedder.count([text[start:end] for start, end in pairwise(bounds)])) <= limit:
                break
            step //= 2
        return list(range(step, len(text.rstrip()), step))

    return anywhere


def _parts_words(left: str, right: str) -> bool:
    """Tell whether a word ends between two characters without a separator, as in Chinese."""
    return any("\u3400" <= char <= "\u9fff" for char in (left, right))


def _parts_tokens(left: str, right: str) -> bool:
    """Tell whether a tokenizer starts afresh between these two characters, so that a cut changes no token."""
    return _parts_words(left, right) or _is_punctuation(left) or _is_punctuation(right)


def _is_punctuation(char: str) -> bool:
    return not char.isalnum() if char.isascii() else unicodedata.category(char).startswith("P")
