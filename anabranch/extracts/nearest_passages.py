"""The passages that are nearest to a question, a line each, where no passage is known to answer it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING

from anabranch.safety.link_removal import strip_links
from anabranch.text.language import language_of
from anabranch.text.phrases import phrases_for
from anabranch.types import Chunk

if TYPE_CHECKING:
    from anabranch.store.protocol import CorpusReader
    from anabranch.types import Candidate, Passage

NEAREST = 3
PREVIEW_CHARS = 160
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s<>\[\]]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NearestPassages:
    """A line for each of the nearest passages, and the phrases for the one who reads them."""

    lines: tuple[str, ...]
    phrases: dict[str, str]

    @property
    def block(self) -> str:
        """The lines under their heading; empty where there are none."""
        return "\n".join((f"{self.phrases['nearest']}:", *self.lines)) if self.lines else ""


def select_leaves(candidates: Sequence[Candidate], passages: Sequence[Passage]) -> list[str]:
    """Return the ids of the leaves that the passages stand for, best first."""
    # In the order of the candidates, which is that of relevance; passages are merged, and their order is another.
    kept = {leaf for passage in passages for leaf in passage["leaves"]}
    return [candidate["id"] for candidate in candidates if candidate["id"] in kept]


async def find_nearest(
    corpus: CorpusReader, chunks: Sequence[Chunk], question: str, asked: str, answer: str = ""
) -> NearestPassages:
    """Return the best leaves; a parent would begin with words that nobody looked for.

    Where a model answered, the leaves with most of the words that it adds to the question come first: if it is right
    after all, it is seen there.

    Args:
        corpus: Analyses the words.
        chunks: Leaves that were found, best first; without an answer the first `NEAREST` are enough.
        question: As it was asked; the phrases are in its language.
        asked: The question as it stands alone.
        answer: What a model wrote; empty where none did.
    """
    near = await _compare(corpus, chunks, asked, answer) if chunks else []
    # A short question does not tell its language; the documents are most likely in the reader's.
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
    """Return where a leaf is, and a statement of it."""
    page = f", p. {chunk.page}" if chunk.page is not None else ""
    # A link in it is no source: the passage is one, and is named.
    shown = strip_links(statement)
    line = f"- {chunk.source}{page}: {shown[:PREVIEW_CHARS]}{' ...' if len(shown) > PREVIEW_CHARS else ''}"
    # The address of a page stays; any other name may be its author's, and hold more than a name.
    return line if _ADDRESS.fullmatch(chunk.source) else strip_links(line)
