"""The draft that needs no model: verbatim sentences of the packed passages."""

from __future__ import annotations

import asyncio
import re
from functools import partial

import numpy as np

from anabranch.composing import Sentence, asks_figure, pick, says_something, without_references
from anabranch.corpus.sentences import spans
from graph.context import Context
from graph.state import Draft, State
from nodes.resources import chunks_of, corpus_of
from nodes.writing import piece_of

MAX_CANDIDATES = 60
"""Sentences embedded at most; those of the best passages first."""

MIN_CHARS, MAX_CHARS = 20, 600

_BULLET = re.compile(r"^(?:[-*+•‣·–]|\d{1,3}[.)])\s+")


async def composed_draft(context: Context, state: State) -> Draft:
    """Pick the sentences that cover the question, each with its passage's number and itself as the quote."""
    corpus = await corpus_of(context)
    # The sentence is chosen for what was asked; the question before it only helped to find the passages.
    question = state["asked"]
    sentences = await _sentences(context, state)
    if not sentences:
        return Draft(answer="", quotes={}, window=0, keeps=0, found=False, missing="")
    texts = [question, *(sentence.text for sentence in sentences)]
    vectors = await asyncio.to_thread(corpus.embedder.embed, texts)
    terms = await corpus.analyse(question)
    choose = partial(pick, figure=asks_figure(question))
    chosen = await asyncio.to_thread(choose, sentences, terms, vectors[0], np.asarray(vectors[1:]))
    quotes: dict[str, list[str]] = {}
    for sentence in chosen:
        quotes.setdefault(str(sentence.number), []).append(sentence.text)
    return Draft(
        answer=" ".join(f"{without_references(sentence.text)} [{sentence.number}]" for sentence in chosen),
        quotes=quotes,
        window=len(state["windows"]),
        keeps=0,
        found=bool(chosen),
        missing="",
    )


async def _sentences(context: Context, state: State) -> list[Sentence]:
    corpus = await corpus_of(context)
    excerpts = [excerpt for window in state["windows"] for excerpt in window]
    found = await chunks_of(context, state, [excerpt["id"] for excerpt in excerpts], corpus=corpus)
    ranks = {passage["id"]: rank for rank, passage in enumerate(state["passages"])}
    result: list[Sentence] = []
    for excerpt in excerpts:
        chunk = found.get(excerpt["id"])
        if chunk is None:
            continue
        piece = piece_of(chunk, excerpt)
        for start, end in spans(piece):
            text = _BULLET.sub("", " ".join(piece[start:end].split()))
            if MIN_CHARS <= len(text) <= MAX_CHARS and says_something(text):
                terms = tuple(await corpus.analyse(text))
                result.append(Sentence(excerpt["number"], text, terms, ranks.get(chunk.chunk_id, 99), len(result)))
    return sorted(result, key=lambda sentence: (sentence.rank, sentence.order))[:MAX_CANDIDATES]
