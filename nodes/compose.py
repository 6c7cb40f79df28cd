"""What steps show without a model: a draft of the best passages, whole, and lines of the nearest ones."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING

from anabranch.extracts.nearest_passages import NEAREST, find_nearest, select_leaves
from anabranch.models.usage import meter
from anabranch.retrieval.answerability import CALIBRATED, WEAK
from anabranch.retrieval.question_words import map_terms, respell_question
from anabranch.retrieval.term_statistics import idf_of, occurring_in
from anabranch.safety.link_removal import make_plain
from anabranch.synthesis.coverage import is_whole
from anabranch.text.language import language_of
from anabranch.text.phrases import phrases_for
from anabranch.types import NO_DRAFT, Draft

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anabranch.agent.nodes.state import State
    from anabranch.agent.nodes.turn import Turn
    from anabranch.extracts.nearest_passages import NearestPassages
    from anabranch.extracts.whole_documents import WholeList
    from anabranch.types import Chunk, Excerpt


async def compose_draft(state: State, turn: Turn) -> Draft:
    """Return the best-matching passages as a draft; an empty draft if the windows hold none.

    For a whole document it is the outline; for a whole corpus, documents with the question's rarest words come first.
    """
    if not is_whole(state.get("coverage")):
        return await _compose_passages(state, turn)
    parents = {leaf: passage["id"] for passage in state["passages"] for leaf in passage["leaves"]}
    whole = await _list_whole(state, turn, parents)
    if not whole.shown:
        return NO_DRAFT
    is_corpus = state["coverage"]["reach"] == "corpus"
    best = await _compose_passages(state, turn, first=len(whole.shown) + 1) if is_corpus else NO_DRAFT
    shown: list[Excerpt] = [{**each, "id": parents[each["id"]]} for each in whole.shown]
    answer = f"{whole.write()}\n\n{best['answer']}".rstrip()
    return Draft(answer=answer, window=len(state["windows"]), keeps=0, shown=[*shown, *best.get("shown", [])])


async def _compose_passages(state: State, turn: Turn, first: int = 1) -> Draft:
    from anabranch.extracts.best_passages import best_passages
    from anabranch.extracts.composition import list_excerpts, mark_best, write_passages
    from anabranch.models.embedder import is_multilingual

    corpus = await turn.corpus()
    passages = best_passages(*await _read_packed(state, turn), first=first)
    if not passages:
        return NO_DRAFT
    question = respell_question(state["turn"]["standalone_question"], state["queries"])
    idf = await idf_of(corpus, [question], turn.scope)
    # Another embedder may be a paid service.
    across = await asyncio.to_thread(is_multilingual, corpus.embedder)
    by_meaning = across or corpus.embedder.name in CALIBRATED
    passages = await mark_best(passages, question, idf, corpus, by_meaning=by_meaning)
    # How far passages in another language match is not known by their words.
    weak = is_weak(state) and not across
    asked, silence = state["turn"]["question"], await _find_silence(turn)
    answer = await write_passages(passages, asked, corpus, turn.scope, is_weak=weak, silence=silence)
    # The result names the passages in the windows, which may be parents of the leaves.
    parents = {chunk: each["id"] for each in state["passages"] for chunk in (*each["leaves"], each["id"])}
    return Draft(answer=answer, window=len(state["windows"]), keeps=0, shown=list_excerpts(passages, parents))


async def _list_whole(state: State, turn: Turn, parents: Mapping[str, str]) -> WholeList:
    """Return the outline of a document, or the documents of a corpus that hold the rarest words of the question."""
    from anabranch.extracts.whole_documents import list_outline

    ids = list(parents)
    some = (await turn.chunks(ids[:NEAREST])).values()
    language, silence = language_of(" ".join(chunk.text for chunk in some)), await _find_silence(turn)
    phrases = phrases_for(state["turn"]["question"], language, silence=silence)
    if state["coverage"]["reach"] == "corpus":
        return await _list_documents(state, turn, ids, phrases)
    return await list_outline(turn.chunks, parents, phrases["outline"])


async def _list_documents(state: State, turn: Turn, ids: list[str], phrases: Mapping[str, str]) -> WholeList:
    from anabranch.extracts.whole_documents import BATCH, MOST_ENTRIES, MOST_WORDS, find_documents, list_documents

    corpus, sources = await turn.corpus(), [each["source"] for each in state["passages"] for _ in each["leaves"]]
    question = respell_question(state["turn"]["standalone_question"], state["queries"])
    words = dict(islice((await map_terms(corpus, question)).items(), MOST_WORDS))
    idf = await idf_of(corpus, list(words.values()), turn.scope)
    least = max(idf.values(), default=0.0) / 2
    # A term of most passages has no weight: where all are such terms, they count the same.
    rarest = {term: idf[term] or 1.0 for term in words if term in idf and idf[term] >= least}
    asked, held = [words[term] for term in rarest], dict[str, dict[str, frozenset[str]]]()
    for start in range(0, len(ids), BATCH):
        there = await occurring_in(corpus, asked, ids[start : start + BATCH], turn.scope)
        for leaf, source in zip(ids[start : start + BATCH], sources[start : start + BATCH], strict=True):
            if terms := there.get(leaf, frozenset()) & rarest.keys():
                held.setdefault(source, {})[leaf] = frozenset(terms)
    found, in_all = find_documents(held, rarest)
    first = phrases["holding" if in_all else "holding_any"].format(
        words=make_plain(", ".join(dict.fromkeys(asked))),
        found=f"{len(found):,}",
        documents=f"{len({*sources}):,}",
    )
    if missing := dict.fromkeys(word for term, word in words.items() if term not in idf):
        first = f"{first} {phrases['missing']}: {make_plain(', '.join(missing))}."
    lines = [(leaf, bool(at)) for leaves in found for at, leaf in enumerate(leaves)][:MOST_ENTRIES]
    chunks = await turn.chunks([leaf for leaf, _ in lines])
    listed = await list_documents(corpus, [(chunks[leaf], at) for leaf, at in lines if leaf in chunks], rarest, first)
    listed.more = len(found) - sum(not at for _, at in lines)
    return listed


async def _find_silence(turn: Turn) -> str:
    """Return which phrase says why no model wrote; empty where there is no model."""
    if await turn.chat() is None:
        return ""
    return "late_model" if meter().timed_out or turn.budget.left.too_slow else "silent_model"


async def current_draft(state: State, turn: Turn) -> Draft:
    """Return the draft; write it again if a passage of it was removed or hidden from the caller since."""
    ids = {each["id"] for each in state["draft"].get("shown", [])}
    chunks = await turn.chunks(list(ids))
    return state["draft"] if ids <= chunks.keys() else await compose_draft(state, turn)


async def find_nearest_passages(state: State, turn: Turn, answer: str = "") -> NearestPassages:
    """Return the leaves that are nearest to the question, or to what a model answered."""
    ids = select_leaves(state["candidates"], state["passages"])
    # An answer is compared with all of them; without one, the first are the nearest.
    chunks = await turn.chunks(ids := ids if answer else ids[:NEAREST])
    leaves = [chunks[chunk_id] for chunk_id in ids if chunk_id in chunks]
    record = state["turn"]
    return await find_nearest(await turn.corpus(), leaves, record["question"], record["standalone_question"], answer)


def is_weak(state: State) -> bool:
    """Tell whether the passages more likely than not do not answer the question."""
    return state["evidence"]["scores"].get("confidence", 1.0) < WEAK


async def _read_packed(state: State, turn: Turn) -> tuple[list[Chunk], dict[str, Chunk]]:
    """Return the leaves of the passages in the windows, best first, and what each was merged into, by its id."""
    packed = {excerpt["id"] for window in state["windows"] for excerpt in window}
    parents = {leaf: each["id"] for each in state["passages"] if each["id"] in packed for leaf in each["leaves"]}
    ids = [candidate["id"] for candidate in state["candidates"] if candidate["id"] in parents]
    if is_whole(state.get("coverage")):  # there a passage stands for all its leaves, found or not
        parents = {leaf: leaf for leaf in ids}
    chunks = await turn.chunks(list({*ids, *parents.values()}))
    merged = {leaf: chunks[parent] for leaf, parent in parents.items() if parent in chunks and parent != leaf}
    return [chunks[chunk_id] for chunk_id in ids if chunk_id in chunks], merged
