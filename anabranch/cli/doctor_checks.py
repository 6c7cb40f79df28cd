"""The checks of `anabranch doctor`: installation, packages, environment, settings, corpus, models, extras."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from anabranch import __version__
from anabranch.cli.doctor_check import Check
from anabranch.cli.import_shadowing import shadows
from anabranch.cli.model_checks import keys_check, model_check, reranker_check
from anabranch.errors import AnabranchError, CorpusEmptyError, CorpusNotFoundError

if TYPE_CHECKING:
    from nodes.settings import Context

EXTRAS = {"cohere": "cohere", "community": "langchain_community", "eval": "ir_measures", "server": "langgraph_api"}
LIBRARIES = ("langgraph", "langchain-core", "langchain-openai", "faiss-cpu", "onnxruntime", "pymupdf")


async def every_check(sets: Sequence[str] | None, **options: str | None) -> list[Check]:
    """Run all checks; one that fails does not end the others.

    Args:
        sets: `--set` pairs.
        options: Settings with options of their own (corpus, model, base_url), None where not given.
    """
    checks = [*_installation(), *_packages()]
    if any(check.status == "problem" for check in checks):
        return checks  # the settings live in a package that cannot be imported
    from anabranch.cli.settings_options import context_of

    try:
        context = context_of(sets, **options)
    except AnabranchError as error:
        return [*checks, *_environment(), Check("settings", "problem", error.message, error.hint)]
    checks += [*_environment(), _changed(context), *_locked(), await _corpus(context)]
    checks += [await asyncio.to_thread(_embedder), await model_check(context), await reranker_check(context)]
    return [*checks, keys_check(), *_extras()]


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
    from anabranch.safety.operator import Operator
    from nodes.settings import Context

    names = [*Context.model_fields, *Operator.model_fields, "debug"]
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


def _locked() -> Iterator[Check]:
    from nodes.settings import locked

    if names := locked():
        yield Check("lock", "ok", f"callers may not change: {', '.join(names)}")


def _short(value: Any) -> str:  # noqa: ANN401  # any setting
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:60]}..."


async def _corpus(context: Context) -> Check:
    from nodes.support.dependencies import corpus_of

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


def _extras() -> Iterator[Check]:
    installed = [extra for extra, module in EXTRAS.items() if find_spec(module) is not None]
    missing = [extra for extra in EXTRAS if extra not in installed]
    said = f"installed: {', '.join(installed) or 'none'}"
    if missing:
        said += f"; not installed: {', '.join(missing)}"
    yield Check(
        "extras", "ok" if installed else "off", said, f"pip install 'anabranch[{missing[0]}]'" if missing else ""
    )
