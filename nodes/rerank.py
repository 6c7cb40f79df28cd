"""Reorder the fused candidates, and keep the best."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from anabranch.errors import ModelError, SettingsError
from anabranch.models.rerankers import Reranker
from graph.context import Context, settle
from graph.state import Candidate, Degraded, State
from nodes.resources import chunks_of, model_of
from nodes.traced import Update, traced


@traced("rerank")
async def rerank(state: State, runtime: Runtime[Context]) -> Update:
    """Order candidates by the reranker's relevance; where it fails or there is none, the fused order stays."""
    context = settle(state.get("settings"), runtime)
    fused = state["candidates"]
    if context.rerank == "none" or len(fused) < 2:
        return {"candidates": fused[: context.top_k], "counts": {"by": "none", "kept": min(len(fused), context.top_k)}}
    degraded: list[Degraded] = []
    candidates = fused
    try:
        candidates = await _judged(context, state, fused)
    except ModelError as error:
        degraded.append(Degraded(step="rerank", reason=error.message))
    return {
        "candidates": candidates[: context.top_k],
        "degraded": degraded,
        "counts": {"by": "none" if degraded else context.rerank, "kept": min(len(candidates), context.top_k)},
    }


async def _judged(context: Context, state: State, fused: list[Candidate]) -> list[Candidate]:
    seen = fused[: context.rerank_depth]
    found = await chunks_of(context, state, [candidate["id"] for candidate in seen])
    texts = [_text(found.get(candidate["id"])) for candidate in seen]
    reranker = await reranker_of(context)
    relevance = await reranker.relevance(state["standalone"], texts)
    relevance += [None] * (len(fused) - len(seen))
    if all(score is None for score in relevance):
        msg = f"The reranker {reranker.name!r} judged none of the passages: its reply could not be read."
        raise ModelError(msg)
    # Judged passages come first, best first; unjudged ones follow in their fused order, so that nothing is lost.
    order = sorted(range(len(fused)), key=lambda i: (relevance[i] is None, -(relevance[i] or 0.0), i))
    floor = min(score for score in relevance if score is not None)
    scores = [floor if score is None else score for score in relevance]
    return [{**fused[index], "score": round(scores[index], 6)} for index in order]


def _text(chunk: Any) -> str:  # noqa: ANN401  # Chunk or None
    if chunk is None:
        return ""
    head = " > ".join(part for part in (chunk.title, chunk.heading) if part)
    return f"{head}\n{chunk.text}" if head else chunk.text


async def reranker_of(context: Context) -> Reranker:
    """Make the reranker that is chosen; `anabranch doctor` asks too.

    Raises:
        UserError: It cannot work as configured.
    """
    from anabranch.models.rerankers.cohere import CohereReranker
    from anabranch.models.rerankers.cross_encoder import CrossEncoderReranker
    from anabranch.models.rerankers.llm import LLMReranker

    if context.rerank == "cohere":
        return CohereReranker(context.rerank_model, timeout=context.model_timeout)
    if context.rerank == "cross_encoder":
        return CrossEncoderReranker(context.rerank_model)
    chat = await model_of(context)
    if chat is None:
        msg = "rerank: llm needs a chat model, and none is configured."
        raise SettingsError(msg, hint="Set `model`, or choose another `rerank`.")
    return LLMReranker(chat, context.rerank_prompt, batch=context.rerank_batch, concurrency=context.max_concurrency)
