"""What steps show without a model: a draft of the best passages, whole, and lines of the nearest ones."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from anabranch.extracts.nearest_passages import NEAREST, find_nearest, select_leaves
from anabranch.retrieval.answerability import CALIBRATED, WEAK
from anabranch.retrieval.question_words import WORD, respell_question
from anabranch.retrieval.term_statistics import idf_of
from anabranch.synthesis.coverage import is_whole
from anabranch.text.language import language_of
from anabranch.text.phrases import phrases_for
from anabranch.types import NO_DRAFT, Draft

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anabranch.agent.nodes.state import State
    from anabranch.agent.nodes.turn import Turn
    from anabranch.extracts.nearest_passages import NearestPassages
    from anabranch.types import Chunk

# Leaves that are read at once where all of them are.
BATCH = 500


async def compose_draft(state: State, turn: Turn) -> Draft:
    """Return the best-matching passages as a draft; an empty draft if the windows hold none."""
    from anabranch.extracts.best_passages import best_passages
    from anabranch.extracts.composition import list_excerpts, mark_best, write_passages
    from anabranch.models.embedder import is_multilingual

    corpus = await turn.corpus()
    if is_whole(state.get("coverage")):
        return await _compose_whole(state, turn)
    passages = best_passages(*await _read_packed(state, turn))
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
    answer = await write_passages(passages, state["turn"]["question"], corpus, turn.scope, is_weak=weak)
    # The result names the passages in the windows, which may be parents of the leaves.
    parents = {chunk: each["id"] for each in state["passages"] for chunk in (*each["leaves"], each["id"])}
    return Draft(answer=answer, window=len(state["windows"]), keeps=0, shown=list_excerpts(passages, parents))


async def _compose_whole(state: State, turn: Turn) -> Draft:
    """Return the outline of a document, or how many passages of all documents hold the words of the question."""
    from anabranch.extracts.whole_documents import count_holding, list_outline

    parents = {leaf: passage["id"] for passage in state["passages"] for leaf in passage["leaves"]}
    corpus, ids, record = await turn.corpus(), list(parents), state["turn"]
    some = (await turn.chunks(ids[:NEAREST])).values()
    phrases = phrases_for(record["question"], language_of(" ".join(chunk.text for chunk in some)))

    async def read() -> AsyncIterator[list[Chunk]]:
        for start in range(0, len(ids), BATCH):
            chunks = await turn.chunks(batch := ids[start : start + BATCH])
            yield [chunks[leaf] for leaf in batch if leaf in chunks]

    found = (
        await list_outline(read(), phrases["outline"])
        if state["coverage"]["reach"] == "document"
        else await count_holding(corpus, read(), WORD.findall(record["standalone_question"]), phrases)
    )
    if found is None or not found.parts:
        return NO_DRAFT
    shown = found.list_excerpts(parents)
    return Draft(answer=found.write(), window=len(state["windows"]), keeps=0, shown=shown)


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
    chunks = await turn.chunks(list({*ids, *parents.values()}))
    merged = {leaf: chunks[parent] for leaf, parent in parents.items() if parent in chunks and parent != leaf}
    return [chunks[chunk_id] for chunk_id in ids if chunk_id in chunks], merged
