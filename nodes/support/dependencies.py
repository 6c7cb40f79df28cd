"""What a node works with, made from the settings in force: the corpus, its scope, the chat model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.config import get_config

from anabranch.agent.nodes.settings import AUTO, Context
from anabranch.agent.nodes.support.fusion_weights import BUILT_IN_RETRIEVERS
from anabranch.agent.nodes.support.graph_bindings import bindings_in_force
from anabranch.agent.nodes.support.turn_generation import TurnGeneration, generation_in_force
from anabranch.errors import EmbedderMismatchError, SettingsError
from anabranch.models import local_servers
from anabranch.models.chat import Chat, given_chat, load_chat
from anabranch.models.embedder import Embedder
from anabranch.models.local_servers import LocalModel, find_model, last_found
from anabranch.models.providers import HOSTED_SECONDS, ChatSettings, usual_seconds
from anabranch.models.rerankers import RERANKERS, Reranker, RerankerSettings
from anabranch.models.rerankers.compressor import CompressorReranker
from anabranch.readers.document import Chunk
from anabranch.registry import OBJECT
from anabranch.store.no_corpus import no_corpus
from anabranch.store.protocol import CorpusReader, Scope
from anabranch.store.stores import open_corpus, opened

# Model calls at once within one step, where the config of the run does not say `max_concurrency`.
MAX_CONCURRENCY = 8


async def corpus_of(context: Context) -> CorpusReader:
    """Return the corpus: the generation that the turn began with, else, as where a turn begins, what is there now.

    A turn that is resumed later, or in another process, goes on with what is there then, and its step says so.
    """
    # A vector store of somebody's own may be all there is.
    if not set(context.retrievers) & {*BUILT_IN_RETRIEVERS}:
        return await asyncio.to_thread(no_corpus)
    turn = generation_in_force.get(None) or TurnGeneration(0)
    if turn.number and (begun := opened(context.corpus, turn.number)) is not None:
        return begun
    corpus = await open_corpus(context.corpus)
    if (embedder := bindings_in_force.get().embedder) is not None:
        await asyncio.to_thread(_refuse_other, corpus, embedder)
    turn.goes_on_with(corpus.generation)
    return corpus


def _refuse_other(corpus: CorpusReader, embedder: Embedder) -> None:
    if corpus.embedder.name != embedder.name:
        msg = f"The corpus was made with the embedder {corpus.embedder.name!r}, and the graph has {embedder.name!r}."
        hint = "Leave `embedder` out, or ingest into a new corpus: ingest(..., embedder=...)."
        raise EmbedderMismatchError(msg, hint=hint)


def scope_of(context: Context, narrowed: Mapping[str, Any] | None) -> Scope:
    """Return what this caller may see: their access tags, narrowed by the question's filters."""
    return Scope(access=tuple(context.access), filters=narrowed)


async def model_of(context: Context, *, anew: bool = False) -> Chat | None:
    """Return the chat model, or None where none is configured, or where `auto` found none.

    Args:
        context: Says which, or holds it.
        anew: Whether `auto` looks for servers again; the steps after the first do not.

    Raises:
        UserError: It cannot be used as configured.
    """
    # What a caller gives in code comes before any name.
    if context.model_object is not None:
        return given_chat(context.model_object)
    name, base_url = context.model, context.base_url
    if name is None:
        return None
    if name.startswith(OBJECT):
        msg = f"This conversation was begun with a model given in code, {name.removeprefix(OBJECT)}, which is not here."
        raise SettingsError(msg, hint="Give it again: build(model=...) or Context(model=...); or name another `model`.")
    if name == AUTO:
        # None found is no error: the passages are then shown, and it is said why.
        if (local := await _local(context, anew=anew)) is None:
            return None
        name, base_url = f"openai:{local.name}", local.base_url
    return await load_chat(
        ChatSettings(
            model=name,
            base_url=base_url,
            timeout=context.model_timeout or usual_seconds(name, base_url),
            retries=context.model_retries,
            # As sorted text: clients are kept by their settings, and an object cannot be a key.
            model_kwargs=json.dumps(context.model_kwargs, sort_keys=True),
            reasoning_effort=context.reasoning_effort,
        )
    )


async def _local(context: Context, *, anew: bool) -> LocalModel | None:
    if context.base_url is not None:
        msg = "model: auto looks for a server on this machine, and base_url names one."
        raise SettingsError(msg, hint="Name the model that it serves, or leave base_url out.")
    return await find_model(anew=anew)


def has_model(context: Context) -> bool:
    """Tell whether there is a chat model; for `auto`, by what was found when the turn began."""
    return context.model is not None and (context.model != AUTO or last_found() is not None)


def about_model(context: Context, chat: Chat | None) -> tuple[dict[str, str], list[str]]:
    """Return what the trace says of the model that `auto` found, and what people should know of the model."""
    if context.model != AUTO:
        return {}, list(chat.remarks) if chat is not None else []
    if chat is None:
        return {}, [
            f"auto found no chat model on this machine: neither {', nor '.join(map(str, local_servers.SERVERS))}"
        ]
    return {"model": str(last_found())}, list(chat.remarks)


async def chunks_of(
    context: Context, state: Mapping[str, Any], ids: Sequence[str], *, corpus: CorpusReader | None = None
) -> dict[str, Chunk]:
    """Return passages with their text: those that this turn has read, those of external retrievers, then the corpus's.

    Passages that are gone, or that the caller may not read, are absent.
    """
    external: Mapping[str, Mapping[str, Any]] = state.get("external_passages") or {}
    read: Mapping[str, Chunk] = state.get("texts") or {}
    # What this turn has read comes first, so that a passage says the same in every step.
    known = {chunk_id: read[chunk_id] for chunk_id in ids if chunk_id in read}
    # Next those of external retrievers, which no corpus has: they travel in the state.
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
    given = context.reranker_object
    if given is None and context.rerank.startswith(OBJECT):
        msg = f"This run was begun with a reranker given in code, {context.rerank.removeprefix(OBJECT)}, not here now."
        raise SettingsError(msg, hint="Give it again: build(reranker=...); or name another in `rerank`.")
    settings = RerankerSettings(
        model=context.rerank_model,
        timeout=context.model_timeout or HOSTED_SECONDS,
        retries=context.model_retries,
        concurrency=concurrency,
        batch=context.rerank_batch,
        prompt=context.rerank_prompt,
        chat=await model_of(context),
        compressor=given,
    )
    # In a thread: its package is imported and its model loaded here.
    return await asyncio.to_thread(
        lambda: (RERANKERS.get(context.rerank) if given is None else CompressorReranker).from_settings(settings)
    )
