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
    # Imported after the package checks, because another package's `nodes` could shadow ours.
    from anabranch.cli.settings_options import context_of

    try:
        context = context_of(sets, **options)
    except AnabranchError as error:
        # A broken extension may be the reason for an unknown name in the settings.
        return [
            *checks,
            *_environment_checks(),
            *extension_checks(),
            DoctorCheck("settings", "problem", error.message, error.hint),
        ]
    checks += [*_environment_checks(), _settings_check(context), *_lock_checks()]
    tried = {
        "people": asyncio.to_thread(_people_checks),
        "corpus": _corpus_checks(context),
        # In a thread, because loading a model blocks.
        "embedder": asyncio.to_thread(_embedder_checks),
        "model": _model_checks(context),
        "rerank": _reranker_checks(context),
    }
    # A broken part must not hide what is wrong with the others.
    for name, found in zip(tried, await asyncio.gather(*tried.values(), return_exceptions=True), strict=True):
        if isinstance(found, AnabranchError):
            checks.append(DoctorCheck(name, "problem", found.message, found.hint))
        elif isinstance(found, BaseException):
            raise found
        else:
            checks += found
    return [*checks, _keys_check(), extras_check(), *extension_checks()]


def _environment_checks(environ: Mapping[str, str] = os.environ) -> Iterator[DoctorCheck]:
    from anabranch.agent.nodes.settings import Context
    from anabranch.safety.operator import Operator

    names = [*Context.model_fields, *Operator.model_fields, "debug"]
    known = [f"ANABRANCH_{name.upper()}" for name in names]
    # A misspelt variable has no effect, and nothing else reports it.
    for name in sorted(environ):
        if name.upper().startswith("ANABRANCH_") and name.upper() not in known:
            near = get_close_matches(name.upper(), known, n=2)
            hint = f"Did you mean {' or '.join(near)}?" if near else "Unset it."
            yield DoctorCheck("environment", "note", f"{name} is set but not used", hint)


def _settings_check(context: Context) -> DoctorCheck:
    """Report the settings that differ from the defaults, and which of them the environment has set."""
    fields = type(context).model_fields
    changed = [
        f"{name}={_short(getattr(context, name))}"
        + (" (environment)" if f"ANABRANCH_{name.upper()}" in os.environ else "")
        for name in fields
        if name in context.model_fields_set and getattr(context, name) != fields[name].default
    ]
    return DoctorCheck("settings", "ok", "; ".join(changed) if changed else "all defaults")


def _lock_checks() -> Iterator[DoctorCheck]:
    from anabranch.agent.graph.settings_precedence import locked_settings
    from anabranch.safety.operator import operator

    if names := locked_settings(has_users=operator().auth is not None):
        yield DoctorCheck("lock", "ok", f"callers may not change: {', '.join(names)}")


def _people_checks() -> list[DoctorCheck]:
    from anabranch.safety.operator import operator

    if operator().auth is None:
        return []
    from anabranch.identity.server_parts import SERVER_PARTS

    SERVER_PARTS.get("identity").load_authenticators()
    return [DoctorCheck("people", "ok", "callers of the server must authenticate (ANABRANCH_AUTH)")]


def _short(value: Any) -> str:  # noqa: ANN401  # any setting
    from anabranch.store.corpus_address import shown_address

    text = " ".join(shown_address(str(value)).split())
    return text if len(text) <= 60 else f"{text[:60]}..."


async def _corpus_checks(context: Context) -> list[DoctorCheck]:
    from anabranch.agent.graph.dependencies import load_corpus

    try:
        info = await (await load_corpus(context)).info()
    except (CorpusNotFoundError, CorpusEmptyError) as error:
        # Without `corpus`, the user may not have created one yet.
        if "corpus" in context.model_fields_set:
            raise
        return [DoctorCheck("corpus", "note", error.message, error.hint)]
    size = f"{counted(info.documents, 'document')}, {counted(info.leaves, 'passage')}"
    found = f"{info.address}: {size}, generation {info.generation}"
    return [DoctorCheck("corpus", "ok", f"{found}, embedder {info.embedder} ({info.dimension})")]


def _embedder_checks() -> list[DoctorCheck]:
    """Embed one word with the embedder that new corpora get."""
    from anabranch.models.embedders import load_embedder
    from anabranch.store.corpus_embedder import usual_embedder

    embedder = load_embedder(usual_embedder())
    embedder.embed(["river"])
    return [DoctorCheck("embedder", "ok", f"{embedder.name}, local, {embedder.dimension} dimensions")]


async def _model_checks(context: Context) -> list[DoctorCheck]:
    """Check whether the chat model can be created; only a server of the user's own is contacted."""
    from anabranch.agent.graph.dependencies import describe_model, load_model
    from anabranch.agent.nodes.settings import AUTO

    if context.model is None:
        return [_check_without_model(context)]
    # `anew`, or `auto` would repeat its earlier result.
    found, remarks = describe_model(context, await load_model(context, anew=True))
    if remarks:
        is_missing = context.model == AUTO and not found
        hint = "Start one of them, or name a model: --model PROVIDER:NAME." if is_missing else ""
        return [DoctorCheck("model", "problem" if is_missing else "note", remarks[0], hint)]
    if found or context.base_url is None:
        name = f"auto found {found['model']}" if found else f"{context.model} (the provider was not contacted)"
        return [DoctorCheck("model", "ok", name)]
    return [await _check_server(context.model, context.base_url)]


def _check_without_model(context: Context) -> DoctorCheck:
    """Check whether the settings work without a chat model."""
    if context.base_url is not None:
        return DoctorCheck(
            "model", "problem", "base_url is set, but no model", "Name the model that it serves: --model NAME."
        )
    if "llm" in context.retrievers:
        return DoctorCheck("model", "problem", "the retriever 'llm' needs a chat model", "Set `model`.")
    status = "none: the passages that match best are shown"
    # A key alone selects no model: documents must not go to a provider because another program needs its key.
    if os.environ.get("OPENAI_API_KEY"):
        return DoctorCheck("model", "off", status, "OPENAI_API_KEY is set; to use it: --model openai:gpt-5-mini.")
    return DoctorCheck("model", "off", status)


async def _check_server(model: str, base_url: str) -> DoctorCheck:
    """Check whether the user's own server runs and has the model."""
    import httpx

    from anabranch.safety.operator import key_for

    key = key_for(base_url)
    headers = {"Authorization": f"Bearer {key}"} if key is not None else {}
    hint = "Start the server, or check base_url; it usually ends in /v1."
    try:
        # Asking one's own server is free; a hosted provider may bill it, and logs it.
        async with httpx.AsyncClient(timeout=REACH_SECONDS, headers=headers) as client:
            reply = await client.get(f"{base_url.rstrip('/')}/models")
            reply.raise_for_status()
            names = [item["id"] for item in reply.json()["data"]]
    # Any program may listen at that address.
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        return DoctorCheck("model", "problem", f"{base_url} cannot be used: {error or type(error).__name__}", hint)
    name = model.partition(":")[2] or model
    # Ollama lists `llama3.2:latest` and takes `llama3.2`.
    if {model, name} & {*names, *(each.removesuffix(":latest") for each in names)}:
        return DoctorCheck("model", "ok", f"{model} at {base_url}")
    return DoctorCheck(
        "model", "note", f"{base_url} answers but does not list {model!r}", f"It lists: {', '.join(names[:8])}."
    )


async def _reranker_checks(context: Context) -> list[DoctorCheck]:
    """Check whether the reranker can be created."""
    from anabranch.agent.graph.dependencies import load_reranker

    if context.rerank == "none":
        return [DoctorCheck("rerank", "off", "none: the fused order is kept")]
    await load_reranker(context)
    model = f" ({context.rerank_model})" if context.rerank_model else ""
    return [DoctorCheck("rerank", "ok", f"{context.rerank}{model}")]


def _keys_check() -> DoctorCheck:
    """Name the keys that are set, never their values."""
    present = [name for name in KEYS if os.environ.get(name)]
    return DoctorCheck("keys", "ok" if present else "off", ", ".join(present) or "none is set")
