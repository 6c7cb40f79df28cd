"""The checks of `anabranch doctor`, from the installation to the extensions of other packages."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anabranch
from anabranch import __version__
from anabranch.errors import AnabranchError, CorpusEmptyError, CorpusNotFoundError

if TYPE_CHECKING:
    from nodes.settings import Context

EXTRAS = {
    "cohere": "cohere",
    "community": "langchain_community",
    "eval": "ir_measures",
    "providers": "langchain_openrouter",
    "serve": "jwt",
    "server": "langgraph_api",
}
LIBRARIES = ("langgraph", "langchain-core", "langchain-openai", "faiss-cpu", "onnxruntime", "pymupdf")
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
EXTENSIONS = ("retrievers", "rerankers", "embedders", "readers", "stores", "synthesis_modes")
"""What other packages may add, by the ends of their groups of entry points (`anabranch.registry`)."""

CheckStatus = Literal["ok", "off", "note", "problem"]
"""`off` is not configured, `note` works but may surprise, `problem` is configured and cannot work."""


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One finding and, where there is something to do, what."""

    name: str
    status: CheckStatus
    said: str
    hint: str = ""

    def row(self) -> dict[str, str]:
        """Return it for JSON."""
        return asdict(self)


async def every_check(sets: Sequence[str] | None, **options: str | None) -> list[DoctorCheck]:
    """Run all checks; one that fails does not end the others.

    Args:
        sets: `--set` pairs.
        options: Settings with options of their own (corpus, model, base_url), None where not given.
    """
    checks = [*_installation(), packages_check()]
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
    checks += [*_environment(), _changed(context), *_locked(), *_people(), await _corpus(context)]
    # In a thread: loading a model would keep the loop from everything else.
    checks += [await asyncio.to_thread(_embedder), await _model_check(context), await _reranker_check(context)]
    return [*checks, _keys_check(), *_extras(), *extension_checks()]


def _installation() -> Iterator[DoctorCheck]:
    found = ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)
    missing = [name for name in LIBRARIES if not _version(name)]
    yield DoctorCheck("anabranch", "ok", f"{__version__} on Python {platform.python_version()}; {found}")
    if missing:
        yield DoctorCheck(
            "libraries", "problem", f"not installed: {', '.join(missing)}", "pip install --force-reinstall anabranch"
        )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def packages_check() -> DoctorCheck:
    """Say whether another package hides one of ours: `graph`, `nodes` and `prompts` are names that others have, too."""
    ours = Path(anabranch.__file__).resolve().parent.parent
    for name in ("graph", "nodes", "prompts"):
        # Looked up and not imported: what hides ours may do anything when it is imported.
        spec = PathFinder.find_spec(name)
        if spec is None or spec.origin is None or Path(spec.origin).resolve().parent.parent != ours:
            place = "nothing" if spec is None else spec.origin or "a folder without __init__.py"
            hint = "Install Anabranch in a virtual environment of its own, or rename that package."
            return DoctorCheck("packages", "problem", f"{place} stands for Anabranch's package {name!r}", hint)
    return DoctorCheck("packages", "ok", "graph, nodes and prompts are Anabranch's")


def _environment(environ: Mapping[str, str] = os.environ) -> Iterator[DoctorCheck]:
    from anabranch.safety.operator import Operator
    from nodes.settings import Context

    names = [*Context.model_fields, *Operator.model_fields, "debug"]
    known = [f"ANABRANCH_{name.upper()}" for name in names]
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
    from nodes.support.settings_precedence import locked

    if names := locked():
        yield DoctorCheck("lock", "ok", f"callers may not change: {', '.join(names)}")


def _people() -> Iterator[DoctorCheck]:
    from anabranch.safety.operator import operator

    if operator().auth is None:
        return
    from anabranch.identity import load_authenticators

    try:
        load_authenticators()
    except AnabranchError as error:
        yield DoctorCheck("people", "problem", error.message, error.hint)
    else:
        yield DoctorCheck("people", "ok", "callers of a server have to say who they are (ANABRANCH_AUTH)")


def _short(value: Any) -> str:  # noqa: ANN401  # any setting
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:60]}..."


async def _corpus(context: Context) -> DoctorCheck:
    from nodes.support.dependencies import corpus_of

    try:
        info = await (await corpus_of(context)).info()
    except (CorpusNotFoundError, CorpusEmptyError) as error:
        configured = "corpus" in context.model_fields_set
        return DoctorCheck("corpus", "problem" if configured else "note", error.message, error.hint)
    except AnabranchError as error:
        return DoctorCheck("corpus", "problem", error.message, error.hint)
    said = f"{info.address}: {info.documents} documents, {info.leaves} passages, generation {info.generation}"
    return DoctorCheck("corpus", "ok", f"{said}, embedder {info.embedder} ({info.dimension})")


def _embedder() -> DoctorCheck:
    """Embed one word with the embedder that new corpora get."""
    from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder

    try:
        embedder = load_embedder(DEFAULT_EMBEDDER)
        embedder.embed(["river"])
    except AnabranchError as error:
        return DoctorCheck("embedder", "problem", error.message, error.hint)
    return DoctorCheck("embedder", "ok", f"{embedder.name}, on this machine, {embedder.dimension} dimensions")


def _extras() -> Iterator[DoctorCheck]:
    installed = [extra for extra, module in EXTRAS.items() if find_spec(module) is not None]
    missing = [extra for extra in EXTRAS if extra not in installed]
    said = f"installed: {', '.join(installed) or 'none'}"
    if missing:
        said += f"; not installed: {', '.join(missing)}"
    yield DoctorCheck(
        "extras", "ok" if installed else "off", said, f"pip install 'anabranch[{missing[0]}]'" if missing else ""
    )


def extension_checks() -> Iterator[DoctorCheck]:
    """Name the extensions of other packages, and those that cannot be imported, each on a line of its own."""
    found: list[str] = []
    broken = False
    for kind in EXTENSIONS:
        for entry in sorted(entry_points(group=f"anabranch.{kind}"), key=lambda entry: entry.name):
            try:
                entry.load()
            except Exception as error:  # noqa: BLE001  # whatever a package of others does when it is imported
                broken = True
                said = f"{_from(entry)} ({entry.value}) cannot be imported: {_short(error) or type(error).__name__}"
                hint = "Install what it needs, repair its package, or remove it."
                yield DoctorCheck("extension", "note", f"{kind}: {said}", hint)
            else:
                found.append(f"{kind}: {_from(entry)}")
    if found or not broken:
        yield DoctorCheck("extensions", "ok" if found else "off", "; ".join(found) or "no other package adds any")


def _from(entry: EntryPoint) -> str:
    return f"{entry.name}, of {entry.dist.name} {entry.dist.version}" if entry.dist else entry.name


async def _model_check(context: Context) -> DoctorCheck:
    """Say whether the chat model can be made; only a server of the user's own is contacted."""
    from nodes.settings import AUTO
    from nodes.support.dependencies import about_model, model_of

    if context.model is None:
        return _without(context)
    try:
        found, remarks = about_model(context, await model_of(context, anew=True))
    except AnabranchError as error:
        return DoctorCheck("model", "problem", error.message, error.hint)
    if remarks:
        lacking = context.model == AUTO and not found
        hint = "Start one of them, or name a model: --model PROVIDER:NAME." if lacking else ""
        return DoctorCheck("model", "problem" if lacking else "note", remarks[0], hint)
    if found or context.base_url is None:
        said = f"auto found {found['model']}" if found else f"{context.model} (the provider was not contacted)"
        return DoctorCheck("model", "ok", said)
    return await _served(context.model, context.base_url)


def _without(context: Context) -> DoctorCheck:
    """Say whether everything that was chosen can do without a chat model."""
    if context.base_url is not None:
        return DoctorCheck(
            "model", "problem", "base_url is set, and no model", "Name the model that it serves: --model NAME."
        )
    if "llm" in context.retrievers:
        said = "the retriever 'llm' needs a chat model, and none is configured"
        return DoctorCheck("model", "problem", said, "Set `model`.")
    said = "none: answers are verbatim sentences from the documents"
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


async def _reranker_check(context: Context) -> DoctorCheck:
    """Say whether the reranker can be made."""
    from nodes.support.dependencies import reranker_of

    if context.rerank == "none":
        return DoctorCheck("rerank", "off", "none: the fused order stays")
    try:
        await reranker_of(context)
    except AnabranchError as error:
        return DoctorCheck("rerank", "problem", error.message, error.hint)
    return DoctorCheck("rerank", "ok", context.rerank + (f" ({context.rerank_model})" if context.rerank_model else ""))


def _keys_check() -> DoctorCheck:
    """Name the keys that are set; their values are nobody's business."""
    present = [name for name in KEYS if os.environ.get(name)]
    return DoctorCheck("keys", "ok" if present else "off", ", ".join(present) or "none is set")
