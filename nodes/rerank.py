"""Reorder the fused candidates, and keep the best."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from anabranch.agent.nodes.state import RetrievalState, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.errors import ModelError
from anabranch.retrieval.fusion.score_normalization import min_max
from anabranch.retrieval.query_chain import current_queries, is_under_way
from anabranch.synthesis.near_duplicates import Duplicates
from anabranch.types import Candidate, Chunk, RankedList

if TYPE_CHECKING:
    from anabranch.models.rerankers import Reranker


async def rerank(state: RetrievalState, turn: Turn) -> Update:
    """Order candidates by the reranker's relevance; without a reranker, or if it fails, keep the fused order.

    A candidate that repeats a better one takes no place; the next one does.
    """
    return await _order(state, turn, *await _drop_duplicates(turn, state["candidates"], _count_places(turn)))


async def rerank_search(state: RetrievalState, turn: Turn) -> Update:
    """Order candidates as `rerank` does, but keep all: a search ranks documents, and a copy is one of them."""
    fused = state["candidates"][: _count_places(turn)]
    return await _order(state, turn, fused, await turn.chunks([each["id"] for each in fused]))


def _count_places(turn: Turn) -> int:
    settings = turn.settings
    return max(settings.rerank_depth if settings.rerank != "none" else 0, settings.top_k)


async def _order(state: RetrievalState, turn: Turn, fused: Sequence[Candidate], texts: Mapping[str, Chunk]) -> Update:
    settings = turn.settings
    # One candidate has no order.
    if settings.rerank == "none" or len(fused) < 2:
        return await _keep_best(turn, fused, texts, "none")
    reranker, judged = await turn.reranker(), fused[: settings.rerank_depth]
    if reranker.needs_chat:
        calls = reranker.chat_calls(len(judged))
        if not turn.budget.allows(calls=calls, tokens=sum(chunk.tokens for chunk in _list_present(judged, texts))):
            skipped = f"{calls} calls would leave none for the answer"
            return await _keep_best(turn, fused, texts, "none", skipped=skipped)
    await turn.audit("read", _list_present(judged, texts), step="rerank")
    try:
        async with turn.awaiting_model():
            ranked = await _rank(_find_question(state), fused, judged, texts, reranker)
    except ModelError as error:
        turn.degraded("rerank", error)
        return await _keep_best(turn, fused, texts, "none")
    return await _keep_best(turn, ranked, texts, settings.rerank)


async def _drop_duplicates(
    turn: Turn, candidates: Sequence[Candidate], places: int
) -> tuple[list[Candidate], dict[str, Chunk]]:
    """Return the best candidates that repeat none before them, at most one a place, and the texts that were read."""
    texts = await turn.chunks([each["id"] for each in candidates[:places]])
    originals = await asyncio.to_thread(_find_originals, candidates[:places], texts)
    if originals:
        # Those beyond the places are read only where some move up.
        texts |= await turn.chunks([each["id"] for each in candidates[places:]])
        originals = await asyncio.to_thread(_find_originals, candidates, texts)
        turn.count(duplicates=[{"id": one, "of": other} for one, other in originals.items()])
    return [each for each in candidates if each["id"] not in originals][:places], texts


def _find_originals(candidates: Sequence[Candidate], texts: Mapping[str, Chunk]) -> dict[str, str]:
    """Return the id of the better candidate by that of each one that repeats it."""
    known, originals = Duplicates(), dict[str, str]()
    for chunk in _list_present(candidates, texts):
        span = {"start": chunk.start, "end": chunk.end}
        if original := known.find(chunk.chunk_id, chunk.text, doc_id=chunk.doc_id, **span):
            originals[chunk.chunk_id] = original
    return originals


def _find_question(state: RetrievalState) -> str:
    """Return what passages are judged for: in a further round of a chain, the query of each value."""
    chain = state.get("chain")
    if not is_under_way(chain):
        return state["turn"]["standalone_question"]
    return " / ".join(query["text"] for query in current_queries(state["queries"], chain))


async def _keep_best(
    turn: Turn, candidates: Sequence[Candidate], texts: Mapping[str, Chunk], by: str, **counts: str
) -> Update:
    """Return the update with the best candidates; `by` names the reranker that ordered them."""
    kept = candidates[: turn.settings.top_k]
    await turn.audit("found", _list_present(kept, texts))
    turn.count(by=by, kept=len(kept), **counts)
    return {"candidates": kept, "texts": texts}


def _list_present(candidates: Sequence[Candidate], texts: Mapping[str, Chunk]) -> list[Chunk]:
    return [texts[candidate["id"]] for candidate in candidates if candidate["id"] in texts]


async def _rank(
    question: str,
    fused: Sequence[Candidate],
    judged: Sequence[Candidate],
    texts: Mapping[str, Chunk],
    reranker: Reranker,
) -> list[Candidate]:
    """Return all fused candidates in the order of their relevance, the first of which are `judged`."""
    from anabranch.store.records import embedded_text

    chunks = [texts.get(candidate["id"]) for candidate in judged]
    given = [embedded_text(chunk.title, chunk.heading, chunk.text) if chunk else "" for chunk in chunks]
    relevance = await reranker.relevance(question, given)
    scores = {index: score for index, score in enumerate(relevance) if score is not None}
    if not scores:
        msg = f"The reranker {reranker.name!r} judged none of the passages: its reply could not be read."
        raise ModelError(msg)
    # A reranker that was not trained for relevance only adjusts the fused order.
    if reranker.share < 1:
        scores = _blend(scores, [candidate["score"] for candidate in fused], reranker.share)
    # Unjudged passages come before irrelevant ones, or last if the scale does not say what is irrelevant.
    floor = reranker.floor if reranker.floor is not None else min(scores.values()) - 1.0
    ranked = rank_by_relevance([candidate["id"] for candidate in fused], scores, floor=floor)
    by_id = {candidate["id"]: candidate for candidate in fused}
    return [
        {**by_id[chunk_id], "score": round(score, 6)}
        for chunk_id, score in zip(ranked["ids"], ranked["scores"], strict=True)
    ]


def _blend(judged: Mapping[int, float], fused: Sequence[float], share: float) -> dict[int, float]:
    """Return `share` x relevance + (1 - `share`) x fused score of the judged ones, both mapped to 0 .. 1 first."""
    relevance, before = min_max(list(judged.values())), min_max([fused[index] for index in judged])
    pairs = zip(judged, relevance, before, strict=True)
    return {index: share * new + (1 - share) * old for index, new, old in pairs}


def rank_by_relevance(ids: Sequence[str], scores: Mapping[int, float], *, floor: float = 0.0) -> RankedList:
    """Order passages by relevance, equal relevance in prior order; no passage is lost.

    Unjudged passages come after those judged above `floor`, in prior order: a model lists the best first and leaves out
    what does not help. They come before those judged at the floor or below: the reply may have been cut off, while a
    low score is a verdict.

    Args:
        ids: Chunk ids in prior order, best first.
        scores: Relevance by index into `ids`.
        floor: Score up to which a judged passage counts as irrelevant, and that unjudged ones get.
    """

    def order(index: int) -> tuple[float, bool, int]:
        # False sorts before True: unjudged before irrelevant.
        return (-scores.get(index, floor), index in scores, index)

    places = sorted(range(len(ids)), key=order)
    return RankedList(ids=[ids[place] for place in places], scores=[float(scores.get(i, floor)) for i in places])
