"""Finds the evidence for a claim: its words in a passage, or a sentence, a pair of sentences or a table row.

A claim is read as an answer to its question. Words that it repeats of the question are context, and may be near the
span; words that it adds must be in the span. That is lexical entailment by coverage (Glickman et al. 2005), without
meaning; `agreement`, `counted_numbers` and other modules here look for what speaks against a span.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import chain, islice, pairwise
from math import log1p

from anabranch.citations.agreement import ReadClaim, count_denials, find_denying_titles
from anabranch.citations.citation_record import LONGEST
from anabranch.citations.known_facts import MOST_NAMED, cut_nearest, describe_lack
from anabranch.citations.passage_text import PassageText, Piece, lookup_keys
from anabranch.citations.quantities import has
from anabranch.citations.question_places import LEAST_PLACE, QuestionPlaces
from anabranch.citations.quote_matching import find_quote, fold, locate
from anabranch.citations.rivals import is_anchored
from anabranch.citations.rules import (
    OF_ANSWERS,
    OF_BEST_ANSWERS,
    OF_CLAIMS,
    OF_PARTS,
    OF_QUOTES,
    OF_SPANS,
    OF_WORDS,
    RULES,
    SHORT,
    Rule,
    SpanComparison,
)
from anabranch.citations.table_cells import find_row
from anabranch.citations.time_limit import TimeLimit
from anabranch.citations.tokens import SIGNS, Token, find_names, is_fixed, quote_words, tokens
from anabranch.text.function_words import CONJUNCTIONS, NO, YES
from anabranch.text.language import language_of
from anabranch.types import Grade

# Share of a claim's added words that a span needs; a number or a name weighs more than a verb.
ENOUGH = 0.6
# Share of all words of a claim with which a span counts, whatever the question.
BY_ITSELF = 0.7
_TRIED = 5
# Most spans that a claim is compared with in full: those that share most words with it.
_COMPARED = 60
# Most sentences that may say a claim in other words.
_REPHRASED = 16
# Rarity is summed in whole numbers, because a sum of floats depends on the order of a set.
_RARITY = 1000

MAX_WORDS = 200
"""Most words of a claim that is compared with spans; a longer one is only looked up word for word.

The rules compare each word with each other one. A sentence of a law has some 100.
"""

MAX_CLAIM = 20_000
"""Most characters of a claim that is read at all."""

MAX_QUESTION = 2_000
"""Most characters of a question that are read."""

CHECK_SECONDS = 10.0
"""Processor time for the claims of one answer; 250 claims of 500 characters need 2.5 seconds."""


@dataclass(frozen=True)
class Aligned:
    """Where a claim was found.

    Attributes:
        grade: The grade of the claim.
        number: The number of the passage; 0 for none.
        span: [start, end) in the passage.
        score: How well it matches, 0 to 1, to compare answers.
        reason: Why it is not confirmed, if one fact is known; empty otherwise.
        nearest: For an unconfirmed claim, the words of the passages that share most with it.
        is_checked: Whether it was compared with the passages.
    """

    grade: Grade
    number: int = 0
    span: tuple[int, int] = (0, 0)
    score: float = 0.0
    reason: str = ""
    nearest: str = ""
    is_checked: bool = True


TOO_LONG = Aligned("not_confirmed", reason="not checked: too long", is_checked=False)
NO_TIME = Aligned("not_confirmed", reason="not checked: no time was left", is_checked=False)


@dataclass(frozen=True)
class _Candidate:
    number: int
    passage: PassageText
    piece: Piece
    score: float


class Alignment:
    """Aligns the claims of one answer with the passages that it was written from."""

    def __init__(
        self,
        passages: Mapping[int, PassageText],
        question: str = "",
        limit: TimeLimit | None = None,
        rules: Mapping[str, Rule] = RULES,
    ) -> None:
        """Read the passages; without a question, claims stand for themselves.

        Args:
            passages: The passages, by number.
            question: The question that the claims answer.
            limit: Processor time for all claims.
            rules: The rules for spans; measurements use some of `RULES`.

        Raises:
            TimeIsUp: The limit was reached, here or in a method.
        """
        self._limit = limit or TimeLimit(CHECK_SECONDS)
        question = question[:MAX_QUESTION]
        self._passages = passages
        self._rules = rules
        self._language = language_of(" ".join(passage.text[:1000] for passage in passages.values()), "english")
        self._question = question
        self._asked = tuple(tokens(question, language_of(question, self._language)))
        self._titles = find_denying_titles(self._asked)
        self._terms = frozenset(chain.from_iterable(token.terms for token in self._asked))
        for passage in passages.values():
            self._limit.spend()
            _ = passage.candidates  # a cached property, read within the time limit
        self._names = find_names(chain(self._asked, *(each.whole.tokens for each in passages.values())))
        self._places = QuestionPlaces(self._terms, passages)
        self._spans = [(number, *found) for number, passage in passages.items() for found in passage.candidates]
        # An index of spans by their words, to find those that share most words with a claim.
        self._holders: dict[str, list[int]] = {}
        for index, (*_, piece) in enumerate(self._spans):
            for key in piece.keys:
                self._holders.setdefault(key, []).append(index)

    def within(self, limit: TimeLimit) -> Alignment:
        """Return a copy for further claims, with its own time limit."""
        other = copy(self)
        other._limit = limit  # of the same class
        return other

    def place_claim(self, text: str, cited: Sequence[int] = ()) -> Aligned:
        """Return the best evidence for a claim: in the passages that it cites, else in any passage."""
        self._limit.spend()
        if len(text) > MAX_CLAIM:
            return TOO_LONG
        claim = self._read(text)
        if len(claim.tokens) > MAX_WORDS:
            return self._find_verbatim(text) or TOO_LONG
        if found := self._find(text, claim, cited):
            return found
        missing = quote_words(text, [token for token in claim.tokens if self._is_nowhere(token, claim)])
        nowhere = (word for word in missing if not self._is_written(word))
        reason = describe_lack(list(islice(nowhere, MOST_NAMED)))
        return Aligned("not_confirmed", reason=reason, nearest=self._find_nearest(claim))

    def _is_nowhere(self, token: Token, claim: ReadClaim) -> bool:
        """Tell whether a number, date, name or code of a claim is in no passage."""
        is_hard = is_fixed(token) if token in claim.repeated else token.is_hard
        # Only the number of "5 weeks" counts: another word may follow it in the passage.
        if token.figure and token.figure.unit not in SIGNS:
            token = token._replace(figure=replace(token.figure, unit=""))
        return is_hard and not self._is_known(token)

    def _is_written(self, word: str) -> bool:
        """Tell whether a passage contains some words, also in parts that are not compared."""
        self._limit.spend()
        as_it_is = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        return any(as_it_is.search(f"{passage.label}\n{passage.text}") for passage in self._passages.values())

    def _find_nearest(self, claim: ReadClaim) -> str:
        """Return the words of the sentence that shares most with a claim; rare words count more."""
        shared = Counter[int]()
        looked_up = {key: token for token in claim.tokens for key in lookup_keys(token)}
        for key, token in looked_up.items():
            self._limit.spend()
            holders = self._holders.get(key, ())
            if token.figure:  # numbers are indexed by their first digit
                holders = [index for index in holders if self._spans[index][-1].has(token)]
            weight = round(_RARITY * log1p(len(self._spans) / len(holders))) if holders else 0
            for index in holders:
                shared[index] += weight
        alone = (index for index in shared if self._spans[index][1] == self._spans[index][2])
        best = min(alone, key=lambda index: (-shared[index], index), default=None)
        if best is None:
            return ""
        number, *_, piece = self._spans[best]
        return cut_nearest(self._passages[number].text, piece, claim.tokens)

    def _find_verbatim(self, text: str) -> Aligned | None:
        """Find a claim word for word, without applying rules."""
        for number, passage in self._passages.items():
            if span := find_quote(text, passage.folded):
                return Aligned("quoted", number, passage.around(span), 1.0)
        return None

    def _find(self, text: str, claim: ReadClaim, cited: Sequence[int]) -> Aligned | None:
        # The writer's markers only say where to look first: they may be wrong, or be missing.
        for numbers in ([number for number in cited if number in self._passages], list(self._passages)):
            if not numbers:
                continue
            found = self._find_whole(text, claim, numbers) or self._find_short(text, claim, numbers)
            # A literal match is stronger evidence than similarity.
            if found := found or self._find_alike(text, claim, numbers):
                return found
        return None

    def place_quote(self, text: str, quote: str) -> Aligned:
        """Return the place of a quote for a claim, if a passage contains it and nothing speaks against it."""
        claim = self._read(text)
        for number, passage in self._passages.items():
            span = find_quote(quote, passage.folded) or find_row(quote, passage.rows)
            for *_, piece in passage.candidates if span else ():
                if not span or piece.end <= span[0] or span[1] <= piece.start:
                    continue
                hard = all(piece.has(token) or passage.about.has(token) for token in claim.added if token.is_hard)
                denied = count_denials(piece.tokens) + piece.count_denials(claim.tokens)
                against = self._has_objection(OF_QUOTES, text, claim, passage, piece)
                if hard and count_denials(claim.tokens) == denied and not against:
                    return Aligned("found", number, passage.around(span), LEAST_PLACE)
        return Aligned("not_confirmed")

    def find_rephrasings(self, text: str) -> list[Aligned]:
        """Return sentences that may say a claim in other words, those closest to the question first.

        They have its numbers, dates, names and codes, and nothing speaks against them. There are none if a span has
        enough of the claim's words and something speaks against it.
        """
        claim = self._read(text)
        if not self._terms or len(claim.tokens) > MAX_WORDS or self._rank_spans(claim, list(self._passages)):
            return []
        found = [
            _Candidate(number, passage, piece, place)
            for number, passage in self._passages.items()
            for piece, place in zip(passage.sentences, self._places.by_passage[number], strict=True)
            if self._places.speaks(place) and not self._lacks(claim, _list_held(claim, passage, piece))
        ]
        best = sorted(found, key=lambda each: each.score, reverse=True)[:_REPHRASED]
        return [
            Aligned("found", each.number, _cut_span(each.piece), min(each.score, 1.0))
            for each in best
            if not self._has_objection(OF_SPANS, text, claim, each.passage, each.piece, is_whole=True)
        ]

    def _read(self, text: str) -> ReadClaim:
        read = tokens(text, language_of(text, self._language), self._names)
        # "Yes," and "No," in any language, "However,"
        begins = len(read) > SHORT and read[1].opens and read[0].kind in ("word", "function", "negation")
        is_reply = begins and read[0].text in YES | NO
        read = read[1:] if begins else read
        words = {token.text for token in self._asked}
        numbers = [token.figure for token in self._asked if token.figure]
        added: list[Token] = []
        repeated: list[Token] = []
        for token in read:
            if token.kind in ("function", "negation"):
                continue
            asked = token.text in words or (bool(token.terms) and self._terms.issuperset(token.terms))
            (repeated if (has(numbers, token.figure) if token.figure else asked) else added).append(token)
        if is_reply:
            # A reply is about all of the question; words that are in no passage do not count.
            present = {token.text for token in read}
            repeated += [
                each for each in self._asked if each.terms and each.text not in present and self._is_known(each)
            ]
        return ReadClaim(tuple(read), tuple(added), tuple(repeated), is_reply)

    def _find_whole(self, text: str, claim: ReadClaim, numbers: Sequence[int]) -> Aligned | None:
        """Find a claim word for word, if it is long enough to prove something by itself."""
        # A name or a year is in many places: `_find_short` looks in sentences about the question.
        if self._terms and len(claim.added) <= SHORT and len(claim.tokens) <= 2 * SHORT:
            return None
        terms = {term for token in claim.tokens for term in token.terms}
        for number in numbers:
            passage = self._passages[number]
            # Skipped early, because folding takes long; half of the stems, as a line end in a word may hide some.
            if 2 * len(terms & passage.whole.terms) < len(terms):
                continue
            if span := find_quote(text, passage.folded):
                places = zip(passage.sentences, self._places.by_passage[number], strict=True)
                touched = [(piece, at) for piece, at in places if piece.start < span[1] and span[0] < piece.end]
                # The sentence may deny these words.
                if len(touched) == 1 and self._has_objection(OF_WORDS, text, claim, passage, touched[0][0]):
                    continue
                place = max((at for _, at in touched), default=0.0)
                score = 0.75 + 0.25 * place / self._places.best if self._places.best else 1.0
                return Aligned("quoted", number, passage.around(span), score)
        return None

    def _find_short(self, text: str, claim: ReadClaim, numbers: Sequence[int]) -> Aligned | None:
        """Find a short answer, word for word, in the sentences about the question."""
        if not claim.added or not self._terms or len(claim.tokens) > 2 * SHORT:
            return None
        words = text.strip(" .!")
        # A denial before a name or a number may deny something else: "not in 1985 but in 1990".
        of_answers = OF_ANSWERS if len(claim.added) < SHORT else (*OF_ANSWERS, *OF_WORDS)
        found = [
            (self._places.by_passage[number][at], -number, piece)
            for number in numbers
            for at, piece in enumerate(self._passages[number].sentences)
            if all(map(piece.has, claim.added))
            and self._places.speaks(self._places.by_passage[number][at])
            and not self._has_objection(of_answers, text, claim, self._passages[number], piece)
            and locate(words, fold(self._passages[number].text[piece.start : piece.end]))
        ]
        best = max(found, key=lambda each: each[:2], default=None)
        if best is None:
            return None
        place, number, piece = best
        passage = self._passages[-number]
        if self._has_objection(OF_BEST_ANSWERS, text, claim, passage, piece):
            return None
        return Aligned("quoted", -number, _cut_span(piece), place)

    def _find_alike(self, text: str, claim: ReadClaim, numbers: Sequence[int]) -> Aligned | None:
        """Find a span that has enough of a claim, and against which nothing speaks."""
        for each in self._rank_spans(claim, numbers)[:_TRIED]:
            if not self._has_objection(OF_CLAIMS, text, claim, each.passage, each.piece):
                words = each.passage.text[each.piece.start : each.piece.end]
                grade: Grade = "quoted" if find_quote(text, fold(words)) else "found"
                return Aligned(grade, each.number, _cut_span(each.piece), min(each.score, 1.0))
        return None

    def _is_refuted_in_part(self, text: str, claim: ReadClaim) -> bool:
        """Tell whether some spans have the words of a part of a claim, and something speaks against each of them.

        In "Ian was elected with 19 votes, ahead of Ada with 12." only the first part is wrong.
        """
        parts = self._split_parts(text, claim)
        return len(parts) > 1 and any(self._is_refuted(part, self._read(part)) for part in parts[:_TRIED])

    def _split_parts(self, text: str, claim: ReadClaim) -> list[str]:
        """Return the parts of a claim between commas and conjunctions, if they are long enough."""
        joins, cuts, since = CONJUNCTIONS.get(self._language, ()), [0], 0
        rest = sum(each.is_content for each in claim.tokens)
        for token in claim.tokens:
            if (token.opens or token.text in joins) and min(since, rest) >= SHORT:
                cuts.append(token.start)
                since = 0
            since, rest = since + token.is_content, rest - token.is_content
        ends = [*cuts, len(text)]
        parts = [[each for each in claim.tokens if one <= each.start < other] for one, other in pairwise(ends)]
        # A part of names alone belongs to a list.
        if any(all(each.kind == "name" for each in part if each.is_content) for part in parts):
            return [text]
        return [text[start:end] for start, end in pairwise(ends)]

    def _is_refuted(self, text: str, claim: ReadClaim) -> bool:
        """Tell whether something speaks against each span that lacks at most one word of a part of a claim.

        The part must have words of the question, and others.
        """
        if not claim.added or not claim.repeated:
            return False
        words = [each for each in claim.tokens if each.is_content]
        ranked = [
            one for one in self._rank_spans(claim, list(self._passages)) if _count_lacking(words, one.piece) <= 1
        ][:_TRIED]
        # In a pair of sentences, one may deny something else.
        return any(not one.piece.first for one in ranked) and all(
            self._has_objection(OF_PARTS, text, claim, one.passage, one.piece) for one in ranked
        )

    def _has_objection(
        self,
        names: Sequence[str],
        text: str,
        claim: ReadClaim,
        passage: PassageText,
        piece: Piece,
        *,
        is_whole: bool = False,
    ) -> bool:
        """Tell whether one of the named rules speaks against a span."""
        self._limit.spend()
        found = SpanComparison(
            text=text,
            claim=claim,
            question=self._question,
            asked=self._asked,
            titles=self._titles,
            passage=passage,
            piece=piece,
            rarity=self._places.rarity,
            is_known=self._is_known,
            is_refuted_in_part=lambda: self._is_refuted_in_part(text, claim),
            is_whole=is_whole,
        )
        return any(self._rules[name](found) for name in names if name in self._rules)

    def _rank_spans(self, claim: ReadClaim, numbers: Sequence[int]) -> list[_Candidate]:
        shared = Counter[int]()
        for key in set(chain.from_iterable(map(lookup_keys, (*claim.added, *claim.repeated)))):
            self._limit.spend()
            shared.update(self._holders.get(key, ()))
        if len(numbers) < len(self._passages):
            # Filtered here and not for each word, because a common word is in thousands of spans.
            shared = Counter({index: count for index, count in shared.items() if self._spans[index][0] in numbers})
        # Earlier spans first if they share as many words, because the order of a set differs between processes.
        most = nsmallest(_COMPARED, shared, key=lambda index: (-shared[index], index))
        found = (self._make_candidate(claim, *self._spans[index]) for index in most)
        return sorted((one for one in found if one is not None), key=lambda each: each.score, reverse=True)

    def _make_candidate(self, claim: ReadClaim, number: int, first: int, last: int, piece: Piece) -> _Candidate | None:
        """Return a span with its score, if it has enough of the claim's words and is about the question."""
        self._limit.spend()
        passage = self._passages[number]
        if first != last and not _both_add(claim, passage.sentences[first], passage.sentences[last]):
            return None
        held = _list_held(claim, passage, piece)
        inside = [token for token in claim.repeated if piece.has(token) or piece.has_derived(token)]
        added = (
            _sum_weight(held) / _sum_weight(claim.added) if claim.added else len(inside) / (len(claim.repeated) or 1)
        )
        if added < ENOUGH or self._lacks(claim, held):
            return None
        whole = len(claim.added) + len(claim.repeated)
        coverage, place = (len(held) + len(inside)) / whole, max(self._places.by_passage[number][first : last + 1])
        # "12 euros a night" looks like any other price of 12 euros, so the question must be near, too.
        by_itself = (coverage >= BY_ITSELF and whole > SHORT) or (
            (place > 0 or not claim.repeated) and is_anchored(claim, piece)
        )
        # A single sentence is better than a pair with as many words.
        score = 0.5 * coverage + 0.3 * added + 0.2 * place - 0.03 * (last - first)
        speaks = by_itself or self._places.speaks(place)
        return _Candidate(number, passage, piece, score) if speaks else None

    def _lacks(self, claim: ReadClaim, held: Sequence[Token]) -> bool:
        """Tell whether a span lacks a number, date, name or code of a claim, or every passage one of its question."""
        lost = any(token.is_hard and token not in held for token in claim.added)
        return lost or any(is_fixed(token) and not self._is_known(token) for token in claim.repeated)

    def _is_known(self, token: Token) -> bool:
        return any(passage.whole.has(token) for passage in self._passages.values())


def _list_held(claim: ReadClaim, passage: PassageText, piece: Piece) -> list[Token]:
    inside = [token for token in claim.added if piece.has(token)]
    about = [token for token in claim.added if passage.about.has(token) and token not in inside]
    # A sentence need not name what its passage's heading names: a country, the year of a report. But an answer of one
    # or two names must be in the sentence itself.
    named = sum(token.kind == "name" for token in about)
    heads = sum(token.kind == "name" for token in inside) > 2 * named
    return inside + [token for token in about if token.figure or (heads and token.kind == "name")]


def _both_add(claim: ReadClaim, one: Piece, other: Piece) -> bool:
    """Tell whether each of two sentences has words of a claim that the other one lacks."""
    words = (*claim.added, *claim.repeated)
    sides = [(one.has(word), other.has(word)) for word in words]
    return (True, False) in sides and (False, True) in sides


def _count_lacking(words: Sequence[Token], piece: Piece) -> int:
    return sum(not piece.has(word) for word in words)


def _sum_weight(read: Sequence[Token]) -> int:
    return sum(2 if token.is_hard else 1 for token in read)


def _cut_span(piece: Piece) -> tuple[int, int]:
    return piece.start, min(piece.end, piece.start + LONGEST)
