"""Finds where the passages say what a claim says: its words there, or a sentence, a pair of them, or a row of a table.

A claim is read as an answer to its question. What it repeats of the question is context, which has to be near; what it
adds has to stand in the span itself. That is lexical entailment by coverage (Glickman et al. 2005), which sees no
meaning; `agreement`, `counted_numbers` and other modules beside this one look for what speaks against a span.
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

from anabranch.citations.agreement import ReadClaim, denials, denying_titles
from anabranch.citations.citation_record import LONGEST
from anabranch.citations.known_facts import MOST_NAMED, lack_of, nearest_words
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
from anabranch.citations.tokens import SIGNS, Token, as_written, is_fixed, names_of, tokens
from anabranch.text.function_words import CONJUNCTIONS, NO, YES
from anabranch.text.language import language_of
from anabranch.types import Grade

# Share of what a claim adds that a span needs, by weight: a number or a name says more than a verb.
ENOUGH = 0.6
# Share of all words of a claim that make a span the place it speaks of, whatever the question.
BY_ITSELF = 0.7
_TRIED = 5
# Spans that a claim is compared with in full: those that share most words with it.
_COMPARED = 60
# Sentences that may say a claim in other words.
_REPHRASED = 16
# Rarity is summed in whole numbers: a sum of others depends on the order of a set.
_RARITY = 1000

MAX_WORDS = 200
"""Words of a claim that is compared with spans; a longer one is only looked up as it stands.

The rules compare each word with each other one. A sentence of a law has some 100.
"""

MAX_CLAIM = 20_000
"""Characters of a claim that is read at all."""

MAX_QUESTION = 2_000
"""Characters of a question that claims are read as answers to."""

CHECK_SECONDS = 10.0
"""Processor time for the claims of one answer; 250 claims of 500 characters need 2.5 seconds."""


@dataclass(frozen=True)
class Aligned:
    """Where a claim was found.

    Attributes:
        grade: How well it stands there.
        number: Of the passage; 0 for none.
        span: [start, end) in the passage.
        score: To compare answers by, 0 to 1.
        reason: Why it is not confirmed, where one fact is known; empty otherwise.
        nearest: Of one that is not confirmed, the words of the passages that share most with it.
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
        """Read the passages, by number, as places to look; without a question claims stand for themselves.

        Args:
            passages: By number.
            question: That claims are read as answers to.
            limit: Processor time for all claims.
            rules: What is asked of spans; some of `RULES`, where these are measured.

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
        self._titles = denying_titles(self._asked)
        self._terms = frozenset(chain.from_iterable(token.terms for token in self._asked))
        for passage in passages.values():
            self._limit.spend()
            _ = passage.candidates  # read here, one passage after the other
        self._names = names_of(chain(self._asked, *(each.whole.tokens for each in passages.values())))
        self._places = QuestionPlaces(self._terms, passages)
        self._spans = [(number, *found) for number, passage in passages.items() for found in passage.candidates]
        # Spans by the words in them, so that a claim is compared in full only with those that share most words with it.
        self._holders: dict[str, list[int]] = {}
        for index, (*_, piece) in enumerate(self._spans):
            for key in piece.keys:
                self._holders.setdefault(key, []).append(index)

    def within(self, limit: TimeLimit) -> Alignment:
        """Return it for further claims within another limit: that of the first ones is over."""
        other = copy(self)
        other._limit = limit  # of the same class
        return other

    def of(self, claim: str, cited: Sequence[int] = ()) -> Aligned:
        """Return where a claim stands best: in the passages that it cites, else in any of them."""
        self._limit.spend()
        if len(claim) > MAX_CLAIM:
            return TOO_LONG
        said = self._read(claim)
        if len(said.tokens) > MAX_WORDS:
            return self._verbatim(claim) or TOO_LONG
        if found := self._found(claim, said, cited):
            return found
        missing = as_written(claim, [token for token in said.tokens if self._is_nowhere(token, said)])
        nowhere = (word for word in missing if not self._is_written(word))
        reason = lack_of(list(islice(nowhere, MOST_NAMED)))
        return Aligned("not_confirmed", reason=reason, nearest=self._nearest(said))

    def _is_nowhere(self, token: Token, said: ReadClaim) -> bool:
        """Tell whether a number, date, name or code of a claim is in no passage; a question rewords some."""
        is_hard = is_fixed(token) if token in said.repeated else token.is_hard
        # Of "5 weeks" the number alone is named, and may stand there with another word behind it.
        if token.figure and token.figure.unit not in SIGNS:
            token = token._replace(figure=replace(token.figure, unit=""))
        return is_hard and not self._is_known(token)

    def _is_written(self, word: str) -> bool:
        """Tell whether some words stand in a passage, also in a part of it that is not compared."""
        self._limit.spend()
        as_it_is = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        return any(as_it_is.search(f"{passage.label}\n{passage.text}") for passage in self._passages.values())

    def _nearest(self, said: ReadClaim) -> str:
        """Return the words of the sentence that shares most with a claim, a rare word counting more."""
        shared = Counter[int]()
        looked_up = {key: token for token in said.tokens for key in lookup_keys(token)}
        for key, token in looked_up.items():
            self._limit.spend()
            holders = self._holders.get(key, ())
            if token.figure:  # it is looked up by how it begins
                holders = [index for index in holders if self._spans[index][-1].has(token)]
            weight = round(_RARITY * log1p(len(self._spans) / len(holders))) if holders else 0
            for index in holders:
                shared[index] += weight
        alone = (index for index in shared if self._spans[index][1] == self._spans[index][2])
        best = min(alone, key=lambda index: (-shared[index], index), default=None)
        if best is None:
            return ""
        number, *_, piece = self._spans[best]
        return nearest_words(self._passages[number].text, piece, said.tokens)

    def _verbatim(self, claim: str) -> Aligned | None:
        """Find the words of a claim as they are, whatever they say."""
        for number, passage in self._passages.items():
            if span := find_quote(claim, passage.folded):
                return Aligned("quoted", number, passage.around(span), 1.0)
        return None

    def _found(self, claim: str, said: ReadClaim, cited: Sequence[int]) -> Aligned | None:
        # The writer's markers only say where to look first: they may be wrong, or be missing.
        for numbers in ([number for number in cited if number in self._passages], list(self._passages)):
            if not numbers:
                continue
            found = self._whole(claim, said, numbers) or self._short(claim, said, numbers)
            # Words as they stand prove more than likeness does.
            if found := found or self._alike(claim, said, numbers):
                return found
        return None

    def beside(self, claim: str, quote: str) -> Aligned:
        """Return the place of words that are said to support a claim, if they stand there and nothing is against it."""
        said = self._read(claim)
        for number, passage in self._passages.items():
            span = find_quote(quote, passage.folded) or find_row(quote, passage.rows)
            for *_, piece in passage.candidates if span else ():
                if not span or piece.end <= span[0] or span[1] <= piece.start:
                    continue
                hard = all(piece.has(token) or passage.about.has(token) for token in said.added if token.is_hard)
                denied = denials(piece.tokens) + piece.denials_for(said.tokens)
                against = self._against(OF_QUOTES, claim, said, passage, piece)
                if hard and denials(said.tokens) == denied and not against:
                    return Aligned("found", number, passage.around(span), LEAST_PLACE)
        return Aligned("not_confirmed")

    def rephrasings(self, claim: str) -> list[Aligned]:
        """Return the sentences that may say a claim in other words, those that speak most of the question first.

        Only such as have its numbers, dates, names and codes, and nothing against it; none where a span has enough of
        its words and something speaks against that one.
        """
        said = self._read(claim)
        if not self._terms or len(said.tokens) > MAX_WORDS or self._ranked(said, list(self._passages)):
            return []
        found = [
            _Candidate(number, passage, piece, place)
            for number, passage in self._passages.items()
            for piece, place in zip(passage.sentences, self._places.of[number], strict=True)
            if self._places.speaks(place) and not self._lacks(said, _held(said, passage, piece))
        ]
        best = sorted(found, key=lambda each: each.score, reverse=True)[:_REPHRASED]
        return [
            Aligned("found", each.number, _shown(each.piece), min(each.score, 1.0))
            for each in best
            if not self._against(OF_SPANS, claim, said, each.passage, each.piece, is_whole=True)
        ]

    def _read(self, claim: str) -> ReadClaim:
        read = tokens(claim, language_of(claim, self._language), self._names)
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
            # About all that was asked; what no passage speaks of can be against nothing.
            said = {token.text for token in read}
            repeated += [each for each in self._asked if each.terms and each.text not in said and self._is_known(each)]
        return ReadClaim(tuple(read), tuple(added), tuple(repeated), is_reply)

    def _whole(self, claim: str, said: ReadClaim, numbers: Sequence[int]) -> Aligned | None:
        """Find the words of a claim as they are, where they are enough to prove something by themselves."""
        # A name or a year stands in many places: `_short` looks where the question is spoken of.
        if self._terms and len(said.added) <= SHORT and len(said.tokens) <= 2 * SHORT:
            return None
        terms = {term for token in said.tokens for term in token.terms}
        for number in numbers:
            passage = self._passages[number]
            # Folding a passage takes as long as reading it; a line end in a word may hide some of its stems.
            if 2 * len(terms & passage.whole.terms) < len(terms):
                continue
            if span := find_quote(claim, passage.folded):
                places = zip(passage.sentences, self._places.of[number], strict=True)
                touched = [(piece, at) for piece, at in places if piece.start < span[1] and span[0] < piece.end]
                # The words may stand in a sentence that denies them.
                if len(touched) == 1 and self._against(OF_WORDS, claim, said, passage, touched[0][0]):
                    continue
                place = max((at for _, at in touched), default=0.0)
                score = 0.75 + 0.25 * place / self._places.best if self._places.best else 1.0
                return Aligned("quoted", number, passage.around(span), score)
        return None

    def _short(self, claim: str, said: ReadClaim, numbers: Sequence[int]) -> Aligned | None:
        """Find a short answer, as it is, in the sentences that speak of the question."""
        if not said.added or not self._terms or len(said.tokens) > 2 * SHORT:
            return None
        words = claim.strip(" .!")
        # A name or a number may stand behind a denial of something else: "not in 1985 but in 1990".
        of_answers = OF_ANSWERS if len(said.added) < SHORT else (*OF_ANSWERS, *OF_WORDS)
        found = [
            (self._places.of[number][at], -number, piece)
            for number in numbers
            for at, piece in enumerate(self._passages[number].sentences)
            if all(map(piece.has, said.added))
            and self._places.speaks(self._places.of[number][at])
            and not self._against(of_answers, claim, said, self._passages[number], piece)
            and locate(words, fold(self._passages[number].text[piece.start : piece.end]))
        ]
        best = max(found, key=lambda each: each[:2], default=None)
        if best is None:
            return None
        place, number, piece = best
        passage = self._passages[-number]
        if self._against(OF_BEST_ANSWERS, claim, said, passage, piece):
            return None
        return Aligned("quoted", -number, _shown(piece), place)

    def _alike(self, claim: str, said: ReadClaim, numbers: Sequence[int]) -> Aligned | None:
        """Find the span that has enough of a claim, and against which nothing speaks."""
        for each in self._ranked(said, numbers)[:_TRIED]:
            if not self._against(OF_CLAIMS, claim, said, each.passage, each.piece):
                words = each.passage.text[each.piece.start : each.piece.end]
                grade: Grade = "quoted" if find_quote(claim, fold(words)) else "found"
                return Aligned(grade, each.number, _shown(each.piece), min(each.score, 1.0))
        return None

    def _is_refuted_in_part(self, claim: str, said: ReadClaim) -> bool:
        """Tell whether the words of a part of a claim stand in some spans, and something speaks against each of these.

        "Ian was elected with 19 votes, ahead of Ada with 12." has enough words that only its first part is seen to be
        wrong.
        """
        parts = self._parts(claim, said)
        return len(parts) > 1 and any(self._is_refuted(part, self._read(part)) for part in parts[:_TRIED])

    def _parts(self, claim: str, said: ReadClaim) -> list[str]:
        """Return the parts of a claim between commas and conjunctions that are long enough to say something."""
        joins, cuts, since = CONJUNCTIONS.get(self._language, ()), [0], 0
        rest = sum(each.is_content for each in said.tokens)
        for token in said.tokens:
            if (token.opens or token.text in joins) and min(since, rest) >= SHORT:
                cuts.append(token.start)
                since = 0
            since, rest = since + token.is_content, rest - token.is_content
        ends = [*cuts, len(claim)]
        parts = [[each for each in said.tokens if one <= each.start < other] for one, other in pairwise(ends)]
        # Names alone are a list, and no statement.
        if any(all(each.kind == "name" for each in part if each.is_content) for part in parts):
            return [claim]
        return [claim[start:end] for start, end in pairwise(ends)]

    def _is_refuted(self, claim: str, said: ReadClaim) -> bool:
        """Tell whether something speaks against each span that has all words of a part but one at most.

        Only a part that says something, of something that was asked, is looked for.
        """
        if not said.added or not said.repeated:
            return False
        words = [each for each in said.tokens if each.is_content]
        ranked = [one for one in self._ranked(said, list(self._passages)) if _lacking(words, one.piece) <= 1][:_TRIED]
        # Of two sentences one may deny something else.
        return any(not one.piece.first for one in ranked) and all(
            self._against(OF_PARTS, claim, said, one.passage, one.piece) for one in ranked
        )

    def _against(
        self,
        names: Sequence[str],
        claim: str,
        said: ReadClaim,
        passage: PassageText,
        piece: Piece,
        *,
        is_whole: bool = False,
    ) -> bool:
        """Tell whether a rule of some names speaks against a span."""
        self._limit.spend()
        found = SpanComparison(
            claim=claim,
            said=said,
            question=self._question,
            asked=self._asked,
            titles=self._titles,
            passage=passage,
            piece=piece,
            rarity=self._places.rarity,
            is_known=self._is_known,
            is_refuted_in_part=lambda: self._is_refuted_in_part(claim, said),
            is_whole=is_whole,
        )
        return any(self._rules[name](found) for name in names if name in self._rules)

    def _ranked(self, said: ReadClaim, numbers: Sequence[int]) -> list[_Candidate]:
        shared = Counter[int]()
        for key in set(chain.from_iterable(map(lookup_keys, (*said.added, *said.repeated)))):
            self._limit.spend()
            shared.update(self._holders.get(key, ()))
        if len(numbers) < len(self._passages):
            # Of the spans, not of each word that they share: a common word is in thousands.
            shared = Counter({index: count for index, count in shared.items() if self._spans[index][0] in numbers})
        # Of as many words, the earlier span goes before: the order of a set differs between processes.
        most = nsmallest(_COMPARED, shared, key=lambda index: (-shared[index], index))
        found = (self._candidate(said, *self._spans[index]) for index in most)
        return sorted((one for one in found if one is not None), key=lambda each: each.score, reverse=True)

    def _candidate(self, said: ReadClaim, number: int, first: int, last: int, piece: Piece) -> _Candidate | None:
        """Return a span with its score, if it has what the claim adds and speaks of what the claim repeats."""
        self._limit.spend()
        passage = self._passages[number]
        if first != last and not _both_add(said, passage.sentences[first], passage.sentences[last]):
            return None
        held = _held(said, passage, piece)
        inside = [token for token in said.repeated if piece.has(token) or piece.has_derived(token)]
        added = _weight(held) / _weight(said.added) if said.added else len(inside) / (len(said.repeated) or 1)
        if added < ENOUGH or self._lacks(said, held):
            return None
        whole = len(said.added) + len(said.repeated)
        coverage, place = (len(held) + len(inside)) / whole, max(self._places.of[number][first : last + 1])
        # "12 euros a night" has the neighbours of any other price of 12 euros: the question has to be near, too.
        by_itself = (coverage >= BY_ITSELF and whole > SHORT) or (
            (place > 0 or not said.repeated) and is_anchored(said, piece)
        )
        # A pair of sentences gives way to one that says as much.
        score = 0.5 * coverage + 0.3 * added + 0.2 * place - 0.03 * (last - first)
        speaks = by_itself or self._places.speaks(place)
        return _Candidate(number, passage, piece, score) if speaks else None

    def _lacks(self, said: ReadClaim, held: Sequence[Token]) -> bool:
        """Tell whether a number, date, name or code of a claim is not in a span, or one of its question nowhere."""
        lost = any(token.is_hard and token not in held for token in said.added)
        return lost or any(is_fixed(token) and not self._is_known(token) for token in said.repeated)

    def _is_known(self, token: Token) -> bool:
        return any(passage.whole.has(token) for passage in self._passages.values())


def _held(said: ReadClaim, passage: PassageText, piece: Piece) -> list[Token]:
    inside = [token for token in said.added if piece.has(token)]
    about = [token for token in said.added if passage.about.has(token) and token not in inside]
    # A sentence is of what its passage is headed by and need not name it: a country, the year of a report. An answer
    # is no more than a name or two, and has to stand in the sentence itself.
    named = sum(token.kind == "name" for token in about)
    heads = sum(token.kind == "name" for token in inside) > 2 * named
    return inside + [token for token in about if token.figure or (heads and token.kind == "name")]


def _both_add(said: ReadClaim, one: Piece, other: Piece) -> bool:
    """Tell whether each of two sentences has something of a claim that the other one has not."""
    words = (*said.added, *said.repeated)
    sides = [(one.has(word), other.has(word)) for word in words]
    return (True, False) in sides and (False, True) in sides


def _lacking(words: Sequence[Token], piece: Piece) -> int:
    return sum(not piece.has(word) for word in words)


def _weight(read: Sequence[Token]) -> int:
    return sum(2 if token.is_hard else 1 for token in read)


def _shown(piece: Piece) -> tuple[int, int]:
    return piece.start, min(piece.end, piece.start + LONGEST)
