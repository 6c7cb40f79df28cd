"""Tells beforehand whether all candidates will be read in one call, whatever their order."""

from __future__ import annotations

from nodes.merge import merged_of
from nodes.settings import Context
from nodes.state import RetrievalState
from nodes.support.context_window import room_of
from nodes.support.dependencies import corpus_of, model_of
from nodes.support.drafts import label


async def one_call_reads_all(context: Context, state: RetrievalState) -> bool:
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
