"""The parts of the passages that are closest to a claim, for a judge that needs more than one quote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log1p

from anabranch.citations.passage_text import PassageText, lookup_keys
from anabranch.citations.tokens import tokens

WINDOW = 400
"""Most characters of a window, some 100 tokens."""

MOST = 2
"""Most windows of a claim: one for its words, and one for who or what is meant."""

# Rarity is summed in whole numbers, because a sum of floats depends on the order of a set.
_RARITY = 1000


@dataclass(frozen=True, slots=True)
class ClaimWindow:
    """Sentences of a passage, at [start, end).

    Attributes:
        number: The number of the passage.
        span: Their place in the passage.
        label: The label of the passage.
        words: Their text; table rows have the names of the columns above them.
    """

    number: int
    span: tuple[int, int]
    label: str
    words: str


class ClaimWindows:
    """Finds the windows of the claims of one answer."""

    def __init__(self, passages: Mapping[int, PassageText], question: str = "") -> None:
        """Read the passages, by number; windows should be close to the question, too."""
        self._passages = passages
        self._question = question
        self._holders: dict[str, list[tuple[int, int]]] = {}
        self._spots = 0
        for number, passage in passages.items():
            for at, piece in enumerate(passage.sentences):
                self._spots += 1
                for key in piece.keys:
                    self._holders.setdefault(key, []).append((number, at))

    def find_windows(self, claim: str, place: tuple[int, tuple[int, int]] | None = None) -> list[ClaimWindow]:
        """Return the windows that share most with a claim and its question.

        Args:
            claim: The claim.
            place: Number of the passage and span where the claim was found; its window comes first.
        """
        found = [self._make_window(*place)] if place else []
        for number, at in self._rank_sentences(claim):
            if len(found) == MOST:
                break
            piece = self._passages[number].sentences[at]
            seen = any(each.number == number and _overlap(each.span, (piece.start, piece.end)) for each in found)
            if not seen:
                found.append(self._make_window(number, (piece.start, piece.end)))
        return found

    def _rank_sentences(self, claim: str) -> list[tuple[int, int]]:
        language = next((passage.language for passage in self._passages.values()), "english")
        words = tokens(f"{self._question}\n{claim}", language)
        shared = Counter[tuple[int, int]]()
        for key in set(chain.from_iterable(map(lookup_keys, words))):
            holders = self._holders.get(key, ())
            weight = round(_RARITY * log1p(self._spots / len(holders))) if holders else 0
            for spot in holders:
                shared[spot] += weight
        return sorted(shared, key=lambda spot: (-shared[spot], spot))

    def _make_window(self, number: int, span: tuple[int, int]) -> ClaimWindow:
        """Return the sentences around a span, as far as they fit, following ones first."""
        passage = self._passages[number]
        pieces = passage.sentences
        inside = [at for at, piece in enumerate(pieces) if _overlap((piece.start, piece.end), span)]
        start, end = span
        first, last = (inside[0], inside[-1]) if inside else (0, -1)
        grew = bool(inside)
        while grew:
            grew = False
            if last + 1 < len(pieces) and pieces[last + 1].end - start <= WINDOW:
                last, end, grew = last + 1, max(end, pieces[last + 1].end), True
            if first and end - pieces[first - 1].start <= WINDOW:
                first, start, grew = first - 1, min(start, pieces[first - 1].start), True
        names = next((row.names for at in inside for row in pieces[at].rows if row.names), ())
        words = passage.text[start:end]
        head = " | ".join(names)
        return ClaimWindow(number, (start, end), passage.label, f"{head}\n{words}" if head else words)


def make_rows(windows: Sequence[ClaimWindow]) -> list[tuple[int, str, str]]:
    """Return windows as the rows of an envelope, numbered from 1."""
    return [(at, ", ".join(each.label.split("\n")), each.words) for at, each in enumerate(windows, start=1)]


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]
