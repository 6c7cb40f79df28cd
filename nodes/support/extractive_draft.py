"""The draft that needs no model: verbatim sentences of the packed passages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.support.dependencies import chunks_of, corpus_of, scope_of
from anabranch.agent.nodes.support.drafts import piece_of
from anabranch.agent.nodes.support.question_words import as_asked, as_searched, light_terms, words_by_term
from anabranch.agent.nodes.support.state_records import NO_DRAFT, Draft, Excerpt
from anabranch.citations.table_cells import row_cells
from anabranch.models.embedder import Embedder
from anabranch.readers.document import Chunk
from anabranch.retrieval.answerability import CALIBRATED, WEAK, WORDLESS, is_answered, statement_match, term_coverage
from anabranch.retrieval.conversation import as_meant
from anabranch.retrieval.term_statistics import idf_of
from anabranch.store.protocol import CorpusReader
from anabranch.synthesis.english_question_type import Asks
from anabranch.synthesis.extractive import Sentence, pick, shortlist
from anabranch.synthesis.named_subject import named_subject
from anabranch.synthesis.question_type import asks_of
from anabranch.synthesis.statements import Statement, statements
from anabranch.synthesis.verbatim_text import joined
from anabranch.text.function_words import NO, YES, fold_word
from anabranch.text.language import language_of
from anabranch.text.quantity_questions import measure_words

# Statements embedded at most; to embed one takes as long as to look at a thousand words.
MAX_CANDIDATES = 60
MIN_CHARS, MAX_CHARS = 20, 600
# Rank of a piece of a passage that was split.
LAST = 99


async def composed_draft(context: Context, state: State) -> Draft:
    """Pick the statements that answer, each with its passage's number; none where not one is about the question."""
    corpus = await corpus_of(context)
    shown = await _shown(context, state, corpus)
    # What a short question does not tell of its language, the passages do.
    spoken = language_of(" ".join(chunk.text for _, chunk in shown))
    original, standalone = as_asked(state), state["standalone_question"]
    # The sentence is chosen for what was asked; the question before it helped to find the passages, and says what is
    # asked about where a follow-up does not.
    question = as_meant(original, standalone, language_of(original, spoken or "english"))
    asks = _asks(original, question, spoken)
    # Whoever asks for an answer whatever the evidence gets one.
    scored = context.grade == "scores"
    about = await asyncio.to_thread(_about_what_is_named, question, spoken, shown) if scored else shown
    found = await asyncio.to_thread(_candidates, about)
    if not found:
        return NO_DRAFT
    ranks = {passage["id"]: rank for rank, passage in enumerate(state["passages"])}
    texts = [text for _, chunk, one in found for text in (one.said, _over(chunk, one), one.label)]
    analysed = await corpus.analyse(texts)
    said, titles, labels = (analysed[at::3] for at in range(3))
    # A follow-up is matched as it is meant: the question before it is in what was searched for.
    is_alone = original == standalone
    asked = as_searched(state) if is_alone else question
    words = await words_by_term(corpus, asked)
    light = light_terms(words, asked, spoken or "english")
    terms = _without_measures(words, measure_words(asked))
    able = [
        Sentence(
            number=excerpt["number"],
            text=one.text,
            terms=tuple(said[at]),
            rank=ranks.get(chunk.chunk_id, LAST),
            order=at,
            about=frozenset(words) & frozenset(titles[at]),
            form=one.form,
            document=chunk.doc_id,
            span=(one.start, one.end),
            label=frozenset(labels[at]),
        )
        for at, (excerpt, chunk, one) in enumerate(found)
    ]
    if asks.kind and not asks.figure:
        rows = [_told_by_row(one) if one.form == "row" else ("", "") for *_, one in found]
        own = await corpus.analyse([said for said, _ in rows])
        denied = await corpus.analyse([denied for _, denied in rows])
        able = _without_rows(able, own, denied, frozenset(terms) - light)
    able = [each for each in able if not _has_light_words_alone(each, terms, light)] or able
    near = await asyncio.to_thread(shortlist, able, terms, asks=asks, limit=MAX_CANDIDATES)
    # Only the best by words are embedded: that takes by far the longest.
    ones = [found[able[place].order][2] for place in near]
    asked_vector, vectors, nearness = await asyncio.to_thread(_compared, corpus.embedder, question, ones)
    idf = await idf_of(corpus, [asked], scope_of(context, state.get("active_filters")))
    # A light word is not worth a further sentence.
    choose = partial(pick, asks=asks, idf={**idf, **dict.fromkeys(light, 0.0)}, cosines=nearness)
    sentences = [able[place] for place in near]
    chosen = await asyncio.to_thread(choose, sentences, terms, asked_vector, vectors)
    known = corpus.embedder.name in CALIBRATED
    cosines = dict(zip(sentences, nearness.tolist(), strict=True)) if known else {}
    # With the words that ask how much, as it was fitted.
    matches = {each: _match(each, list(words), idf, cosines.get(each), light) for each in chosen}
    # By the best of them: further statements are chosen for what they add, and may match less.
    telling = frozenset(terms) - light
    answering = [each for each in matches if not asks.needed or _has_kind(each, asks, telling)]
    best = max(answering, key=lambda each: matches[each], default=None)
    match = matches[best] if best is not None else 0.0
    # A follow-up may have too few words of its own to be judged by: its passages were, with the question before it.
    if scored and (is_alone or question != original):
        # Where passages that are about something else were left out, the evidence is no more what was judged.
        sure = state["evidence_scores"].get("confidence", 0.0) if len(about) == len(shown) else 0.0
        # Statements with one word of several each are about something else, however sure the passages are; of two words
        # one may be said in another way, but where a date or a number has to be there.
        several = len(telling) > (1 if asks.needed else 2)
        sure = 0.0 if several and all(len(_shared(each, telling)) < 2 for each in chosen) else sure
        if best is None or not is_answered(match, sure) or (match < WEAK and await _lacks_amount(corpus, asks, best)):
            return NO_DRAFT
    return Draft(answer=joined(chosen), window=len(state["windows"]), keeps=0, match=round(match, 4))


def _asks(original: str, question: str, spoken: str) -> Asks:
    """Return what a follow-up asks for, "And when?", or else the question that it belongs to."""
    language = language_of(question, spoken)
    asks = asks_of(original, language)
    return replace(asks, question=question.lower()) if asks.kind else asks_of(question, language)


def _without_measures(words: Mapping[str, str], asking: frozenset[str]) -> list[str]:
    """Return the terms of a question without those that only ask how much: "how high" is not about what is too high."""
    return [term for term, word in words.items() if word.lower() not in asking] or list(words)


def _compared(
    embedder: Embedder, question: str, ones: Sequence[Statement]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Return the vectors of the question and of the statements, and how near these are to it with what they answer.

    Among themselves they are compared by what they say: two answers to one question are not alike for that.
    """
    over = [place for place, one in enumerate(ones) if one.asked]
    texts = [question, *(one.said for one in ones), *(f"{ones[place].asked} {ones[place].said}" for place in over)]
    read = np.asarray(embedder.embed(texts))
    vectors = read[1 : len(ones) + 1]
    nearness = vectors @ read[0]
    nearness[over] = read[len(ones) + 1 :] @ read[0]
    return read[0], vectors, nearness


def _over(chunk: Chunk, one: Statement) -> str:
    # What a row's first cell is, a boat or a year, only the head of its column says.
    head = row_cells(one.text.partition("\n")[0])[0] if one.form == "row" else ""
    return f"{chunk.title} {chunk.heading} {one.asked} {head}"


def _about_what_is_named(
    question: str, language: str, shown: list[tuple[Excerpt, Chunk]]
) -> list[tuple[Excerpt, Chunk]]:
    """Return the passages about the year, product or person that is asked about; what is over one may name it."""
    named = named_subject(question, language or "english")
    texts = [(piece_of(chunk, excerpt), chunk.heading, chunk.title, chunk.source) for excerpt, chunk in shown]
    if not named.is_named_in(text for around in texts for text in around):
        return []
    return [one for one, around in zip(shown, texts, strict=True) if named.is_numbered_in(around)]


async def _lacks_amount(corpus: CorpusReader, asks: Asks, best: Sentence | None) -> bool:
    """Tell whether a quantity is asked for by its name, and the best statement is about all but that."""
    if not asks.amount or best is None:
        return False
    (named,) = await corpus.analyse([asks.amount])
    return not {*best.terms, *best.about} & {*named}


def _match(
    sentence: Sentence, terms: Sequence[str], idf: Mapping[str, float], cosine: float | None, light: frozenset[str]
) -> float:
    covered = term_coverage(terms, {*sentence.terms, *sentence.about}, idf, light) if terms else WORDLESS
    return statement_match(cosine=cosine, covered=covered)


def _has_light_words_alone(sentence: Sentence, terms: Sequence[str], light: frozenset[str]) -> bool:
    """Tell whether a statement has such words alone of the question: "to be back" is not about getting data back."""
    shared = _shared(sentence, terms)
    return bool(shared) and shared <= light and not light.issuperset(terms)


def _has_kind(sentence: Sentence, asks: Asks, telling: frozenset[str]) -> bool:
    """Tell whether a statement has the date or the number that is asked for, and a word that says of what."""
    return asks.is_figure(sentence.text) and (not telling or bool(_shared(sentence, telling)))


def _shared(sentence: Sentence, terms: Iterable[str]) -> set[str]:
    return {*sentence.terms, *sentence.about}.intersection(terms)


async def _shown(context: Context, state: State, corpus: CorpusReader) -> list[tuple[Excerpt, Chunk]]:
    """Return the excerpts of all windows that are still there, with their passages."""
    excerpts = [excerpt for window in state["windows"] for excerpt in window]
    found = await chunks_of(context, state, [excerpt["id"] for excerpt in excerpts], corpus=corpus)
    return [(excerpt, found[excerpt["id"]]) for excerpt in excerpts if excerpt["id"] in found]


def _candidates(shown: Sequence[tuple[Excerpt, Chunk]]) -> list[tuple[Excerpt, Chunk, Statement]]:
    """Return the statements to choose from, in reading order."""
    return [
        (excerpt, chunk, each)
        for excerpt, chunk in shown
        for each in statements(piece_of(chunk, excerpt), chunk.heading.rpartition(" > ")[2])
        if MIN_CHARS <= len(each.said) <= MAX_CHARS
    ]


def _told_by_row(row: Statement) -> tuple[str, str]:
    """Return what a row says of itself, and the names of the columns in which it says no.

    A yes says what its column is called, as the name of the row and its other cells do.
    """
    names, _, cells = map(row_cells, row.text.splitlines())
    said, denied = list(cells), []
    for name, cell in zip(names, cells, strict=False):
        folded = fold_word(cell.strip("* "))
        if folded in YES:
            said.append(name)
        elif folded in NO or not cell:
            denied.append(name)
    return " ".join(said), " ".join(denied)


def _without_rows(
    able: list[Sentence], own: Sequence[Sequence[str]], denied: Sequence[Sequence[str]], terms: frozenset[str]
) -> list[Sentence]:
    """Leave out rows of tables, which are figures with their names; where there is no prose, they stay.

    Prose says better what else is known to be asked, but for a row that has all words of the question, and one of them
    of its `own`: the names of the columns are those of every row. What is `denied` by its cells it does not have.
    """
    kept = [
        each
        for each, said, not_so in zip(able, own, denied, strict=True)
        if each.form != "row"
        or (terms <= {*each.terms, *each.about}.difference(set(not_so) - {*said}) and not terms.isdisjoint(said))
    ]
    return kept if any(each.form != "row" for each in able) else able
