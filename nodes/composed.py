"""The draft that needs no model: verbatim sentences of the packed passages."""

from __future__ import annotations

import asyncio
from functools import partial

import numpy as np

from anabranch.asking import asks_of
from anabranch.composing import Sentence, pick, without_references
from anabranch.statements import statements
from graph.context import Context
from graph.state import Draft, State
from nodes.resources import chunks_of, corpus_of, scope_of
from nodes.writing import piece_of

MAX_CANDIDATES = 60
"""Sentences embedded at most; those of the best passages first."""

MIN_CHARS, MAX_CHARS = 20, 600
LAST = 99
"""Rank of a piece of a passage that was split."""


async def composed_draft(context: Context, state: State) -> Draft:
    """Pick the sentences that cover the question, each with its passage's number and its words as the quote."""
    corpus = await corpus_of(context)
    # The sentence is chosen for what was asked; the question before it only helped to find the passages.
    question = state["asked"]
    terms = await corpus.analyse(question)
    asks = asks_of(question)
    sentences = await _sentences(context, state, frozenset(terms))
    # A row of a table is a figure with its names; prose says anything else better.
    prose = [each for each in sentences if not each.is_row]
    sentences = (sentences if asks.figure or not prose else prose)[:MAX_CANDIDATES]
    if not sentences:
        return Draft(answer="", quotes={}, window=0, keeps=0, found=False, missing="")
    texts = [question, *(sentence.text for sentence in sentences)]
    vectors = await asyncio.to_thread(corpus.embedder.embed, texts)
    choose = partial(pick, asks=asks, idf=await corpus.idf([question], scope_of(context, state.get("narrowed"))))
    chosen = await asyncio.to_thread(choose, sentences, terms, vectors[0], np.asarray(vectors[1:]))
    quotes: dict[str, list[str]] = {}
    for sentence in chosen:
        quotes.setdefault(str(sentence.number), []).append(sentence.quote or sentence.text)
    return Draft(
        answer=" ".join(f"{without_references(sentence.text)} [{sentence.number}]" for sentence in chosen),
        quotes=quotes,
        window=len(state["windows"]),
        keeps=0,
        found=bool(chosen),
        missing="",
    )


async def _sentences(context: Context, state: State, terms: frozenset[str]) -> list[Sentence]:
    """Return the candidates, those of the best passages first."""
    corpus = await corpus_of(context)
    excerpts = [excerpt for window in state["windows"] for excerpt in window]
    found = await chunks_of(context, state, [excerpt["id"] for excerpt in excerpts], corpus=corpus)
    ranks = {passage["id"]: rank for rank, passage in enumerate(state["passages"])}
    result: list[Sentence] = []
    for excerpt in excerpts:
        chunk = found.get(excerpt["id"])
        if chunk is None:
            continue
        rank = ranks.get(chunk.chunk_id, LAST)
        about = terms & frozenset(await corpus.analyse(f"{chunk.title} {chunk.heading}"))
        for each in statements(piece_of(chunk, excerpt)):
            if MIN_CHARS <= len(each.text) <= MAX_CHARS:
                said = tuple(await corpus.analyse(each.text))
                row = Sentence(excerpt["number"], each.text, said, rank, len(result), each.quote, about, each.is_row)
                result.append(row)
    return sorted(result, key=lambda sentence: (sentence.rank, sentence.order))
