"""Where two passages together speak of a question: one tells whom or what it describes, the other what it asks of that.

"Who heads the company that built the bridge?" - one passage has the bridge and its builder, another one the builder and
its head. Questions over several documents are mostly of this form (HotpotQA, Yang et al. 2018, calls the name that both
have a bridge entity).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

from anabranch.citations.passage_text import PassageText
from anabranch.citations.question_places import QuestionPlaces
from anabranch.citations.tokens import Token

# Share of the question's words, weighted by rarity, that two linked sentences need: chosen on the questions of
# evals/synthesis whose split is dev.
LEAST_LINKED = 0.3

_Name = tuple[str, str]


class _Said(NamedTuple):
    names: frozenset[_Name]
    own: frozenset[str]


class LinkedPlaces:
    """The sentences of some passages that a name links to one of another passage.

    A name is two capitalised words in a row: one alone, such as a country or a month, links anything. Writing without
    capitals has none, and no links.
    """

    def __init__(self, question: frozenset[str], passages: Mapping[int, PassageText], places: QuestionPlaces) -> None:
        """Read the passages for the stems of a question; nothing is compared before it is asked for."""
        self._question = question
        self._passages = passages
        self._places = places

    def link(self, number: int, at: int, answer: frozenset[str]) -> frozenset[str]:
        """Return the names by which a sentence speaks of the question together with one of another passage.

        Args:
            number: Of the passage.
            at: Place of the sentence in it.
            answer: Stems and numbers of the answer: it is in doubt, and links nothing. A name that it says beside what
                it answers does: "Karl Ost, who built it, was born in 1850."

        Returns:
            Stems; none where no other passage makes it speak of the question.
        """
        here, label = self._sentences[number][at], self._labels[number]
        # The row of a table names its columns, as every other row does.
        if self._passages[number].sentences[at].rows or not here.own | label.own:
            return frozenset()
        ours = {name for name in here.names | label.names if answer.isdisjoint(name) or answer > {*name}}
        found: set[str] = set()
        for other, sentences in self._sentences.items():
            theirs = self._labels[other]
            # What both are headed by says only that they are of one document.
            names = ours - (label.names & theirs.names)
            for there in sentences if other != number and names else ():
                shared = names & (there.names | theirs.names)
                if shared and self._places.share(here.own | there.own, label.own | theirs.own) >= LEAST_LINKED:
                    found.update(chain.from_iterable(shared))
        return frozenset(found)

    @cached_property
    def _sentences(self) -> dict[int, list[_Said]]:
        return {
            number: [
                _Said(frozenset() if piece.rows else self._names(piece.tokens), piece.terms & self._question)
                for piece in passage.sentences
            ]
            for number, passage in self._passages.items()
        }

    @cached_property
    def _labels(self) -> dict[int, _Said]:
        return {
            number: _Said(self._names(passage.about.tokens), passage.about.terms & self._question)
            for number, passage in self._passages.items()
        }

    def _names(self, read: Sequence[Token]) -> frozenset[_Name]:
        """Return the pairs of capitalised words, as stems, but for those that the question has itself."""
        found = (
            (one.terms[0], other.terms[0])
            for one, other in pairwise(read)
            if one.capital
            and other.capital
            and one.terms
            and other.terms
            # The stop of an initial parts no name: "M. Ward".
            and (not other.opens or len(one.text) == 1)
        )
        return frozenset(name for name in found if not self._question.issuperset(name))
