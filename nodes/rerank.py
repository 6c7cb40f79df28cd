"""Reorder the fused candidates, and keep the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import RetrievalState
from anabranch.agent.nodes.support.audit_events import note
from anabranch.agent.nodes.support.dependencies import chunks_of, max_concurrency, reranker_of
from anabranch.agent.nodes.support.slow_reply import shown_meanwhile
from anabranch.agent.nodes.support.state_records import Candidate
from anabranch.agent.nodes.support.tracing import Update, failed, traced
from anabranch.agent.nodes.support.turn_budget import spares
from anabranch.errors import ModelError
from anabranch.models.rerankers import Reranker
from anabranch.readers.document import Chunk
from anabranch.retrieval.fusion.score_normalization import min_max
from anabranch.store.protocol import RankedList
from anabranch.store.records import embedded_text


@traced("rerank")
async def rerank(state: RetrievalState, context: Context) -> Update:
    """Order candidates by the reranker's relevance; without a reranker, or if it fails, keep the fused order."""
    fused = state["candidates"]
    texts = await chunks_of(context, state, [candidate["id"] for candidate in fused])
    state = {**state, "texts": texts}

    async def update(candidates: list[Candidate], by: str, **counts: str) -> Update:
        kept = candidates[: context.top_k]
        await note("found", context, _present(texts, kept))
        return {"candidates": kept, "texts": texts, "counts": {"by": by, "kept": len(kept), **counts}}

    # One candidate has no order.
    if context.rerank == "none" or len(fused) < 2:
        return await update(fused, "none")
    reranker = await reranker_of(context, concurrency=max_concurrency())
    if skipped := _unaffordable(context, state, reranker):
        return await update(fused, "none", skipped=skipped)
    await note("read", context, _present(texts, fused[: context.rerank_depth]), step="rerank")
    try:
        async with shown_meanwhile("rerank", context, state):
            judged = await _judged(context, state, fused, reranker)
        return await update(judged, context.rerank)
    except ModelError as error:
        return {**await update(fused, "none"), "degraded": [failed("rerank", error)]}


def _present(texts: Mapping[str, Chunk], candidates: Sequence[Candidate]) -> list[Chunk]:
    return [texts[candidate["id"]] for candidate in candidates if candidate["id"] in texts]


def _unaffordable(context: Context, state: RetrievalState, reranker: Reranker) -> str:
    """Say why no model is asked to reorder; empty where the budget has room for its calls."""
    if not reranker.needs_chat:
        return ""
    judged = [candidate["id"] for candidate in state["candidates"][: context.rerank_depth]]
    calls = reranker.chat_calls(len(judged))
    tokens = sum(chunk.tokens for chunk_id, chunk in state["texts"].items() if chunk_id in judged)
    spared = spares(context, state["trace"], calls=calls, tokens=tokens)
    return "" if spared else f"{calls} calls would leave none for the answer"


async def _judged(
    context: Context, state: RetrievalState, fused: list[Candidate], reranker: Reranker
) -> list[Candidate]:
    seen = fused[: context.rerank_depth]
    texts = [_text(state["texts"].get(candidate["id"])) for candidate in seen]
    relevance = await reranker.relevance(state["standalone_question"], texts)
    judged = {index: score for index, score in enumerate(relevance) if score is not None}
    if not judged:
        msg = f"The reranker {reranker.name!r} judged none of the passages: its reply could not be read."
        raise ModelError(msg)
    # A reranker that was not trained for it moves the fused order a little, and does not decide alone.
    if reranker.share < 1:
        judged = _blended(judged, [candidate["score"] for candidate in fused], reranker.share)
    # What was not judged goes before what does not help; on a scale without such a point it goes last.
    floor = reranker.floor if reranker.floor is not None else min(judged.values()) - 1.0
    ranked = rank_by_relevance([candidate["id"] for candidate in fused], judged, floor=floor)
    by_id = {candidate["id"]: candidate for candidate in fused}
    return [
        {**by_id[chunk_id], "score": round(score, 6)}
        for chunk_id, score in zip(ranked["ids"], ranked["scores"], strict=True)
    ]


def _blended(judged: Mapping[int, float], fused: Sequence[float], share: float) -> dict[int, float]:
    """Return `share` x relevance + (1 - `share`) x fused score of the judged ones, both mapped to 0 .. 1 first."""
    relevance, before = min_max(list(judged.values())), min_max([fused[index] for index in judged])
    pairs = zip(judged, relevance, before, strict=True)
    return {index: share * new + (1 - share) * old for index, new, old in pairs}


def rank_by_relevance(ids: Sequence[str], scores: Mapping[int, float], *, floor: float = 0.0) -> RankedList:
    """Order passages by relevance, equal relevance in prior order; no passage is lost.

    A passage without a judgement comes after those judged above `floor`, in prior order: a model lists the best first
    and leaves out what does not help, so its silence says a little. It comes before those judged at the floor or below:
    a reply that was cut off is silent too, while a low score is a verdict.

    Args:
        ids: Chunk ids in prior order, best first.
        scores: Relevance by index into `ids`.
        floor: Score up to which a judged passage counts as irrelevant, and that unjudged ones get.
    """

    def order(index: int) -> tuple[float, bool, int]:
        # False sorts before True: silence before an explicit "does not help".
        return (-scores.get(index, floor), index in scores, index)

    places = sorted(range(len(ids)), key=order)
    return RankedList(ids=[ids[place] for place in places], scores=[float(scores.get(i, floor)) for i in places])


def _text(chunk: Chunk | None) -> str:
    return embedded_text(chunk.title, chunk.heading, chunk.text) if chunk else ""
