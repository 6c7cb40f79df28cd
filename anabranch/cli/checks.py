"""The checks of `anabranch doctor`, each a line with a status: ok, off (not configured), note, or problem."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from anabranch import __version__
from anabranch.cli.shadows import shadows
from anabranch.errors import AnabranchError, CorpusEmptyError, CorpusNotFoundError

if TYPE_CHECKING:
    from graph.context import Context

Status = Literal["ok", "off", "note", "problem"]

EXTRAS = {"cohere": "cohere", "community": "langchain_community", "server": "langgraph_api"}
LIBRARIES = ("langgraph", "langchain-core", "langchain-openai", "faiss-cpu", "onnxruntime", "pymupdf")
KEYS = ("OPENAI_API_KEY", "ANABRANCH_BASE_URL_KEY", "ANTHROPIC_API_KEY", "CO_API_KEY", "COHERE_API_KEY")
REACH_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Check:
    """One finding and, where there is something to do, what."""

    name: str
    status: Status
    said: str
    hint: str = ""

    def row(self) -> dict[str, str]:
        """Return it for JSON."""
        return asdict(self)


async def every_check(sets: Sequence[str] | None, **options: str | None) -> list[Check]:
    """Run all checks; one that fails does not end the others.

    Args:
        sets: `--set` pairs.
        options: Settings with options of their own (corpus, model, base_url), None where not given.
    """
    checks = [*_installation(), *_packages()]
    if any(check.status == "problem" for check in checks):
        return checks  # the settings live in a package that cannot be imported
    from anabranch.cli.settings import context_of

    try:
        context = context_of(sets, **options)
    except AnabranchError as error:
        return [*checks, *_environment(), Check("settings", "problem", error.message, error.hint)]
    checks += [*_environment(), _changed(context), await _corpus(context)]
    checks += [await asyncio.to_thread(_embedder), await _model(context), await _reranker(context), *_keys(context)]
    return [*checks, *_extras()]


def _installation() -> Iterator[Check]:
    found = ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)
    missing = [name for name in LIBRARIES if not _version(name)]
    yield Check("anabranch", "ok", f"{__version__} on Python {platform.python_version()}; {found}")
    if missing:
        yield Check(
            "libraries", "problem", f"not installed: {', '.join(missing)}", "pip install --force-reinstall anabranch"
        )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _packages() -> Iterator[Check]:
    found = list(shadows())
    for name, place, before in found:
        if before:
            hint = "Install Anabranch in a virtual environment of its own, or rename that package."
            yield Check("packages", "problem", f"{place} hides Anabranch's package {name!r}", hint)
        else:
            yield Check(
                "packages", "note", f"{place} has the name of Anabranch's {name!r}, which comes first and is used"
            )
    if not found:
        yield Check("packages", "ok", "nothing else on the path is called graph, nodes or prompts")


def _environment(environ: Mapping[str, str] = os.environ) -> Iterator[Check]:
    from anabranch.settings import Operator, Secrets
    from graph.context import Context

    names = [*Context.model_fields, *Secrets.model_fields, *Operator.model_fields, "debug"]
    known = [f"ANABRANCH_{name.upper()}" for name in names]
    for name in sorted(environ):
        if name.upper().startswith("ANABRANCH_") and name.upper() not in known:
            near = get_close_matches(name.upper(), known, n=2)
            hint = f"Did you mean {' or '.join(near)}?" if near else "Unset it."
            yield Check("environment", "note", f"{name} is set, and nothing reads it", hint)


def _changed(context: Context) -> Check:
    """Say which settings are not the defaults, and whether the environment or the command line set them."""
    fields = type(context).model_fields
    changed = [
        f"{name}={_short(getattr(context, name))}"
        + (" (environment)" if f"ANABRANCH_{name.upper()}" in os.environ else "")
        for name in fields
        if name in context.model_fields_set and getattr(context, name) != fields[name].default
    ]
    return Check("settings", "ok", "; ".join(changed) if changed else "all defaults")


def _short(value: Any) -> str:  # noqa: ANN401  # any setting
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:60]}..."


async def _corpus(context: Context) -> Check:
    from nodes.resources import corpus_of

    try:
        info = await (await corpus_of(context)).info()
    except (CorpusNotFoundError, CorpusEmptyError) as error:
        configured = "corpus" in context.model_fields_set
        return Check("corpus", "problem" if configured else "note", error.message, error.hint)
    except AnabranchError as error:
        return Check("corpus", "problem", error.message, error.hint)
    said = f"{info.path}: {info.documents} documents, {info.leaves} passages, generation {info.generation}"
    return Check("corpus", "ok", f"{said}, embedder {info.embedder} ({info.dimension})")


def _embedder() -> Check:
    """Embed one word with the embedder that new corpora get."""
    from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder

    try:
        embedder = load_embedder(DEFAULT_EMBEDDER)
        embedder.embed(["river"])
    except AnabranchError as error:
        return Check("embedder", "problem", error.message, error.hint)
    return Check("embedder", "ok", f"{embedder.name}, on this machine, {embedder.dimension} dimensions")


async def _model(context: Context) -> Check:
    from nodes.resources import model_of

    if context.model is None:
        said = "none: answers are verbatim sentences from the documents"
        if context.base_url is not None:
            return Check(
                "model", "problem", "base_url is set, and no model", "Name the model that it serves: --model NAME."
            )
        if os.environ.get("OPENAI_API_KEY"):
            return Check("model", "off", said, "OPENAI_API_KEY is set; to use it: --model openai:gpt-5-mini.")
        return Check("model", "off", said)
    try:
        await model_of(context)
    except AnabranchError as error:
        return Check("model", "problem", error.message, error.hint)
    if context.base_url is None:
        return Check("model", "ok", f"{context.model} (the provider was not contacted)")
    return await _served(context.model, context.base_url)


async def _served(model: str, base_url: str) -> Check:
    """Ask a server of the user's own whether it is there and has the model."""
    import httpx

    from anabranch.settings import Secrets

    key = Secrets().base_url_key
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key is not None else {}
    hint = "Start the server, or check base_url; it usually ends in /v1."
    try:
        async with httpx.AsyncClient(timeout=REACH_SECONDS, headers=headers) as client:
            reply = await client.get(f"{base_url.rstrip('/')}/models")
            reply.raise_for_status()
            names = [item["id"] for item in reply.json()["data"]]
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        return Check(
            "model", "problem", f"{base_url} does not answer as it should: {error or type(error).__name__}", hint
        )
    name = model.partition(":")[2] or model
    if {model, name} & {*names, *(each.removesuffix(":latest") for each in names)}:
        return Check("model", "ok", f"{model} at {base_url}")
    return Check(
        "model", "note", f"{base_url} answers, and does not list {model!r}", f"It lists: {', '.join(names[:8])}."
    )


async def _reranker(context: Context) -> Check:
    from nodes import rerank as step

    if context.rerank == "none":
        return Check("rerank", "off", "none: the fused order stays")
    try:
        await step._reranker(context)
    except AnabranchError as error:
        return Check("rerank", "problem", error.message, error.hint)
    return Check("rerank", "ok", context.rerank + (f" ({context.rerank_model})" if context.rerank_model else ""))


def _keys(context: Context) -> Iterator[Check]:
    present = [name for name in KEYS if os.environ.get(name)]
    said = ", ".join(present) if present else "none is set"
    yield Check(
        "keys", "ok" if present else "off", said, "" if present or context.model is None else "None may be needed."
    )


def _extras() -> Iterator[Check]:
    installed = [extra for extra, module in EXTRAS.items() if find_spec(module) is not None]
    missing = [extra for extra in EXTRAS if extra not in installed]
    said = f"installed: {', '.join(installed) or 'none'}"
    if missing:
        said += f"; not installed: {', '.join(missing)}"
    yield Check(
        "extras", "ok" if installed else "off", said, f"pip install 'anabranch[{missing[0]}]'" if missing else ""
    )
