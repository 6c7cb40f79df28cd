"""Lists the passages nearest to a question, one line each, when none is known to answer it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING

from anabranch.safety.link_removal import make_plain, name_source
from anabranch.text.language import language_of
from anabranch.text.phrases import phrases_for
from anabranch.types import Chunk

if TYPE_CHECKING:
    from anabranch.store.protocol import CorpusReader
    from anabranch.types import Candidate, Passage

NEAREST = 3
PREVIEW_CHARS = 160


@dataclass(frozen=True, slots=True)
class NearestPassages:
    """A line for each of the nearest passages, and phrases in the reader's language."""

    lines: tuple[str, ...]
    phrases: dict[str, str]

    @property
    def block(self) -> str:
        """The lines under their heading; empty where there are none."""
        return "\n".join((f"{self.phrases['nearest']}:", *self.lines)) if self.lines else ""


def select_leaves(candidates: Sequence[Candidate], passages: Sequence[Passage]) -> list[str]:
    """Return the ids of the leaves that the passages stand for, best first."""
    # Keep the order of the candidates, which is by relevance; merged passages have another order.
    kept = {leaf for passage in passages for leaf in passage["leaves"]}
    return [candidate["id"] for candidate in candidates if candidate["id"] in kept]


def take_fitting(leaves: Sequence[Chunk], budget: int) -> list[Chunk]:
    """Return the first leaves that fit a budget of tokens, at least one."""
    taken: list[Chunk] = []
    for leaf in leaves:
        budget -= leaf.tokens
        if taken and budget < 0:
            break
        taken.append(leaf)
    return taken


async def find_nearest(
    corpus: CorpusReader, chunks: Sequence[Chunk], question: str, asked: str, answer: str = ""
) -> NearestPassages:
    """Return the best leaves, because a parent would begin with unrelated words.

    If a model answered, leaves with most of the words that it added come first: if it is right after all, they show it.

    Args:
        corpus: The corpus, which analyses the words.
        chunks: The found leaves, best first; without an answer the first `NEAREST` are enough.
        question: The question as it was asked; the phrases are in its language.
        asked: The standalone question.
        answer: The answer of a model; empty if there is none.
    """
    near = await _compare(corpus, chunks, asked, answer) if chunks else []
    # A short question does not reveal its language; the documents are most likely in the reader's.
    read = " ".join(chunk.text for chunk, _ in near)
    return NearestPassages(tuple(line for _, line in near), phrases_for(question, language_of(read)))


async def _compare(corpus: CorpusReader, chunks: Sequence[Chunk], asked: str, answer: str) -> list[tuple[Chunk, str]]:
    """Return the nearest leaves, each with its line."""
    from anabranch.extracts.best_passages import lines_of

    by_chunk = await asyncio.to_thread(lambda: [lines_of(chunk) for chunk in chunks])
    asked_terms, answer_terms, *analysed = map(
        set, await corpus.analyse([asked, answer, *chain.from_iterable(by_chunk)])
    )
    terms = iter(analysed)
    near = list[tuple[int, Chunk, str]]()
    for chunk, pieces in zip(chunks, by_chunk, strict=True):
        shared = [
            (len(have & (answer_terms - asked_terms)), len(have & asked_terms))
            for have in (next(terms) for _ in pieces)
        ]
        best = max(shared)
        near.append((best[0], chunk, _line(chunk, pieces[shared.index(best)])))
    near.sort(key=itemgetter(0), reverse=True)
    return [(chunk, line) for _, chunk, line in near[:NEAREST]]


def _line(chunk: Chunk, statement: str) -> str:
    """Return the place of a leaf, and a statement of it."""
    page = f", p. {chunk.page}" if chunk.page is not None else ""
    return f"- {name_source(chunk.source)}{page}: {make_plain(statement, PREVIEW_CHARS)}"
