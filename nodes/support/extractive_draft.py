"""The draft that needs no model: verbatim sentences of the packed passages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from anabranch.readers.document import Chunk
from anabranch.retrieval.answerability import CALIBRATED, WEAK, WORDLESS, is_answered, statement_match, term_coverage
from anabranch.retrieval.term_statistics import idf_of
from anabranch.store.protocol import CorpusReader
from anabranch.synthesis.english_question_type import Asks, asks_in_english
from anabranch.synthesis.extractive import Sentence, pick, shortlist
from anabranch.synthesis.statements import statements
from anabranch.synthesis.verbatim_text import joined
from nodes.settings import Context
from nodes.state import State
from nodes.support.dependencies import chunks_of, corpus_of, scope_of
from nodes.support.drafts import piece_of
from nodes.support.state_records import NO_DRAFT, Draft, Excerpt

MAX_CANDIDATES = 60
"""Statements embedded at most; to embed one takes as long as to look at a thousand words."""

MIN_CHARS, MAX_CHARS = 20, 600
LAST = 99
"""Rank of a piece of a passage that was split."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A statement, what it says in one line, the title and the headings over it, and what a row is called."""

    sentence: Sentence
    said: str
    heading: str
    label: str


async def composed_draft(context: Context, state: State) -> Draft:
    """Pick the statements that answer, each with its passage's number; none where not one is about the question."""
    corpus = await corpus_of(context)
    # The sentence is chosen for what was asked; the question before it only helped to find the passages.
    question = state["original_question"]
    asks = asks_in_english(question)
    shown = await _shown(context, state, corpus)
    ranks = {passage["id"]: rank for rank, passage in enumerate(state["passages"])}
    found = await asyncio.to_thread(_candidates, shown, ranks, rows=asks.figure or not asks.kind)
    if not found:
        return NO_DRAFT
    texts = [text for one in found for text in (one.said, one.heading, one.label)]
    terms, *analysed = await corpus.analyse([question, *texts])
    able = [
        replace(
            each.sentence,
            terms=tuple(of_text),
            about=frozenset(terms) & frozenset(of_title),
            label=frozenset(of_label),
        )
        for each, of_text, of_title, of_label in zip(found, *(analysed[at::3] for at in range(3)), strict=True)
    ]
    near = await asyncio.to_thread(shortlist, able, terms, asks=asks, limit=MAX_CANDIDATES)
    vectors = np.asarray(
        await asyncio.to_thread(corpus.embedder.embed, [question, *(found[place].said for place in near)])
    )
    idf = await idf_of(corpus, [question], scope_of(context, state.get("active_filters")))
    choose = partial(pick, asks=asks, idf=idf)
    sentences = [able[place] for place in near]
    chosen = await asyncio.to_thread(choose, sentences, terms, vectors[0], vectors[1:])
    known = corpus.embedder.name in CALIBRATED
    cosines = dict(zip(sentences, (vectors[1:] @ vectors[0]).tolist(), strict=True)) if known else {}
    matches = {each: _match(each, terms, idf, cosines.get(each)) for each in chosen}
    best = max(matches, key=lambda each: matches[each], default=None)
    match = matches[best] if best is not None else 0.0
    # Whoever asks for an answer whatever the evidence gets one.
    # A follow-up has too few words of its own to be matched: its passages were judged with the question before it.
    is_alone = question == state["standalone_question"]
    if is_alone and context.grade == "scores":
        answers = is_answered(match, state["evidence_scores"].get("confidence", 0.0))
        if not answers or (match < WEAK and await _lacks_amount(corpus, asks, best)):
            return NO_DRAFT
    return Draft(answer=joined(chosen), window=len(state["windows"]), keeps=0, match=round(match, 4))


async def _lacks_amount(corpus: CorpusReader, asks: Asks, best: Sentence | None) -> bool:
    """Tell whether a quantity is asked for by its name, and the best statement is about all but that."""
    if not asks.amount or best is None:
        return False
    (named,) = await corpus.analyse([asks.amount])
    return not {*best.terms, *best.about} & {*named}


def _match(sentence: Sentence, terms: Sequence[str], idf: Mapping[str, float], cosine: float | None) -> float:
    covered = term_coverage(terms, {*sentence.terms, *sentence.about}, idf) if terms else WORDLESS
    return statement_match(cosine=cosine, covered=covered)


async def _shown(context: Context, state: State, corpus: CorpusReader) -> list[tuple[Excerpt, Chunk]]:
    """Return the excerpts of all windows that are still there, with their passages."""
    excerpts = [excerpt for window in state["windows"] for excerpt in window]
    found = await chunks_of(context, state, [excerpt["id"] for excerpt in excerpts], corpus=corpus)
    return [(excerpt, found[excerpt["id"]]) for excerpt in excerpts if excerpt["id"] in found]


def _candidates(shown: Sequence[tuple[Excerpt, Chunk]], ranks: Mapping[str, int], *, rows: bool) -> list[_Candidate]:
    """Return the statements to choose from, in reading order.

    Args:
        shown: Excerpts with their passages.
        ranks: Position of each passage by relevance.
        rows: Whether rows of tables count as well: one is a figure with its names; prose says anything else better
            that is known to be asked.
    """
    found: list[_Candidate] = []
    for excerpt, chunk in shown:
        rank = ranks.get(chunk.chunk_id, LAST)
        for each in statements(piece_of(chunk, excerpt), chunk.heading.rpartition(" > ")[2]):
            if MIN_CHARS <= len(each.said) <= MAX_CHARS:
                one = Sentence(
                    number=excerpt["number"],
                    text=each.text,
                    terms=(),
                    rank=rank,
                    order=len(found),
                    form=each.form,
                    document=chunk.doc_id,
                    span=(each.start, each.end),
                )
                found.append(_Candidate(one, each.said, f"{chunk.title} {chunk.heading}", each.label))
    prose = [one for one in found if one.sentence.form != "row"]
    return found if rows or not prose else prose
