"""Finds for each claim of an answer the sentences that share most of its words, and grades it by that share.

A claim is *quoted* if its words stand in a passage; *found* if one to three sentences in a row hold enough of them,
rare words counting more (Sparck Jones 1972), and the passage has its numbers and codes; else *not confirmed*. This is
entailment by lexical coverage (Glickman et al. 2005): a number or name of the same passage in another's place is not
noticed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from math import log1p
from typing import NamedTuple

from anabranch.citations.citation_record import LONGEST
from anabranch.citations.quantities import Figure, figures, has
from anabranch.citations.quote_matching import find_quote
from anabranch.citations.read_passages import PassageText
from anabranch.citations.time_limit import TimeLimit
from anabranch.text.analyzer import analyser
from anabranch.text.language import language_of
from anabranch.text.normalization import squeeze
from anabranch.types import Grade

ENOUGH = 0.7
"""Share of a claim's words, and of those that it adds to its question, with which sentences support it."""

CHECK_SECONDS = 10.0
"""Processor time for the claims of one answer."""

MAX_CLAIM = 20_000
"""Most characters of a claim that is read."""

MAX_QUESTION = 2_000
"""Most characters of a question that are read."""

LONGEST_NEAREST = 200
"""Most characters of the nearest words of a claim that is not confirmed."""

_IN_A_ROW = 3  # sentences that support a claim
_COMPARED, _TRIED = 60, 8
_MOST_NAMED, _LONGEST_NAME = 3, 60
# Rarity is summed in whole numbers, because a sum of floats depends on the order of a set.
_RARITY = 1000
_FEW = 20  # sentences, of fewer of which none says that a word is common

_WORD = re.compile(r"\w(?:[\w.,'’-]*\w)?")


class PassagePlace(NamedTuple):
    """The characters [start, end) of the passage with a number."""

    number: int
    start: int
    end: int


@dataclass(frozen=True)
class Aligned:
    """Where a claim was found.

    Attributes:
        grade: The grade of the claim.
        places: The words that support it: none, one place, or places in two passages that support it together.
        score: The share of its words that stand there, 0 to 1, whatever the grade.
        reason: Why it is not confirmed, if one fact is known; empty otherwise.
        nearest: For an unconfirmed claim, the words of the passages that share most with it.
        is_checked: Whether it was compared with the passages.
    """

    grade: Grade
    places: tuple[PassagePlace, ...] = ()
    score: float = 0.0
    reason: str = ""
    nearest: str = ""
    is_checked: bool = True


TOO_LONG = Aligned("not_confirmed", reason="not checked: too long", is_checked=False)
NO_TIME = Aligned("not_confirmed", reason="not checked: no time was left", is_checked=False)


class _Window(NamedTuple):
    """Sentences in a row: their terms with those of the label, and these with the question's that the passage has."""

    place: PassagePlace
    own: frozenset[str]
    terms: frozenset[str]


@dataclass(frozen=True)
class _Claim:
    text: str
    terms: frozenset[str]
    figures: tuple[Figure, ...]  # those that the question does not give
    codes: frozenset[str]
    is_known: bool  # whether each number and code that the question gives is in some passage


class SharedWords:
    """Aligns the claims of one answer with the passages that it was written from."""

    def __init__(self, passages: Mapping[int, PassageText], question: str = "", limit: TimeLimit | None = None) -> None:
        """Index the sentences of the passages, by number; without a question, claims stand for themselves.

        Raises:
            TimeIsUp: The limit was reached, here or in a method.
        """
        self._limit = limit or TimeLimit(CHECK_SECONDS)
        self._passages = passages
        self._language = language_of(" ".join(each.text[:1000] for each in passages.values()), "english")
        self._asked = frozenset(self._terms(question[:MAX_QUESTION]))
        self._asked_figures = figures(question[:MAX_QUESTION])
        self._spots: list[tuple[int, int]] = []  # number of the passage, place of the sentence in it
        self._holders: dict[str, list[int]] = {}
        for number, passage in passages.items():
            self._limit.spend()
            for at, sentence in enumerate(passage.sentences):
                for term in sentence.terms:
                    self._holders.setdefault(term, []).append(len(self._spots))
                self._spots.append((number, at))
        self._whole = max(len(self._spots), _FEW) + 1

    def within(self, limit: TimeLimit) -> SharedWords:
        """Return a copy for further claims, with its own time limit."""
        other = copy(self)
        other._limit = limit  # of the same class
        return other

    def place_claim(self, text: str, cited: Sequence[int] = ()) -> Aligned:
        """Return the best evidence for a claim; of equal passages, that of one which it cites."""
        self._limit.spend()
        if len(text) > MAX_CLAIM:
            return TOO_LONG
        claim = self._read(text)
        if quoted := self._find_quote(claim, cited):
            return quoted
        ranked = self._rank(claim.terms, cited)
        found = next(((each,) for each in ranked if self._holds(claim, each)), None) or self._find_pair(claim, ranked)
        if found:
            return Aligned("found", tuple(each.place for each in found), self._find_share(claim.terms, *found))
        share = self._find_share(claim.terms, ranked[0]) if ranked else 0.0
        return Aligned("not_confirmed", (), share, self._describe_lack(claim), self._cut_nearest(claim, ranked))

    def place_quote(self, text: str, quote: str) -> Aligned:
        """Return the place of a quote for a claim, if a passage has both the quote and the claim's numbers."""
        claim = self._read(text[:MAX_CLAIM])
        for number, passage in self._passages.items():
            if (span := find_quote(quote, passage.folded)) and self._has_numbers(claim, number):
                return Aligned("found", (PassagePlace(number, *passage.around(span)),), ENOUGH)
        return Aligned("not_confirmed")

    def find_nearest(self, text: str, places: Sequence[PassagePlace] = (), most: int = 2) -> list[PassagePlace]:
        """Return the places that share most with a claim and its question, without overlaps, `places` first."""
        found = list(places[:most])
        for place, *_ in self._rank(frozenset(self._terms(text)) | self._asked):
            apart = (one.number != place.number or one.end <= place.start or place.end <= one.start for one in found)
            if len(found) < most and all(apart):
                found.append(place)
        return found

    def read_place(self, place: PassagePlace) -> str:
        """Return the words of a place, the row of a table below its header."""
        passage = self._passages[place.number]
        headers = (each.header for each in passage.sentences if place.start <= each.start < place.end)
        header, words = passage.text[slice(*next(headers, (0, 0)))], passage.text[place.start : place.end]
        return f"{header}\n{words}" if header else words

    def _terms(self, text: str) -> list[str]:
        return analyser(language_of(text, self._language)).terms(text)

    def _read(self, text: str) -> _Claim:
        terms = frozenset(self._terms(text))
        numbers = tuple(dict.fromkeys(figures(text)))
        added = tuple(each for each in numbers if not self._has(self._asked_figures, each))
        codes = frozenset(each for each in terms if not each[0].isdigit() and any(map(str.isdigit, each)))
        # A question may presume what no passage says: "sold in 1912".
        given = [each for each in numbers if each not in added and not each.may_be_a_word]
        is_known = all(any(self._has(p.figures, each) for p in self._passages.values()) for each in given) and all(
            any(each in p.terms for p in self._passages.values()) for each in codes & self._asked
        )
        return _Claim(text, terms, added, codes - self._asked, is_known)

    def _has(self, there: Sequence[Figure], figure: Figure) -> bool:
        self._limit.spend()
        return has(there, figure)

    def _rarity(self, term: str) -> int:
        return round(_RARITY * log1p(self._whole / (len(self._holders.get(term, ())) or 1)))

    def _weigh(self, terms: Iterable[str]) -> int:
        """Return the weight of some terms: the fewer sentences hold one, the more it weighs."""
        return sum(map(self._rarity, terms))

    def _is_rare(self, term: str) -> bool:
        """Tell whether a term has half the weight of one that stands once: of 240 sentences, 16 may hold it."""
        return 2 * self._rarity(term) >= _RARITY * log1p(self._whole)

    def _rank(self, terms: frozenset[str], cited: Sequence[int] = ()) -> list[_Window]:
        """Return the windows that hold most of some terms; of those that hold as much, the shortest first."""
        weights = {term: self._rarity(term) for term in terms | self._asked}
        held = Counter[int]()
        for term in terms:
            self._limit.spend()
            for spot in self._holders.get(term, ()):
                held[spot] += weights[term]
        # Each sentence is weighed, and the best are read with those beside them: a common word is in thousands.
        hits = set(nsmallest(_COMPARED, held, key=lambda spot: (-held[spot], spot)))
        whole, asked = sum(map(weights.__getitem__, terms)) or 1, sum(map(weights.__getitem__, self._asked)) or 1
        around = {number: self._asked & each.terms for number, each in self._passages.items()}
        found: list[tuple[float, _Window]] = []
        for number, first, last in self._list_runs(hits):
            sentences = self._passages[number].sentences[first : last + 1]
            words = frozenset[str]().union(*(each.terms for each in sentences))
            own = words | self._passages[number].about
            window = _Window(PassagePlace(number, sentences[0].start, sentences[-1].end), own, own | around[number])
            rank = sum(map(weights.__getitem__, terms & window.terms)) / whole
            rank += 0.1 * sum(map(weights.__getitem__, self._asked & words)) / asked + 0.05 * (number in cited)
            found.append((rank - (window.place.end - window.place.start) / 10_000, window))
        return [window for _, window in nsmallest(_TRIED, found, key=lambda each: (-each[0], each[1].place))]

    def _list_runs(self, hits: Set[int]) -> Iterator[tuple[int, int, int]]:
        """Yield the number of a passage and the first and last sentence of each run that begins and ends with a hit."""
        for spot in hits:
            self._limit.spend()
            number, first = self._spots[spot]
            sentences = self._passages[number].sentences
            for last in range(first, min(first + _IN_A_ROW, len(sentences))):
                if last > first and sentences[last].end - sentences[first].start > LONGEST:
                    break
                if spot + last - first in hits:
                    yield number, first, last

    def _find_quote(self, claim: _Claim, cited: Sequence[int]) -> Aligned | None:
        for number in sorted(self._passages, key=lambda each: each not in cited):
            passage = self._passages[number]
            # Skipped early, because folding takes long; half of the terms, as a line end in a word may hide some.
            if 2 * len(claim.terms & passage.terms) >= len(claim.terms):
                self._limit.spend()
                if span := find_quote(claim.text, passage.folded):
                    return Aligned("quoted", (PassagePlace(number, *passage.around(span)),), 1.0)
        return None

    def _find_pair(self, claim: _Claim, ranked: Sequence[_Window]) -> tuple[_Window, _Window] | None:
        """Find windows of two passages that support a claim together.

        Each adds a rare term, and both have one in common: the bridge, such as the name that the first one gives. It
        stands in both windows: words of the question are anywhere.
        """
        for one in ranked[:1]:
            for other in self._rank(claim.terms - one.terms):
                here, there = claim.terms & one.own, claim.terms & other.own
                parts = (here - there, there - here, here & there)
                apart = other.place.number != one.place.number and all(any(map(self._is_rare, part)) for part in parts)
                if apart and self._holds(claim, one, other):
                    return one, other
        return None

    def _holds(self, claim: _Claim, *windows: _Window) -> bool:
        """Tell whether windows hold enough of a claim, and enough of what it adds to its question, with its numbers."""
        parts = claim.terms, claim.terms - self._asked
        enough = all(self._find_share(part, *windows) >= ENOUGH for part in parts)
        return claim.is_known and enough and self._has_numbers(claim, *(each.place.number for each in windows))

    def _find_share(self, terms: frozenset[str], *windows: _Window) -> float:
        """Return the share of some terms that windows hold, by weight; 1 of none."""
        held = terms.intersection(frozenset[str]().union(*(each.terms for each in windows)))
        return self._weigh(held) / self._weigh(terms) if terms else 1.0

    def _has_numbers(self, claim: _Claim, *numbers: int) -> bool:
        """Tell whether some passages have the numbers and codes that a claim adds to its question."""
        there = [self._passages[number] for number in numbers]
        figures_there, terms = [f for each in there for f in each.figures], frozenset().union(*(p.terms for p in there))
        return claim.codes <= terms and all(self._has(figures_there, each) for each in claim.figures)

    def _describe_lack(self, claim: _Claim) -> str:
        """Return a reason that names the numbers, codes and capitalised names of a claim that are in no passage."""
        named = [squeeze(word)[:_LONGEST_NAME] for word in islice(self._list_missing(claim.text), _MOST_NAMED)]
        if len(named) < 2:
            return f"{named[0]} is in no passage" if named else ""
        return f"{', '.join(named[:-1])} and {named[-1]} are in no passage"

    def _list_missing(self, text: str) -> Iterator[str]:
        for at, word in enumerate(dict.fromkeys(_WORD.findall(text))):
            numbers = figures(word)
            # The first word has its capital from the sentence, and a small number may stand as a word.
            is_name = at > 0 and len(word) > 1 and word[0].isupper() and not numbers
            if (is_name or not all(each.may_be_a_word for each in numbers)) and not self._is_known(word, numbers):
                yield word

    def _is_known(self, word: str, numbers: Sequence[Figure]) -> bool:
        """Tell whether a passage has a word as it is written, a term of it, or its numbers."""
        self._limit.spend()
        terms = frozenset(self._terms(word))
        passages = self._passages.values()
        is_written = any(word in each.text or not terms.isdisjoint(each.terms) for each in passages)
        return is_written or (bool(numbers) and all(any(has(p.figures, n) for p in passages) for n in numbers))

    def _cut_nearest(self, claim: _Claim, ranked: Sequence[_Window]) -> str:
        """Return the sentence that shares most with a claim, from its first shared word on if it is long."""
        if not ranked:
            return ""
        number, start, end = ranked[0].place
        inside = (each for each in self._passages[number].sentences if start <= each.start < end)
        best = max(inside, key=lambda each: self._weigh(claim.terms & each.terms))
        words = self._passages[number].text[best.start : best.end]
        if len(words) > LONGEST_NEAREST:
            shared = (each.start() for each in _WORD.finditer(words) if claim.terms.intersection(self._terms(each[0])))
            words = words[min(next(shared, 0), len(words) - LONGEST_NEAREST) :]
            words = words[: max(words.rfind(" ", 0, LONGEST_NEAREST + 1), 0) or LONGEST_NEAREST]
        return squeeze(words)
