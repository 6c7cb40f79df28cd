"""The checks of `anabranch doctor`: what is configured, and whether it works."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from anabranch.cli.installation_checks import (
    DoctorCheck,
    extension_checks,
    extras_check,
    installation_checks,
)
from anabranch.errors import AnabranchError, CorpusEmptyError, CorpusNotFoundError
from anabranch.text.plural import counted

if TYPE_CHECKING:
    from anabranch.agent.nodes.settings import Context

KEYS = (
    "OPENAI_API_KEY",
    "ANABRANCH_BASE_URL_KEY",
    "ANTHROPIC_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "CO_API_KEY",
    "COHERE_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
)
REACH_SECONDS = 3.0


async def every_check(sets: Sequence[str] | None, **options: str | None) -> list[DoctorCheck]:
    """Run all checks; one that fails does not end the others.

    Args:
        sets: `--set` pairs.
        options: Settings with options of their own (corpus, model, base_url), None where not given.
    """
    checks = [*installation_checks()]
    if any(check.status == "problem" for check in checks):
        return checks  # the settings live in a package that cannot be imported
    # After the checks of the packages: a `nodes` of somebody else would be imported here.
    from anabranch.cli.settings_options import context_of

    try:
        context = context_of(sets, **options)
    except AnabranchError as error:
        # An extension that is broken may be why a name in the settings is not known.
        return [
            *checks,
            *_environment(),
            *extension_checks(),
            DoctorCheck("settings", "problem", error.message, error.hint),
        ]
    checks += [*_environment(), _changed(context), *_locked()]
    tried = {
        "people": asyncio.to_thread(_people),
        "corpus": _corpus(context),
        # In a thread: loading a model would keep the loop from everything else.
        "embedder": asyncio.to_thread(_embedder),
        "model": _model_check(context),
        "rerank": _reranker_check(context),
    }
    # Whatever one of them raises: a part that is broken must not hide what is wrong with the others.
    for name, found in zip(tried, await asyncio.gather(*tried.values(), return_exceptions=True), strict=True):
        if isinstance(found, AnabranchError):
            checks.append(DoctorCheck(name, "problem", found.message, found.hint))
        elif isinstance(found, BaseException):
            raise found
        else:
            checks += found
    return [*checks, _keys_check(), extras_check(), *extension_checks()]


def _environment(environ: Mapping[str, str] = os.environ) -> Iterator[DoctorCheck]:
    from anabranch.agent.nodes.settings import Context
    from anabranch.safety.operator import Operator

    names = [*Context.model_fields, *Operator.model_fields, "debug"]
    known = [f"ANABRANCH_{name.upper()}" for name in names]
    # A misspelt variable changes nothing, and nothing else would say so.
    for name in sorted(environ):
        if name.upper().startswith("ANABRANCH_") and name.upper() not in known:
            near = get_close_matches(name.upper(), known, n=2)
            hint = f"Did you mean {' or '.join(near)}?" if near else "Unset it."
            yield DoctorCheck("environment", "note", f"{name} is set, and nothing reads it", hint)


def _changed(context: Context) -> DoctorCheck:
    """Say which settings are not the defaults, and whether the environment or the command line set them."""
    fields = type(context).model_fields
    changed = [
        f"{name}={_short(getattr(context, name))}"
        + (" (environment)" if f"ANABRANCH_{name.upper()}" in os.environ else "")
        for name in fields
        if name in context.model_fields_set and getattr(context, name) != fields[name].default
    ]
    return DoctorCheck("settings", "ok", "; ".join(changed) if changed else "all defaults")


def _locked() -> Iterator[DoctorCheck]:
    from anabranch.agent.graph.settings_precedence import locked_settings
    from anabranch.safety.operator import operator

    if names := locked_settings(are_told_apart=operator().auth is not None):
        yield DoctorCheck("lock", "ok", f"callers may not change: {', '.join(names)}")


def _people() -> list[DoctorCheck]:
    from anabranch.safety.operator import operator

    if operator().auth is None:
        return []
    from anabranch.identity.server_parts import SERVER_PARTS

    SERVER_PARTS.get("identity").load_authenticators()
    return [DoctorCheck("people", "ok", "callers of a server have to say who they are (ANABRANCH_AUTH)")]


def _short(value: Any) -> str:  # noqa: ANN401  # any setting
    from anabranch.store.corpus_address import shown_address

    text = " ".join(shown_address(str(value)).split())
    return text if len(text) <= 60 else f"{text[:60]}..."


async def _corpus(context: Context) -> list[DoctorCheck]:
    from anabranch.agent.graph.dependencies import load_corpus

    try:
        info = await (await load_corpus(context)).info()
    except (CorpusNotFoundError, CorpusEmptyError) as error:
        # Whoever has named no corpus may not have made one yet.
        if "corpus" in context.model_fields_set:
            raise
        return [DoctorCheck("corpus", "note", error.message, error.hint)]
    held = f"{counted(info.documents, 'document')}, {counted(info.leaves, 'passage')}"
    said = f"{info.address}: {held}, generation {info.generation}"
    return [DoctorCheck("corpus", "ok", f"{said}, embedder {info.embedder} ({info.dimension})")]


def _embedder() -> list[DoctorCheck]:
    """Embed one word with the embedder that new corpora get."""
    from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder

    embedder = load_embedder(DEFAULT_EMBEDDER)
    embedder.embed(["river"])
    said = f"{embedder.name}, on this machine, {embedder.dimension} dimensions"
    return [DoctorCheck("embedder", "ok", said)]


async def _model_check(context: Context) -> list[DoctorCheck]:
    """Say whether the chat model can be made; only a server of the user's own is contacted."""
    from anabranch.agent.graph.dependencies import describe_model, load_model
    from anabranch.agent.nodes.settings import AUTO

    if context.model is None:
        return [_without(context)]
    # Anew, or `auto` would repeat what it found before a server was started.
    found, remarks = describe_model(context, await load_model(context, anew=True))
    if remarks:
        lacking = context.model == AUTO and not found
        hint = "Start one of them, or name a model: --model PROVIDER:NAME." if lacking else ""
        return [DoctorCheck("model", "problem" if lacking else "note", remarks[0], hint)]
    if found or context.base_url is None:
        said = f"auto found {found['model']}" if found else f"{context.model} (the provider was not contacted)"
        return [DoctorCheck("model", "ok", said)]
    return [await _served(context.model, context.base_url)]


def _without(context: Context) -> DoctorCheck:
    """Say whether everything that was chosen can do without a chat model."""
    if context.base_url is not None:
        return DoctorCheck(
            "model", "problem", "base_url is set, and no model", "Name the model that it serves: --model NAME."
        )
    if "llm" in context.retrievers:
        said = "the retriever 'llm' needs a chat model, and none is configured"
        return DoctorCheck("model", "problem", said, "Set `model`.")
    said = "none: the passages that match best are shown"
    # A key by itself chooses no model: documents must not go to a provider because some other program needs its key.
    if os.environ.get("OPENAI_API_KEY"):
        return DoctorCheck("model", "off", said, "OPENAI_API_KEY is set; to use it: --model openai:gpt-5-mini.")
    return DoctorCheck("model", "off", said)


async def _served(model: str, base_url: str) -> DoctorCheck:
    """Ask a server of the user's own whether it is there and has the model."""
    import httpx

    from anabranch.safety.operator import key_for

    key = key_for(base_url)
    headers = {"Authorization": f"Bearer {key}"} if key is not None else {}
    hint = "Start the server, or check base_url; it usually ends in /v1."
    try:
        # A server of the user's own costs nothing to ask; a hosted provider may bill, and logs who asked.
        async with httpx.AsyncClient(timeout=REACH_SECONDS, headers=headers) as client:
            reply = await client.get(f"{base_url.rstrip('/')}/models")
            reply.raise_for_status()
            names = [item["id"] for item in reply.json()["data"]]
    # Whatever listens at that address may answer with anything.
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        return DoctorCheck(
            "model", "problem", f"{base_url} does not answer as it should: {error or type(error).__name__}", hint
        )
    name = model.partition(":")[2] or model
    # Ollama lists `llama3.2:latest` and takes `llama3.2`.
    if {model, name} & {*names, *(each.removesuffix(":latest") for each in names)}:
        return DoctorCheck("model", "ok", f"{model} at {base_url}")
    return DoctorCheck(
        "model", "note", f"{base_url} answers, and does not list {model!r}", f"It lists: {', '.join(names[:8])}."
    )


async def _reranker_check(context: Context) -> list[DoctorCheck]:
    """Say whether the reranker can be made."""
    from anabranch.agent.graph.dependencies import load_reranker

    if context.rerank == "none":
        return [DoctorCheck("rerank", "off", "none: the fused order stays")]
    await load_reranker(context)
    named = f" ({context.rerank_model})" if context.rerank_model else ""
    return [DoctorCheck("rerank", "ok", f"{context.rerank}{named}")]


def _keys_check() -> DoctorCheck:
    """Name the keys that are set; their values are nobody's business."""
    present = [name for name in KEYS if os.environ.get(name)]
    return DoctorCheck("keys", "ok" if present else "off", ", ".join(present) or "none is set")
