"""Reorder the fused candidates, and keep the best."""

from __future__ import annotations

from anabranch.errors import ModelError
from anabranch.models.rerankers import Reranker
from anabranch.readers.document import Chunk
from anabranch.retrieval.relevance_order import rank_by_relevance
from anabranch.store.records import embedded_text
from nodes.merge import merged_of
from nodes.settings import Context
from nodes.state import Candidate, RetrievalState
from nodes.support.context_window import room_of
from nodes.support.dependencies import chunks_of, corpus_of, max_concurrency, model_of, reranker_of
from nodes.support.drafts import label
from nodes.support.tracing import Update, failed, traced
from nodes.support.turn_budget import spares


@traced("rerank")
async def rerank(state: RetrievalState, context: Context, *, order_counts: bool = False) -> Update:
    """Order candidates by the reranker's relevance; where it fails or there is none, the fused order stays.

    With `order_counts` the order is what was asked for, also where it changes nothing that an answer would read.
    """
    fused = state["candidates"]
    texts = await chunks_of(context, state, [candidate["id"] for candidate in fused])
    state = {**state, "texts": texts}

    def update(candidates: list[Candidate], by: str, **counts: str) -> Update:
        kept = candidates[: context.top_k]
        return {"candidates": kept, "texts": texts, "counts": {"by": by, "kept": len(kept), **counts}}

    if context.rerank == "none" or len(fused) < 2:
        return update(fused, "none")
    reranker = await reranker_of(context, concurrency=max_concurrency())
    if not order_counts and (skipped := await _needless(context, state, reranker)):
        return update(fused, "none", skipped=skipped)
    try:
        return update(await _judged(context, state, fused, reranker), context.rerank)
    except ModelError as error:
        return {**update(fused, "none"), "degraded": [failed("rerank", error)]}


async def _needless(context: Context, state: RetrievalState, reranker: Reranker) -> str:
    """Say why no model is asked to reorder; empty where it should be."""
    if not reranker.needs_chat:
        return ""
    if not context.rerank_always and await _one_call_reads_all(context, state):
        return "all candidates fit one window: their order changes nothing that is read"
    judged = [candidate["id"] for candidate in state["candidates"][: context.rerank_depth]]
    calls = reranker.chat_calls(len(judged))
    tokens = sum(chunk.tokens for chunk_id, chunk in state["texts"].items() if chunk_id in judged)
    spared = spares(context, state["trace"], calls=calls, tokens=tokens)
    return "" if spared else f"{calls} calls would leave none for the answer"


async def _one_call_reads_all(context: Context, state: RetrievalState) -> bool:
    """Tell whether reordering the candidates would change neither what is read nor the number of calls.

    It would where `top_k` leaves some of them out, and where what they merge to does not fit one window.
    """
    if len(state["candidates"]) > context.top_k:
        return False
    merged, known = await merged_of(context, state)
    chunks = [known[result.id] for result in merged.results if result.id in known]
    if sum(chunk.tokens for chunk in chunks) > context.window_tokens:
        return False
    corpus, chat = await corpus_of(context), await model_of(context)
    limit = room_of(context, corpus, chat, state["standalone"], map(label, chunks)).limit
    return limit is None or sum(limit.cost(chunk.text, chunk.tokens) for chunk in chunks) <= limit.tokens


async def _judged(
    context: Context, state: RetrievalState, fused: list[Candidate], reranker: Reranker
) -> list[Candidate]:
    seen = fused[: context.rerank_depth]
    texts = [_text(state["texts"].get(candidate["id"])) for candidate in seen]
    relevance = await reranker.relevance(state["standalone"], texts)
    relevance += [None] * (len(fused) - len(seen))
    if all(score is None for score in relevance):
        msg = f"The reranker {reranker.name!r} judged none of the passages: its reply could not be read."
        raise ModelError(msg)
    judged = {index: score for index, score in enumerate(relevance) if score is not None}
    # What was not judged goes before what does not help; on a scale without such a point it goes last.
    floor = reranker.floor if reranker.floor is not None else min(judged.values()) - 1.0
    ranked = rank_by_relevance([candidate["id"] for candidate in fused], judged, floor=floor)
    by_id = {candidate["id"]: candidate for candidate in fused}
    return [
        {**by_id[chunk_id], "score": round(score, 6)}
        for chunk_id, score in zip(ranked["ids"], ranked["scores"], strict=True)
    ]


def _text(chunk: Chunk | None) -> str:
    return embedded_text(chunk.title, chunk.heading, chunk.text) if chunk else ""
