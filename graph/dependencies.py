"""Makes what the steps of a turn work with from the resolved settings: the corpus, the chat model, the reranker.

Stores, model clients and the claim check are imported when a turn first needs them: compiling a graph needs none.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from anabranch.agent.graph.bindings import NONE_BOUND, GraphBindings
from anabranch.agent.nodes.settings import AUTO, Context
from anabranch.errors import EmbedderMismatchError, SettingsError
from anabranch.registry import OBJECT
from anabranch.retrieval import BUILT_IN_RETRIEVERS
from anabranch.types import Chunk

if TYPE_CHECKING:
    from anabranch.models.chat import Chat
    from anabranch.models.embedder import Embedder
    from anabranch.models.local_servers import LocalModel
    from anabranch.models.rerankers import Reranker, RerankerSettings
    from anabranch.store.protocol import CorpusReader, Scope

# Concurrent model calls in one step, if the run's config has no `max_concurrency`.
MAX_CONCURRENCY = 8


@cache
def import_parts() -> None:
    """Import what a turn uses; to be called in a worker thread, because imports read files."""
    import anabranch.agent.nodes.claim_judge
    import anabranch.agent.nodes.row_table
    import anabranch.citations.check_pool
    import anabranch.citations.verification
    import anabranch.extracts.composition
    import anabranch.models.chat
    import anabranch.models.embedders
    import anabranch.models.graphics_processor
    import anabranch.models.local_servers
    import anabranch.models.providers
    import anabranch.models.rerankers.rerank_calls
    import anabranch.retrieval.found_value
    import anabranch.retrieval.langchain_retriever
    import anabranch.retrieval.llm_retriever
    import anabranch.retrieval.query_generator
    import anabranch.store.no_corpus
    import anabranch.store.stores  # noqa: F401


async def load_corpus(settings: Context, bindings: GraphBindings = NONE_BOUND, generation: int = 0) -> CorpusReader:
    """Return the corpus in the given generation if that is still open, else in the current one."""
    from anabranch.store.no_corpus import no_corpus
    from anabranch.store.stores import find_reader, open_corpus

    # With external retrievers alone, no corpus is needed.
    if not set(settings.retrievers) & {*BUILT_IN_RETRIEVERS}:
        return await asyncio.to_thread(no_corpus)
    if generation and (begun := find_reader(settings.corpus, generation)) is not None:
        return begun
    corpus = await open_corpus(settings.corpus)
    if bindings.embedder is not None:
        await asyncio.to_thread(_refuse_other, corpus, bindings.embedder)
    return corpus


def _refuse_other(corpus: CorpusReader, embedder: Embedder) -> None:
    if corpus.embedder.name != embedder.name:
        msg = f"The corpus was made with the embedder {corpus.embedder.name!r}, and the graph has {embedder.name!r}."
        hint = "Leave `embedder` out, or ingest into a new corpus: ingest(..., embedder=...)."
        raise EmbedderMismatchError(msg, hint=hint)


def make_scope(settings: Context, filters: Mapping[str, Any] | None = None) -> Scope:
    """Return what a caller may see: their access tags, narrowed by the question's filters."""
    from anabranch.store.protocol import Scope

    return Scope(access=tuple(settings.access), filters=filters)


def filters_of_turn(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the filters of a turn: the caller's, and the one inferred from the question."""
    filters, inferred = record.get("filters"), record.get("inferred")
    if not inferred:
        return filters
    return {"and": [filters, inferred["filters"]]} if filters else inferred["filters"]


async def load_chunks(
    state: Mapping[str, Any], ids: Sequence[str], open_reader: Callable[[], Awaitable[CorpusReader]], scope: Scope
) -> dict[str, Chunk]:
    """Return passages with their text: those that the turn has read, those of external retrievers, then the corpus's.

    Passages that were removed, or that the caller may not read, are absent. `open_reader` is called if it is needed.
    """
    external: Mapping[str, Mapping[str, Any]] = state.get("external_passages") or {}
    read: Mapping[str, Chunk] = state.get("texts") or {}
    # What this turn has read comes first, so that a passage says the same in every step.
    known = {chunk_id: read[chunk_id] for chunk_id in ids if chunk_id in read}
    # Passages of external retrievers are in no corpus: the state carries them.
    known |= {
        chunk_id: Chunk(**external[chunk_id]) for chunk_id in ids if chunk_id in external and chunk_id not in known
    }
    if missing := [chunk_id for chunk_id in ids if chunk_id not in known]:
        known |= await (await open_reader()).chunks(missing, scope)
    return known


async def read_chunks(settings: Context, state: Mapping[str, Any], ids: Sequence[str]) -> dict[str, Chunk]:
    """Return passages of a finished turn, as `load_chunks` does, from the current corpus."""
    record = state.get("turn") or {}
    scope = make_scope(settings, filters_of_turn(record))
    return await load_chunks(state, ids, lambda: load_corpus(settings), scope)


async def load_model(settings: Context, *, anew: bool = False) -> Chat | None:
    """Return the chat model; None if none is configured, or `auto` found none.

    Args:
        settings: They name the model, or hold it.
        anew: Whether `auto` looks for servers again; only the first step does.

    Raises:
        UserError: The model cannot be used as configured.
    """
    from anabranch.models.chat import given_chat, load_chat
    from anabranch.models.providers import ChatSettings, usual_seconds

    if settings.model_object is not None:
        return given_chat(settings.model_object)
    name, base_url = settings.model, settings.base_url
    if name is None:
        return None
    if name.startswith(OBJECT):
        msg = f"This conversation began with a model object that is missing now: {name.removeprefix(OBJECT)}."
        raise SettingsError(msg, hint="Give it again: build(model=...) or Context(model=...); or name another `model`.")
    if name == AUTO:
        # Finding none is no error: the passages are shown instead, with the reason.
        if (local := await _find_local(settings, anew=anew)) is None:
            return None
        name, base_url = f"openai:{local.name}", local.base_url
    return await load_chat(
        ChatSettings(
            model=name,
            base_url=base_url,
            timeout=settings.model_timeout or usual_seconds(name, base_url),
            retries=settings.model_retries,
            # As sorted text, because clients are cached by their settings.
            model_kwargs=json.dumps(settings.model_kwargs, sort_keys=True),
            reasoning_effort=settings.reasoning_effort,
        )
    )


async def _find_local(settings: Context, *, anew: bool) -> LocalModel | None:
    from anabranch.models.local_servers import find_model

    if settings.base_url is not None:
        msg = "model: auto looks for a server on this machine, so it cannot be used with base_url."
        raise SettingsError(msg, hint="Name the model that base_url serves, or leave base_url out.")
    return await find_model(anew=anew)


def has_model(settings: Context) -> bool:
    """Tell whether there is a chat model; for `auto`, whether one was found when the turn began."""
    from anabranch.models.local_servers import last_found

    return settings.model is not None and (settings.model != AUTO or last_found() is not None)


async def begins_quick(settings: Context, chat: Chat | None) -> bool:
    """Tell whether effort is 'quick' if nobody chose one: `auto` found a model, and the machine has no GPU."""
    if chat is None or settings.model != AUTO or settings.effort is not None:
        return False
    # Who asks for all to be read has chosen more than one call.
    if settings.coverage in ("document", "corpus"):
        return False
    from anabranch.models.graphics_processor import may_have_processor

    return not await asyncio.to_thread(may_have_processor)


async def load_reranker(settings: Context, *, concurrency: int = MAX_CONCURRENCY) -> Reranker:
    """Make the reranker that the settings name.

    Raises:
        UserError: It cannot work as configured.
    """
    from anabranch.models.providers import HOSTED_SECONDS
    from anabranch.models.rerankers import RerankerSettings

    given = settings.reranker_object
    if given is None and settings.rerank.startswith(OBJECT):
        msg = f"This run began with a reranker object that is missing now: {settings.rerank.removeprefix(OBJECT)}."
        raise SettingsError(msg, hint="Give it again: build(reranker=...); or name another in `rerank`.")
    options = RerankerSettings(
        model=settings.rerank_model,
        timeout=settings.model_timeout or HOSTED_SECONDS,
        retries=settings.model_retries,
        concurrency=concurrency,
        batch=settings.rerank_batch,
        prompt=settings.rerank_prompt,
        chat=await load_model(settings),
        compressor=given,
    )
    # In a thread, because this imports a package and loads a model.
    return await asyncio.to_thread(_make_reranker, settings.rerank, options)


def _make_reranker(name: str, options: RerankerSettings) -> Reranker:
    from anabranch.models.rerankers import RERANKERS

    if options.compressor is None:
        return RERANKERS.get(name).from_settings(options)
    from anabranch.models.rerankers.compressor import CompressorReranker

    return CompressorReranker.from_settings(options)


def describe_model(settings: Context, chat: Chat | None) -> tuple[dict[str, str], list[str]]:
    """Return the trace's counts for the model that `auto` found, and remarks on the model for people."""
    from anabranch.models import local_servers

    if settings.model != AUTO:
        return {}, list(chat.remarks) if chat is not None else []
    if chat is None:
        return {}, [
            f"auto found no chat model on this machine: neither {', nor '.join(map(str, local_servers.SERVERS))}"
        ]
    return {"model": str(local_servers.last_found())}, list(chat.remarks)
