"""The draft that needs no model: the best passages whole, and where each of them stands."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.support.dependencies import chunks_of, corpus_of, scope_of
from anabranch.agent.nodes.support.drafts import piece_of
from anabranch.agent.nodes.support.question_words import as_searched
from anabranch.agent.nodes.support.state_records import NO_DRAFT, Draft, Excerpt
from anabranch.citations.verification import CitationRecord
from anabranch.extracts.best_passages import ShownPassage, best_passages, shared_weight
from anabranch.extracts.passage_answer import place_line, written_answer
from anabranch.readers.document import Chunk
from anabranch.retrieval.answerability import CALIBRATED, WEAK
from anabranch.retrieval.term_statistics import idf_of
from anabranch.store.protocol import CorpusReader
from anabranch.text.language import language_of
from anabranch.text.phrases import phrases_for

# Pieces of passages that are compared by meaning: embedding one takes some milliseconds.
MAX_COMPARED = 60


async def composed_draft(context: Context, state: State) -> Draft:
    """Write down the passages that match best; none where the windows hold none."""
    corpus = await corpus_of(context)
    passages = best_passages(await _leaves(context, state, corpus))
    if not passages:
        return NO_DRAFT
    passages = await _with_best(context, state, corpus, passages)
    # A short question does not tell its language; the documents are most likely in the reader's.
    words = phrases_for(state["original_question"], language_of(" ".join(each.text for each in passages)))
    first = words["weak_passages" if is_weak(state) else "passages"]
    places = await _place_lines(context, state, corpus, passages)
    return Draft(
        answer=await asyncio.to_thread(written_answer, first, list(zip(places, passages, strict=True))),
        window=len(state["windows"]),
        keeps=0,
        shown=_excerpts(state, passages),
    )


def _excerpts(state: State, passages: Sequence[ShownPassage]) -> list[Excerpt]:
    """Return what is shown as pieces of the passages in the windows, whose ids the result names."""
    packed = {leaf: passage["id"] for passage in state["passages"] for leaf in passage["leaves"]}
    pieces = (
        (each, list(leaves), key)
        for each in passages
        for key, leaves in groupby(each.leaves, lambda leaf: packed[leaf.chunk.chunk_id])
    )
    return [
        Excerpt(
            number=each.number,
            id=key,
            start=leaves[0].start,
            end=leaves[-1].end,
            best=each.best_from(leaves[0].start, leaves[-1].end),
        )
        for each, leaves, key in pieces
    ]


def is_weak(state: State) -> bool:
    """Tell whether it is more likely than not that the passages do not answer."""
    return state["evidence_scores"].get("confidence", 1.0) < WEAK


async def current_draft(context: Context, state: State) -> Draft:
    """Return the draft; it is written anew where a passage of it was removed, or hidden from the caller, meanwhile."""
    ids = {each["id"] for each in state["draft"].get("shown", [])}
    found = await chunks_of(context, state, list(ids))
    return state["draft"] if ids <= found.keys() else await composed_draft(context, state)


def shown_records(excerpts: Mapping[int, Excerpt], found: Mapping[str, Chunk]) -> list[CitationRecord]:
    """Return a record for each piece that an answer shows: its words stand there, whatever they answer.

    Args:
        excerpts: What the draft shows, by numbers of their own: pieces that touch share a marker.
        found: Their chunks; passages that are gone by now have no record.
    """
    quotes = {number: piece_of(found[each["id"]], each) for number, each in excerpts.items() if each["id"] in found}
    return [
        CitationRecord(
            marker=excerpts[number]["number"],
            number=number,
            chunk_id=excerpts[number]["id"],
            claim="",
            grade="quoted",
            quote=quote,
            start=0,
            end=len(quote),
        )
        for number, quote in quotes.items()
    ]


async def _place_lines(
    context: Context, state: State, corpus: CorpusReader, passages: Sequence[ShownPassage]
) -> list[str]:
    """Return where the best words of each passage stand: it may run over several pages and sections."""
    leaves = [each.best_leaf for each in passages]
    spots = [
        (leaf.chunk.doc_id, each.best_from(leaf.start, leaf.end)) for leaf, each in zip(leaves, passages, strict=True)
    ]
    places = await corpus.places(spots, scope_of(context, state.get("active_filters")))
    # Passages of external retrievers have no place in the corpus.
    return [
        place_line(
            leaf.chunk.source,
            leaf.chunk.page if place.page is None else place.page,
            place.heading or leaf.chunk.heading,
        )
        for leaf, place in zip(leaves, places, strict=True)
    ]


async def _leaves(context: Context, state: State, corpus: CorpusReader) -> list[Chunk]:
    """Return the leaves that were found, best first, of the passages in the windows: those have no duplicates."""
    packed = {excerpt["id"] for window in state["windows"] for excerpt in window}
    kept = {leaf for passage in state["passages"] if passage["id"] in packed for leaf in passage["leaves"]}
    ids = [candidate["id"] for candidate in state["candidates"] if candidate["id"] in kept]
    found = await chunks_of(context, state, ids, corpus=corpus)
    return [found[chunk_id] for chunk_id in ids if chunk_id in found]


async def _with_best(
    context: Context, state: State, corpus: CorpusReader, passages: Sequence[ShownPassage]
) -> list[ShownPassage]:
    """Return the passages with the piece of each that fits the question best, by its words and by its meaning."""
    question = as_searched(state)
    spans = await asyncio.to_thread(lambda: [each.pieces for each in passages])
    texts = [each.text[start:end] for each, found in zip(passages, spans, strict=True) for start, end in found]
    idf = await idf_of(corpus, [question], scope_of(context, state.get("active_filters")))
    worth = np.array([shared_weight(idf, terms) for terms in await corpus.analyse(texts)])
    # Another embedder may be a server's, at a price.
    if corpus.embedder.name in CALIBRATED and len(texts) <= MAX_COMPARED:
        vectors = np.asarray(await asyncio.to_thread(corpus.embedder.embed, [question, *texts]))
        worth = worth + vectors[1:] @ vectors[0]
    ends = np.cumsum([len(found) for found in spans])[:-1]
    parts = zip(passages, spans, np.split(worth, ends), strict=True)
    return [each.fitting(found[int(np.argmax(part))]) if found else each for each, found, part in parts]
