"""What is shown of whole documents without a model: the outline of one, or which of all hold a question's words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anabranch.extracts.best_passages import ChunkSpan, ShownPassage, spans_without_titles
from anabranch.extracts.composition import mark_best
from anabranch.extracts.passage_answer import place_line, round_references
from anabranch.safety.link_removal import make_plain
from anabranch.types import Chunk, Excerpt

if TYPE_CHECKING:
    from anabranch.store.protocol import CorpusReader

MOST_ENTRIES = 100
"""Lines of a list; how many more sections or documents there are is said."""

MOST_SENTENCE = 300
MOST_WORDS = 32

BATCH = 500
"""Leaves that are read at once where all of them are."""

ReadChunks = Callable[[Sequence[str]], Awaitable[Mapping[str, Chunk]]]
_Spot = tuple[Chunk, tuple[int, int]]


@dataclass(slots=True)
class WholeList:
    """The lines of an answer without a model with their depths, what they cite, and how many lines were left out."""

    first: str
    lines: list[tuple[int, str]] = field(default_factory=list)
    shown: list[Excerpt] = field(default_factory=list)
    more: int = 0

    def add(self, name: str, leaf: Chunk, sentence: tuple[int, int], quote: tuple[int, int], depth: int) -> None:
        """Add a line of a plain name and a sentence of a leaf; it cites a piece [start, end) of the leaf's text."""
        number, text = len(self.shown) + 1, make_plain(leaf.text[slice(*sentence)], MOST_SENTENCE)
        line = round_references(": ".join(filter(None, (name, text))))
        self.lines.append((depth, f"- {line} [{number}]"))
        start, end = (leaf.start + at for at in quote)
        self.shown.append(Excerpt(number=number, id=leaf.chunk_id, start=start, end=end))

    def write(self) -> str:
        """Return the answer as Markdown, with a marker in each line."""
        # A title around everything is no level.
        least = min((depth for depth, _ in self.lines), default=0)
        more = [f"- ... {self.more:,}"] if self.more else []
        return "\n".join([self.first, "", *(f"{'  ' * (depth - least)}{line}" for depth, line in self.lines), *more])


async def list_outline(read: ReadChunks, passages: Mapping[str, str], first: str) -> WholeList:
    """Return the sections of a document in reading order, each with its first sentence.

    Without headings, the pages or, of a text without pages, the larger passages stand in their place. Of more than
    `MOST_ENTRIES`, as many are listed, spread evenly.

    Args:
        read: Returns leaves by their ids; those that were removed are absent.
        passages: For each of its leaves in reading order, by id, the larger passage.
        first: The first line of the answer.
    """
    spots, known, ids = list[_Spot](), set[tuple[str, int | str]](), list(passages)
    for start in range(0, len(ids), BATCH):
        leaves = await read(ids[start : start + BATCH])
        spots += await asyncio.to_thread(_list_spots, leaves.values(), known, passages)
    sections: dict[str, _Spot] = {}
    for spot in spots:
        sections.setdefault(spot[0].heading, spot)
    # A title around everything is no heading.
    is_headed = len(sections) > 1
    whole = list(sections.values()) if is_headed else spots
    shown = min(len(whole), MOST_ENTRIES)
    found = WholeList(first, more=len(whole) - shown)
    for leaf, span in (whole[at * len(whole) // shown] for at in range(shown)):
        page = f"p. {leaf.page}" if leaf.page is not None else ""
        name = make_plain(leaf.heading.rpartition(" > ")[2]) if is_headed else page
        found.add(f"**{name}**" if name else "", leaf, span, span, leaf.heading.count(" > "))
    return found


def _list_spots(leaves: Iterable[Chunk], known: set[tuple[str, int | str]], passages: Mapping[str, str]) -> list[_Spot]:
    """Return the first sentence of each part that is not known yet."""
    spots: list[_Spot] = []
    for leaf in leaves:
        key = leaf.heading, passages.get(leaf.chunk_id, leaf.chunk_id) if leaf.page is None else leaf.page
        # A leaf that has only a title says nothing yet: the next one of the part does.
        if key not in known and (spans := spans_without_titles(leaf.text, [leaf])):
            known.add(key)
            spots.append((leaf, spans[0]))
    return spots


def find_documents(
    held: Mapping[str, Mapping[str, frozenset[str]]], weights: Mapping[str, float]
) -> tuple[list[list[str]], bool]:
    """Return the documents that hold all of some terms, and True; where none does, those that hold some, and False.

    A document is ids of leaves that together hold its terms; those with the rarest terms come first. `held` has for
    each document, in reading order, the terms of its leaves by their ids; `weights` how rare each term is.
    """
    terms_of = {name: frozenset[str]().union(*leaves.values()) for name, leaves in held.items()}
    in_all = any(len(terms) == len(weights) for terms in terms_of.values())
    found = [name for name, terms in terms_of.items() if len(terms) == len(weights) or not in_all]
    found.sort(key=lambda name: sum(map(weights.__getitem__, terms_of[name])), reverse=True)
    return [_select_leaves(held[name]) for name in found], in_all


def _select_leaves(leaves: Mapping[str, frozenset[str]]) -> list[str]:
    """Return for each term the leaf that holds it with most other terms."""
    ranked = sorted(leaves, key=lambda leaf: len(leaves[leaf]), reverse=True)
    chosen = {term: leaf for leaf in reversed(ranked) for term in leaves[leaf]}.values()
    return [leaf for leaf in leaves if leaf in chosen]


async def list_documents(
    corpus: CorpusReader, leaves: Sequence[tuple[Chunk, bool]], weights: Mapping[str, float], first: str
) -> WholeList:
    """Return a list of leaves, each with its place and the sentence that has most of some terms.

    Args:
        corpus: The corpus, which analyses the sentences.
        leaves: The leaves; of each document, all but the first one are further ones.
        weights: The terms, with their weights.
        first: The first line of the answer.
    """
    shown = [ShownPassage(0, (ChunkSpan(leaf, leaf.start, leaf.end),), leaf.text) for leaf, _ in leaves]
    marked = await mark_best(shown, "", weights, corpus, by_meaning=False)
    found = WholeList(first)
    for (leaf, further), each in zip(leaves, marked, strict=True):
        place = place_line(leaf.source, leaf.page, leaf.heading)
        found.add(place, leaf, each.best, (0, len(leaf.text)), int(further))
    return found
