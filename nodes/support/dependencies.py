"""What a node works with, made from the settings in force: the corpus, its scope, the chat model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.config import get_config

from anabranch.models.chat import Chat, ChatSettings, load_chat
from anabranch.models.rerankers import RERANKERS, Reranker, RerankerSettings
from anabranch.readers.document import Chunk
from anabranch.store.protocol import CorpusReader, Scope
from anabranch.store.stores import last_opened, open_corpus
from nodes.settings import Context

MAX_CONCURRENCY = 8
"""Model calls at once within one step, where the config of the run does not say `max_concurrency`."""


async def corpus_of(context: Context, *, anew: bool = False) -> CorpusReader:
    """Return the corpus: as it is now where a turn begins, else what the turn began with if that is still open.

    Args:
        context: Says where it is.
        anew: Whether to look for changes. The steps after the first do not: a turn goes on with what it began with.
    """
    return (None if anew else last_opened(context.corpus)) or await open_corpus(context.corpus)


def scope_of(context: Context, narrowed: Mapping[str, Any] | None) -> Scope:
    """Return what this caller may see: their access tags, narrowed by the question's filters."""
    return Scope(access=tuple(context.access), filters=narrowed)


async def model_of(context: Context) -> Chat | None:
    """Return the chat model, or None where none is configured."""
    if context.model is None:
        return None
    return await load_chat(
        ChatSettings(
            model=context.model,
            base_url=context.base_url,
            temperature=context.temperature,
            timeout=context.model_timeout,
            retries=context.model_retries,
        )
    )


async def chunks_of(
    context: Context, state: Mapping[str, Any], ids: Sequence[str], *, corpus: CorpusReader | None = None
) -> dict[str, Chunk]:
    """Return passages with their text: those that this turn has read, those of external retrievers, then the corpus's.

    Passages that are gone, or that the caller may not read, are absent.
    """
    external: Mapping[str, Mapping[str, Any]] = state.get("external_passages") or {}
    read: Mapping[str, Chunk] = state.get("texts") or {}
    known = {chunk_id: read[chunk_id] for chunk_id in ids if chunk_id in read}
    known |= {
        chunk_id: Chunk(**external[chunk_id]) for chunk_id in ids if chunk_id in external and chunk_id not in known
    }
    if missing := [chunk_id for chunk_id in ids if chunk_id not in known]:
        corpus = corpus or await corpus_of(context)
        known |= await corpus.chunks(missing, scope_of(context, state.get("active_filters")))
    return known


def max_concurrency() -> int:
    """Return the calls that a step may make at once: LangGraph holds branches to the run's bound, but no batches."""
    return get_config().get("max_concurrency") or MAX_CONCURRENCY


async def reranker_of(context: Context, *, concurrency: int = MAX_CONCURRENCY) -> Reranker:
    """Make the reranker that is chosen; `anabranch doctor` asks too.

    Raises:
        UserError: It cannot work as configured.
    """
    settings = RerankerSettings(
        model=context.rerank_model,
        timeout=context.model_timeout,
        retries=context.model_retries,
        concurrency=concurrency,
        batch=context.rerank_batch,
        prompt=context.rerank_prompt,
        chat=await model_of(context),
    )
    # In a thread: its package is imported and its model loaded here.
    return await asyncio.to_thread(lambda: RERANKERS.get(context.rerank).from_settings(settings))
