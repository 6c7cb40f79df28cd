"""The checks of `anabranch doctor` on models and keys."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from anabranch.cli.doctor_check import Check
from anabranch.errors import AnabranchError

if TYPE_CHECKING:
    from nodes.settings import Context

KEYS = ("OPENAI_API_KEY", "ANABRANCH_BASE_URL_KEY", "ANTHROPIC_API_KEY", "CO_API_KEY", "COHERE_API_KEY")
REACH_SECONDS = 3.0


async def model_check(context: Context) -> Check:
    """Say whether the chat model can be made; only a server of the user's own is contacted."""
    from nodes.support.dependencies import model_of

    if context.model is None:
        return _without(context)
    try:
        await model_of(context)
    except AnabranchError as error:
        return Check("model", "problem", error.message, error.hint)
    if context.base_url is None:
        return Check("model", "ok", f"{context.model} (the provider was not contacted)")
    return await _served(context.model, context.base_url)


def _without(context: Context) -> Check:
    """Say whether everything that was chosen can do without a chat model."""
    if context.base_url is not None:
        return Check(
            "model", "problem", "base_url is set, and no model", "Name the model that it serves: --model NAME."
        )
    if "llm" in context.retrievers:
        said = "the retriever 'llm' needs a chat model, and none is configured"
        return Check("model", "problem", said, "Set `model`.")
    said = "none: answers are verbatim sentences from the documents"
    if os.environ.get("OPENAI_API_KEY"):
        return Check("model", "off", said, "OPENAI_API_KEY is set; to use it: --model openai:gpt-5-mini.")
    return Check("model", "off", said)


async def _served(model: str, base_url: str) -> Check:
    """Ask a server of the user's own whether it is there and has the model."""
    import httpx

    from anabranch.safety.operator import key_for

    key = key_for(base_url)
    headers = {"Authorization": f"Bearer {key}"} if key is not None else {}
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


async def reranker_check(context: Context) -> Check:
    """Say whether the reranker can be made."""
    from nodes.support.dependencies import reranker_of

    if context.rerank == "none":
        return Check("rerank", "off", "none: the fused order stays")
    try:
        await reranker_of(context)
    except AnabranchError as error:
        return Check("rerank", "problem", error.message, error.hint)
    return Check("rerank", "ok", context.rerank + (f" ({context.rerank_model})" if context.rerank_model else ""))


def keys_check() -> Check:
    """Name the keys that are set; their values are nobody's business."""
    present = [name for name in KEYS if os.environ.get(name)]
    return Check("keys", "ok" if present else "off", ", ".join(present) or "none is set")
