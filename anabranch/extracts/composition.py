"""Writes the answer without a model: the best passages, whole, with their places."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from anabranch.citations.citation_record import CitationRecord, piece_of
from anabranch.extracts.best_passages import ShownPassage, shared_weight
from anabranch.extracts.passage_answer import place_line, write_answer
from anabranch.text.language import language_of
from anabranch.text.phrases import phrases_for
from anabranch.types import Chunk, Excerpt

if TYPE_CHECKING:
    from anabranch.store.protocol import CorpusReader, Scope

# Most pieces to compare by meaning: embedding one takes some milliseconds.
MAX_COMPARED = 60


async def mark_best(
    passages: Sequence[ShownPassage],
    question: str,
    idf: Mapping[str, float],
    corpus: CorpusReader,
    *,
    by_meaning: bool,
) -> list[ShownPassage]:
    """Return the passages with the piece of each that fits the question best.

    Args:
        passages: Those that are shown.
        question: The question as it was searched for.
        idf: The question's analysed terms, each with its inverse document frequency.
        corpus: The corpus, which analyses the pieces.
        by_meaning: Whether its embedder compares them, too, unless there are too many.
    """
    spans = await asyncio.to_thread(lambda: [each.pieces for each in passages])
    texts = [each.text[start:end] for each, found in zip(passages, spans, strict=True) for start, end in found]
    worth = np.array([shared_weight(idf, terms) for terms in await corpus.analyse(texts)])
    if by_meaning and len(texts) <= MAX_COMPARED:
        vectors = np.asarray(await asyncio.to_thread(corpus.embedder.embed, [question, *texts]))
        worth = worth + vectors[1:] @ vectors[0]
    ends = np.cumsum([len(found) for found in spans])
    parts = zip(passages, spans, np.split(worth, ends)[:-1], strict=True)
    return [each.with_best(found[int(np.argmax(part))]) if found else each for each, found, part in parts]


async def write_passages(
    passages: Sequence[ShownPassage], question: str, corpus: CorpusReader, scope: Scope, *, is_weak: bool, silence: str
) -> str:
    """Return the answer as Markdown: an introduction in the language of the reader, and the passages.

    Args:
        passages: Those that are shown.
        question: The question as it was asked; the phrases are in its language.
        corpus: The corpus, which knows the places of passages.
        scope: The scope of the caller.
        is_weak: Whether the answer says that the passages match weakly.
        silence: See `phrases_for`.
    """
    # A short question does not reveal its language; the documents are most likely in the reader's.
    words = phrases_for(question, language_of(" ".join(each.text for each in passages)), silence=silence)
    first = words["weak_passages" if is_weak else "passages"]
    places = await _place_lines(passages, corpus, scope)
    return await asyncio.to_thread(write_answer, first, list(zip(places, passages, strict=True)))


async def _place_lines(passages: Sequence[ShownPassage], corpus: CorpusReader, scope: Scope) -> list[str]:
    """Return the place of the best piece of each passage, which may span several pages and sections."""
    spans = [each.best_span for each in passages]
    spots = [
        (span.chunk.doc_id, each.best_from(span.start, span.end)) for span, each in zip(spans, passages, strict=True)
    ]
    places = await corpus.places(spots, scope)
    # External passages have no place in the corpus.
    return [
        place_line(
            span.chunk.source,
            span.chunk.page if place.page is None else place.page,
            place.heading or span.chunk.heading,
        )
        for span, place in zip(spans, places, strict=True)
    ]


def list_excerpts(passages: Sequence[ShownPassage], parents: Mapping[str, str]) -> list[Excerpt]:
    """Return the shown passages as excerpts of the packed passages.

    Args:
        passages: Those that are shown.
        parents: The id of the packed passage by that of each chunk.
    """
    pieces = (
        (each, list(spans), parent)
        for each in passages
        for parent, spans in groupby(each.spans, lambda span: parents[span.chunk.chunk_id])
    )
    return [
        Excerpt(
            number=each.number,
            id=parent,
            start=spans[0].start,
            end=spans[-1].end,
            best=each.best_from(spans[0].start, spans[-1].end),
        )
        for each, spans, parent in pieces
    ]


def list_records(excerpts: Mapping[int, Excerpt], chunks: Mapping[str, Chunk]) -> list[CitationRecord]:
    """Return a citation record for each piece that an answer shows, all of them quoted.

    Args:
        excerpts: The excerpts of the draft by number; pieces that touch share a marker.
        chunks: Their chunks; removed passages get no record.
    """
    quotes = {number: piece_of(chunks[each["id"]], each) for number, each in excerpts.items() if each["id"] in chunks}
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
