"""The passages that are nearest to a question, a line each, where no passage is known to answer it."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.support.dependencies import chunks_of, corpus_of
from anabranch.extracts.best_passages import lines_of
from anabranch.readers.document import Chunk
from anabranch.safety.link_removal import strip_links
from anabranch.text.language import language_of
from anabranch.text.phrases import phrases_for

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


async def nearest_passages(context: Context, state: State, said: str = "") -> NearestPassages:
    """Return the best leaves; a parent would begin with words that nobody looked for.

    Of an answer that a model wrote (`said`) the leaves with most of the words that it adds to the question come first:
    if it is right after all, it is seen there.
    """
    # In the order of the candidates, which is that of relevance; passages are merged, and their order is another.
    kept = {leaf for passage in state["passages"] for leaf in passage["leaves"]}
    ids = [candidate["id"] for candidate in state["candidates"] if candidate["id"] in kept]
    near = await _compared(context, state, ids if said else ids[:NEAREST], said)
    # A short question does not tell its language; the documents are most likely in the reader's.
    read = " ".join(chunk.text for chunk, _ in near)
    return NearestPassages(tuple(line for _, line in near), phrases_for(state["original_question"], language_of(read)))


async def _compared(context: Context, state: State, ids: list[str], said: str) -> list[tuple[Chunk, str]]:
    if not ids:
        return []
    corpus = await corpus_of(context)
    found = await chunks_of(context, state, ids, corpus=corpus)
    chunks = [found[chunk_id] for chunk_id in ids if chunk_id in found]
    by_chunk = await asyncio.to_thread(lambda: [lines_of(chunk) for chunk in chunks])
    texts = [state["standalone_question"], said, *chain.from_iterable(by_chunk)]
    asked, answered, *analysed = map(set, await corpus.analyse(texts))
    terms = iter(analysed)
    near = list[tuple[int, Chunk, str]]()
    for chunk, pieces in zip(chunks, by_chunk, strict=True):
        shared = [(len(have & (answered - asked)), len(have & asked)) for have in (next(terms) for _ in pieces)]
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
