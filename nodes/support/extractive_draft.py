"""The draft that needs no model: verbatim sentences of the packed passages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from anabranch.readers.document import Chunk
from anabranch.retrieval.term_statistics import idf_of
from anabranch.store.protocol import CorpusReader
from anabranch.synthesis.english_question_type import asks_in_english
from anabranch.synthesis.extractive import Sentence, pick, without_references
from anabranch.synthesis.statements import statements
from nodes.settings import Context
from nodes.state import State
from nodes.support.dependencies import chunks_of, corpus_of, scope_of
from nodes.support.drafts import piece_of
from nodes.support.state_records import NO_DRAFT, Draft, Excerpt

MAX_CANDIDATES = 60
"""Sentences embedded at most; those of the best passages first."""

MIN_CHARS, MAX_CHARS = 20, 600
LAST = 99
"""Rank of a piece of a passage that was split."""


async def composed_draft(context: Context, state: State) -> Draft:
    """Pick the sentences that cover the question, each with its passage's number."""
    corpus = await corpus_of(context)
    # The sentence is chosen for what was asked; the question before it only helped to find the passages.
    question = state["original_question"]
    asks = asks_in_english(question)
    shown = await _shown(context, state, corpus)
    ranks = {passage["id"]: rank for rank, passage in enumerate(state["passages"])}
    found = await asyncio.to_thread(_candidates, shown, ranks, rows=asks.figure)
    if not found:
        return NO_DRAFT
    texts = [question, *(sentence.text for sentence, _ in found)]
    terms, *analysed = await corpus.analyse([*texts, *(around for _, around in found)])
    said, about = analysed[: len(found)], analysed[len(found) :]
    sentences = [
        replace(sentence, terms=tuple(of_text), about=frozenset(terms) & frozenset(of_title))
        for (sentence, _), of_text, of_title in zip(found, said, about, strict=True)
    ]
    vectors = await asyncio.to_thread(corpus.embedder.embed, texts)
    choose = partial(
        pick, asks=asks, idf=await idf_of(corpus, [question], scope_of(context, state.get("active_filters")))
    )
    chosen = await asyncio.to_thread(choose, sentences, terms, vectors[0], np.asarray(vectors[1:]))
    return Draft(
        answer=" ".join(f"{without_references(sentence.text)} [{sentence.number}]" for sentence in chosen),
        window=len(state["windows"]),
        keeps=0,
    )


async def _shown(context: Context, state: State, corpus: CorpusReader) -> list[tuple[Excerpt, Chunk]]:
    """Return the excerpts of all windows that are still there, with their passages."""
    excerpts = [excerpt for window in state["windows"] for excerpt in window]
    found = await chunks_of(context, state, [excerpt["id"] for excerpt in excerpts], corpus=corpus)
    return [(excerpt, found[excerpt["id"]]) for excerpt in excerpts if excerpt["id"] in found]


def _candidates(
    shown: Sequence[tuple[Excerpt, Chunk]], ranks: Mapping[str, int], *, rows: bool
) -> list[tuple[Sentence, str]]:
    """Return the sentences to choose from, those of the best passages first, each with its title and heading.

    Args:
        shown: Excerpts with their passages.
        ranks: Position of each passage by relevance.
        rows: Whether rows of tables count as well: one is a figure with its names; prose says anything else better.
    """
    found: list[tuple[Sentence, str]] = []
    for excerpt, chunk in shown:
        for each in statements(piece_of(chunk, excerpt)):
            if MIN_CHARS <= len(each.text) <= MAX_CHARS:
                rank, order = ranks.get(chunk.chunk_id, LAST), len(found)
                one = Sentence(excerpt["number"], each.text, (), rank, order, each.quote, is_row=each.is_row)
                found.append((one, f"{chunk.title} {chunk.heading}"))
    prose = [one for one in found if not one[0].is_row]
    kept = found if rows or not prose else prose
    return sorted(kept, key=lambda one: (one[0].rank, one[0].order))[:MAX_CANDIDATES]
