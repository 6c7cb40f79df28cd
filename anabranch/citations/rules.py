"""All rules that may speak against a span with the words of a claim, by name in `RULES`.

They are frozen. They were fitted to labelled claims, and cannot know what words mean; `python -m evals.claims --rules`
prints the effect of each on other claims, and a rule without effect is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from anabranch.citations.agreement import (
    ReadClaim,
    Title,
    count_denials,
    has_opposite_word,
    has_replaced_word,
    is_denied_before,
    shortest_run,
)
from anabranch.citations.counted_numbers import (
    counts_by_another_period,
    counts_something_else,
    has_another_sign,
    lies_between,
    measures_something_else,
    swaps_range,
)
from anabranch.citations.language_tables import tables_of
from anabranch.citations.parallel_sentences import is_of_another
from anabranch.citations.passage_text import PassageText, Piece
from anabranch.citations.rivals import find_list_owner, has_nearer_rival
from anabranch.citations.table_cells import has_wrong_column
from anabranch.citations.tokens import Token, is_fixed

SHORT = 3
"""Most words of a short answer, which needs a sentence about its question."""


@dataclass(frozen=True)
class SpanComparison:
    """A claim and a span to compare it with.

    Attributes:
        text: The claim as it is written.
        claim: The words of the claim.
        question: The question that it answers.
        asked: The words of the question.
        titles: Denials of the question that are part of a title.
        passage: The passage of the span.
        piece: The span.
        rarity: The rarity of each stem in the passages.
        is_known: Tells whether any passage has a word.
        is_refuted_in_part: Tells whether something speaks against each span that has a part of the claim.
        is_whole: Whether all of the span is compared with the claim, instead of the run with its words.
    """

    text: str
    claim: ReadClaim
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
        """The language of the passage."""
        return self.passage.language

    @cached_property
    def run(self) -> Sequence[Token]:
        """The words of the span that are compared with the claim."""
        return self.piece.tokens if self.is_whole else shortest_run(self.claim, self.piece, self.language)

    @property
    def is_short(self) -> bool:
        """Whether the claim is so short that its question is needed to understand it."""
        return len(self.claim.added) <= SHORT


Rule = Callable[[SpanComparison], bool]
"""Tells whether something speaks against a span."""


def _lacks_question_figures(it: SpanComparison) -> bool:
    """Tell whether all passages lack a number or a code of the question; for a table's row, whether the row lacks it.

    A month of the question may also lie in a range that the claim names.
    """
    codes = [token for token in it.asked if token.kind in ("month", "code") and is_fixed(token)]
    codes = [token for token in codes if not lies_between(token, it.claim.tokens)]
    asked = [*codes, *(token for token in it.asked if token.figure and not token.figure.may_be_a_word)]
    if not it.piece.rows:
        return not all(map(it.is_known, asked))
    return not all(it.piece.has(each) or it.passage.about.has(each) for each in asked)


def _has_another_column(it: SpanComparison) -> bool:
    # A short answer names no column; its question does.
    asked = it.question if it.is_short else ""
    stated = tuple(token.figure for token in it.claim.tokens if token.figure and token.kind == "figure")
    return has_wrong_column(it.text, stated, it.piece.rows, it.passage.rows, asked)


def _denies_differently(it: SpanComparison) -> bool:
    ours, asked = count_denials(it.claim.tokens, it.titles), count_denials(it.asked, it.titles)
    # In a pair of sentences, one may deny what the other says: then all their denials count.
    theirs = count_denials(it.piece.tokens if it.piece.first else it.run, it.titles)
    theirs += it.piece.count_denials((*it.claim.tokens, *it.asked) if it.is_short else it.claim.tokens)
    if not (ours or asked or theirs or it.piece.first):
        return is_denied_before(it.piece, it.run, it.language)
    # An answer need not repeat the question's denial: "Why did it not open?" - "The key was lost."
    return ours != theirs and (ours > 0 or theirs != asked)


def _counts_differently(it: SpanComparison) -> bool:
    return counts_something_else(it.claim, it.piece) and find_list_owner(it.claim, it.piece, it.asked) != "own"


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "figures of the question": _lacks_question_figures,
        "denials": _denies_differently,
        "another word in its place": lambda it: has_replaced_word(it.claim, it.piece),
        "opposites": lambda it: has_opposite_word(it.claim.tokens, it.run, it.language),
        "counts something else": _counts_differently,
        "measures something else": lambda it: measures_something_else(it.claim, it.piece, tables_of(it.language).units),
        "another sign": lambda it: has_another_sign(it.claim, it.piece),
        "another period": lambda it: counts_by_another_period(it.claim, it.piece, it.language),
        "range turned round": lambda it: swaps_range(it.claim, it.piece, it.language),
        "another column": _has_another_column,
        "another item of a list": lambda it: find_list_owner(it.claim, it.piece, it.asked) == "other",
        "a parallel sentence": lambda it: is_of_another(it.claim, it.asked, it.passage, it.piece),
        "a nearer rival": lambda it: has_nearer_rival(it.claim, it.piece, it.asked, it.rarity, it.passage.about),
        "refuted in part": lambda it: it.is_refuted_in_part(),
    }
)
"""The rules by name, in the order in which they are applied. No rule is added: the rest is not confirmed."""

_RIVALS = ("another item of a list", "a parallel sentence", "a nearer rival")

OF_SPANS = tuple(name for name in RULES if name != "refuted in part")
"""Rules for a sentence, two in a row or a row of a table."""

OF_CLAIMS = (*OF_SPANS, "refuted in part")
"""Rules for the span that has most of a claim."""

OF_PARTS = tuple(name for name in OF_SPANS if name not in _RIVALS)
"""Rules for the span of a part of a claim, whose rivals may be about something else."""

OF_WORDS = ("denials",)
"""Rules for a sentence that contains a claim word for word."""

OF_ANSWERS = ("another column", "another sign", "figures of the question")
"""Rules for each sentence that contains a short answer."""

OF_BEST_ANSWERS = _RIVALS
"""Further rules for the best of these sentences."""

OF_QUOTES = ("another word in its place",)
"""Rules for a quote that a model gives for a claim."""
