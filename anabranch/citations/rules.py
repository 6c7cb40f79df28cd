"""What may speak against a span that has the words of a claim: all rules of words, each by a name in `RULES`.

They are frozen. They were fitted to labelled claims, and cannot know what words mean; `python -m evals.claims --rules`
prints what each moves on claims that nobody chose rules by, and one that moves nothing is taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from anabranch.citations.agreement import ReadClaim, Title, denials, is_denied_before, opposed, replaces, shortest_run
from anabranch.citations.counted_numbers import (
    counts_else,
    lies_between,
    measures_else,
    per_another_period,
    signed_else,
    turns_round,
)
from anabranch.citations.language_tables import tables_of
from anabranch.citations.parallel_sentences import is_of_another
from anabranch.citations.passage_text import PassageText, Piece
from anabranch.citations.rivals import listed_as, outdone
from anabranch.citations.table_cells import wrong_column
from anabranch.citations.tokens import Token, is_fixed

SHORT = 3
"""Words by which an answer is so short that it proves nothing where the question is not spoken of."""


@dataclass(frozen=True)
class SpanComparison:
    """A claim beside a span.

    Attributes:
        claim: As it is written.
        said: The same, read.
        question: That it answers.
        asked: The same, read.
        titles: Denials of the question that are part of a title.
        passage: That the span is of.
        piece: The span.
        rarity: Of each stem of the passages.
        is_known: Tells whether any passage has a word.
        is_refuted_in_part: Tells whether something speaks against each span that has a part of the claim.
        is_whole: Whether all of the span is compared with the claim, and not what has its words alone.
    """

    claim: str
    said: ReadClaim
    question: str
    asked: tuple[Token, ...]
    titles: frozenset[Title]
    passage: PassageText
    piece: Piece
    rarity: Mapping[str, float]
    is_known: Callable[[Token], bool]
    is_refuted_in_part: Callable[[], bool]
    is_whole: bool = False

    @property
    def language(self) -> str:
        """Of the passage."""
        return self.passage.language

    @cached_property
    def run(self) -> Sequence[Token]:
        """What of the span is compared with the claim."""
        return self.piece.tokens if self.is_whole else shortest_run(self.said, self.piece, self.language)

    @property
    def is_short(self) -> bool:
        """Whether the claim leaves to its question what it is about."""
        return len(self.said.added) <= SHORT


Rule = Callable[[SpanComparison], bool]
"""Tells whether something speaks against a span."""


def _figures_of_question(it: SpanComparison) -> bool:
    """Tell whether a number or a code of the question is in no passage, or of a table's row not in that row.

    A month of it may as well lie between two that the claim names.
    """
    codes = [token for token in it.asked if token.kind in ("month", "code") and is_fixed(token)]
    codes = [token for token in codes if not lies_between(token, it.said.tokens)]
    asked = [*codes, *(token for token in it.asked if token.figure and not token.figure.may_be_a_word)]
    if not it.piece.rows:
        return not all(map(it.is_known, asked))
    return not all(it.piece.has(each) or it.passage.about.has(each) for each in asked)


def _column(it: SpanComparison) -> bool:
    # A short answer names no column; its question does.
    asked = it.question if it.is_short else ""
    stated = tuple(token.figure for token in it.said.tokens if token.figure and token.kind == "figure")
    return wrong_column(it.claim, stated, it.piece.rows, it.passage.rows, asked)


def _denials(it: SpanComparison) -> bool:
    ours, asked = denials(it.said.tokens, it.titles), denials(it.asked, it.titles)
    # Of two sentences, one may deny what the other says: then all their denials count.
    theirs = denials(it.piece.tokens if it.piece.first else it.run, it.titles)
    theirs += it.piece.denials_for((*it.said.tokens, *it.asked) if it.is_short else it.said.tokens)
    if not (ours or asked or theirs or it.piece.first):
        return is_denied_before(it.piece, it.run, it.language)
    # What the question denies need not be denied again: "Why did it not open?" - "The key was lost."
    return ours != theirs and (ours > 0 or theirs != asked)


def _counted(it: SpanComparison) -> bool:
    return counts_else(it.said, it.piece) and listed_as(it.said, it.piece, it.asked) != "own"


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "figures of the question": _figures_of_question,
        "denials": _denials,
        "another word in its place": lambda it: replaces(it.said, it.piece),
        "opposites": lambda it: opposed(it.said.tokens, it.run, it.language),
        "counts something else": _counted,
        "measures something else": lambda it: measures_else(it.said, it.piece, tables_of(it.language).units),
        "another sign": lambda it: signed_else(it.said, it.piece),
        "another period": lambda it: per_another_period(it.said, it.piece, it.language),
        "range turned round": lambda it: turns_round(it.said, it.piece, it.language),
        "another column": _column,
        "another item of a list": lambda it: listed_as(it.said, it.piece, it.asked) == "other",
        "a parallel sentence": lambda it: is_of_another(it.said, it.asked, it.passage, it.piece),
        "a nearer rival": lambda it: outdone(it.said, it.piece, it.asked, it.rarity, it.passage.about),
        "refuted in part": lambda it: it.is_refuted_in_part(),
    }
)
"""By name, in the order in which they are asked. No rule is added: what words cannot tell is not confirmed."""

_RIVALS = ("another item of a list", "a parallel sentence", "a nearer rival")

OF_SPANS = tuple(name for name in RULES if name != "refuted in part")
"""Against a sentence, two in a row or a row of a table."""

OF_CLAIMS = (*OF_SPANS, "refuted in part")
"""Against the span that has most of a claim."""

OF_PARTS = tuple(name for name in OF_SPANS if name not in _RIVALS)
"""Against the span of a part of a claim; what is nearer to the question may be about something else."""

OF_WORDS = ("denials",)
"""Against the sentence that a claim's words stand in as they are."""

OF_ANSWERS = ("another column", "another sign", "figures of the question")
"""Against each sentence that a short answer stands in."""

OF_BEST_ANSWERS = _RIVALS
"""Against the best of these."""

OF_QUOTES = ("another word in its place",)
"""Against words that somebody says support a claim."""
