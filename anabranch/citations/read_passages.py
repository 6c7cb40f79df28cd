"""Reads passages for the claim check while the model writes, and keeps them for the other steps."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from threading import Lock
from typing import NamedTuple

from anabranch.citations.citation_record import LONGEST
from anabranch.citations.quantities import Figure, figures
from anabranch.citations.quote_matching import Folded, fold
from anabranch.citations.time_limit import TimeIsUp, TimeLimit
from anabranch.text.analyzer import analyser
from anabranch.text.language import language_of
from anabranch.text.sentences import running_spans

MOST_CHARACTERS = 400_000
"""Most characters of the passages that a process keeps; ten passages of one question have some 10,000."""

# A passage of one-word lines has thousands of sentences.
_MOST_SENTENCES = 400
_ROW = re.compile(r"\n(?=\|)")


class Sentence(NamedTuple):
    """A sentence of a passage at [start, end), or the row of a table, whose terms include those of its header."""

    start: int
    end: int
    terms: frozenset[str]
    header: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class PassageText:
    """A passage as the model saw it, read once for all claims.

    Attributes:
        id: Id of its chunk.
        text: Its text.
        label: Title, heading and source, which may say what the passage is about.
    """

    id: str
    text: str
    label: str = ""

    @cached_property
    def language(self) -> str:
        """The language it is written in."""
        return language_of(self.text, "english")

    @cached_property
    def folded(self) -> Folded:
        """Its text, folded to look up quotes."""
        return fold(self.text)

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Its numbers and those of its label, each once."""
        return tuple(dict.fromkeys(figures(f"{self.label}\n{self.text}")))

    @cached_property
    def about(self) -> frozenset[str]:
        """The terms of its label."""
        return frozenset(analyser(self.language).terms(self.label))

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its terms and those of its label."""
        return self.about.union(*(each.terms for each in self.sentences))

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences and the rows of its tables, at most 400, each of at most `LONGEST` characters."""
        return tuple(islice(self._read_sentences(), _MOST_SENTENCES))

    def _read_sentences(self) -> Iterator[Sentence]:
        terms = analyser(self.language).terms
        for first, last in running_spans(self.text):
            header, names = (0, 0), frozenset[str]()
            for start, end in _split_rows(self.text, first, last):
                own = frozenset(terms(self.text[start:end]))
                is_row = self.text[start] == "|"
                yield Sentence(start, end, own | names, header) if is_row else Sentence(start, end, own)
                if not is_row or not names:
                    header, names = ((start, end), own) if is_row else ((0, 0), frozenset())

    def around(self, span: tuple[int, int]) -> tuple[int, int]:
        """Return the sentences around a span, or the span itself if they are too long to show."""
        touched = [each for each in self.sentences if each.start < span[1] and span[0] < each.end]
        start, end = min([span[0], *(s.start for s in touched)]), max([span[1], *(s.end for s in touched)])
        return (start, end) if end - start <= LONGEST else (span[0], min(span[1], span[0] + LONGEST))


def _split_rows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence, or each row of a table, without surrounding blanks and in parts of at most `LONGEST`."""
    rows = (match.end() for match in _ROW.finditer(text, start, end))
    for row, following in pairwise([start, *rows, end]):
        piece = text[row:following]
        first, last = row + len(piece) - len(piece.lstrip()), following - len(piece) + len(piece.rstrip())
        while last - first > LONGEST:
            cut = text.rfind(" ", first + LONGEST // 2, first + LONGEST) + 1 or first + LONGEST
            yield first, cut
            first = cut
        if last > first:
            yield first, last


class PassageMemory:
    """A cache of recent passages, so that each is read once for all steps of a turn."""

    def __init__(self, most: int = MOST_CHARACTERS) -> None:
        """Set the most characters to keep."""
        self._most = most
        self._kept: OrderedDict[tuple[str, str, str], PassageText] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def passage(self, chunk_id: str, text: str, label: str) -> PassageText:
        """Return the passage with this text, from the cache if it is there."""
        key = chunk_id, text, label
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                found = self._kept[key] = PassageText(chunk_id, text, label)
                self._size += len(text) + len(label)
            self._kept.move_to_end(key)
            while self._size > self._most:
                (_, gone, its_label), _ = self._kept.popitem(last=False)
                self._size -= len(gone) + len(its_label)
        return found


# Owner: this module. It holds `MOST_CHARACTERS` at most.
_memory = PassageMemory()
passage_text = _memory.passage


def read(passages: Iterable[PassageText], limit: TimeLimit) -> None:
    """Read what every comparison needs of passages, as far as there is time; the rest is read where it is needed."""
    with suppress(TimeIsUp):
        for passage in passages:
            limit.spend()
            _ = passage.terms, passage.figures, passage.folded
