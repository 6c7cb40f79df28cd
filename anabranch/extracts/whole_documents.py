"""What can be shown of whole documents without a model: the outline of one, and counts by exact search in all."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anabranch.extracts.best_passages import spans_without_titles
from anabranch.extracts.passage_answer import place_line
from anabranch.safety.link_removal import make_plain
from anabranch.store.records import embedded_text
from anabranch.types import Chunk, Excerpt

if TYPE_CHECKING:
    from anabranch.store.protocol import CorpusReader

MOST_ENTRIES = 100
"""Sections or documents that are listed; how many more there are is said."""

MOST_SENTENCE = 300
MOST_WORDS = 32

Batches = AsyncIterator[Sequence[Chunk]]


@dataclass(slots=True)
class ListedPart:
    """A line of the list: what it says, the piece of a leaf that it cites, and how deep it stands."""

    text: str
    leaf: Chunk
    start: int
    end: int
    depth: int = 0


@dataclass(slots=True)
class WholeList:
    """The lines of an answer without a model, and how many lines were left out."""

    first: str
    parts: list[ListedPart] = field(default_factory=list)
    more: int = 0

    def write(self) -> str:
        """Return the answer as Markdown, with a marker in each line."""
        # A title around everything is no level.
        least = min((part.depth for part in self.parts), default=0)
        lines = [
            f"{'  ' * (part.depth - least)}- {part.text} [{number}]" for number, part in enumerate(self.parts, start=1)
        ]
        more = [f"- ... {self.more:,}"] if self.more else []
        return "\n".join([self.first, "", *lines, *more])

    def list_excerpts(self, parents: Mapping[str, str]) -> list[Excerpt]:
        """Return what the lines cite; `parents` has the passage that stands for each leaf."""
        return [
            Excerpt(
                number=number, id=parents.get(part.leaf.chunk_id, part.leaf.chunk_id), start=part.start, end=part.end
            )
            for number, part in enumerate(self.parts, start=1)
        ]


async def list_outline(batches: Batches, first: str) -> WholeList:
    """Return the sections of a document in reading order, each with its first sentence.

    Args:
        batches: Its leaves in reading order.
        first: The first line of the answer.
    """
    found, known = WholeList(first), set[str]()
    async for leaves in batches:
        for part in await asyncio.to_thread(_list_sections, leaves, known):
            if len(found.parts) < MOST_ENTRIES:
                found.parts.append(part)
            else:
                found.more += 1
    return found


def _list_sections(leaves: Sequence[Chunk], known: set[str]) -> list[ListedPart]:
    return list(_sections(leaves, known))


def _sections(leaves: Sequence[Chunk], known: set[str]) -> Iterator[ListedPart]:
    for leaf in leaves:
        if leaf.heading in known:
            continue
        # A leaf that has only a title says nothing yet: the next one of the section does.
        if (span := next(iter(spans_without_titles(leaf.text, [leaf])), None)) is None:
            continue
        known.add(leaf.heading)
        start, end = span[0], min(span[1], span[0] + MOST_SENTENCE)
        name, sentence = make_plain(leaf.heading.rpartition(" > ")[2]), make_plain(leaf.text[start:end])
        line = f"**{name}**: {sentence}" if name else sentence
        yield ListedPart(line, leaf, leaf.start + start, leaf.start + end, leaf.heading.count(" > "))


async def count_holding(
    corpus: CorpusReader, batches: Batches, words: Sequence[str], phrases: Mapping[str, str]
) -> WholeList | None:
    """Return how many passages of each document hold all of some words, as BM25 sees them.

    Without such a passage, how many hold each of the words; None if no passage holds any.

    Args:
        corpus: The corpus, which analyses the words.
        batches: All leaves in reading order.
        words: Those of the question; words that search ignores do not count.
        phrases: Those of the reader's language.
    """
    words = list(dict.fromkeys(words))[:MOST_WORDS]
    named: dict[str, str] = {}
    for word, terms in zip(words, await corpus.analyse(words), strict=True):
        for term in terms:
            named.setdefault(term, word)
    if not named:
        return None
    by_source, by_term = Counter[str](), Counter[str]()
    first_of: dict[str, Chunk] = {}
    async for leaves in batches:
        texts = [embedded_text(leaf.title, leaf.heading, leaf.text) for leaf in leaves]
        for leaf, terms in zip(leaves, await corpus.analyse(texts), strict=True):
            held = named.keys() & set(terms)
            by_term.update(held)
            for term in held:
                first_of.setdefault(f"word {term}", leaf)
            if len(held) == len(named):
                by_source[leaf.source] += 1
                first_of.setdefault(f"source {leaf.source}", leaf)
    return _write_counts(by_source, by_term, first_of, named, phrases)


def _write_counts(
    by_source: Counter[str],
    by_term: Counter[str],
    first_of: Mapping[str, Chunk],
    named: Mapping[str, str],
    phrases: Mapping[str, str],
) -> WholeList | None:
    words = ", ".join(dict.fromkeys(named.values()))
    if by_source:
        counts = phrases["counts"].format(passages=f"{by_source.total():,}", documents=f"{len(by_source):,}")
        found = WholeList(f"{phrases['holding']} ({words}). {counts}")
        lines = [(place_line(source, None, ""), number, f"source {source}") for source, number in by_source.items()]
    elif by_term:
        found = WholeList(f"{phrases['holding_any']} ({words}).")
        lines = [(named[term], number, f"word {term}") for term, number in by_term.most_common()]
    else:
        return None
    for text, number, key in lines[:MOST_ENTRIES]:
        leaf = first_of[key]
        found.parts.append(ListedPart(f"{text}: {number:,}", leaf, leaf.start, leaf.end))
    found.more = max(len(lines) - MOST_ENTRIES, 0)
    return found
