"""Give the answer of before, where the same question was asked of the same documents in the same way."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from langchain_core.messages import AnyMessage
from langchain_core.retrievers import BaseRetriever
from langgraph.runtime import Runtime

import prompts
from anabranch import __version__
from anabranch.caching import Asked, digest
from graph.context import Context, settle
from graph.state import Lookup, State
from nodes.keeping import begun, find
from nodes.resources import corpus_of
from nodes.traced import Update, traced
from nodes.writing import new_message_id, show

SERVERS = (
    "OPENAI_BASE_URL", "OPENAI_API_BASE", "AZURE_OPENAI_ENDPOINT", "OLLAMA_HOST", "ANTHROPIC_BASE_URL",
    "ANTHROPIC_API_URL", "GROQ_BASE_URL", "GROQ_API_BASE", "DEEPSEEK_API_BASE", "MISTRAL_BASE_URL",
)  # fmt: skip
"""Variables by which providers' clients are sent to another server."""

_APART = frozenset({"messages", "settings", "trace", "lookup"})
"""Channels that are named otherwise (the conversation, the settings in force), or are of one run alone."""


@traced("recall")
async def recall(
    state: State, runtime: Runtime[Context], *, guests: Mapping[str, BaseRetriever] | None = None
) -> Update:
    """Look for a kept answer; where there is none, note that this run may keep one."""
    context = settle(state.get("settings"), runtime)
    if why := _unkept(context, guests or ()):
        return {"counts": {"hit": False, "why": why}}
    key = await _key(context, state)
    entry, failure = await find(context, runtime, key)
    if entry is None:
        token = begun(key, runtime)
        return {"lookup": Lookup(token=token, of=""), "counts": {"hit": False, **({"why": failure} if failure else {})}}
    message_id = new_message_id()
    show(message_id, entry["turn"]["answer"])
    return {
        **entry["turn"],
        "message_id": message_id,
        "lookup": Lookup(token="", of=entry["at"]),
        "counts": {"hit": True, "of": entry["at"]},
    }


def _unkept(context: Context, guests: Collection[str]) -> str:
    """Say why the same question need not have the same answer; empty where it should."""
    if context.review != "none":
        return "a person has a say in each answer"
    if context.model is not None and context.temperature > 0:
        return f"temperature is {context.temperature:g}: each answer is another"
    if brought := sorted(set(context.retrievers) & set(guests)):
        return f"what {', '.join(brought)} would find is not known"
    return ""


async def _key(context: Context, state: State) -> str:
    corpus = await corpus_of(context)
    asked = Asked(
        turn={name: value for name, value in state.items() if name not in _APART},
        before=[_said(message) for message in (state.get("messages") or [])[:-1]],
        access=context.access,
        edition=await corpus.edition(),
        settings=context.model_dump(mode="json", exclude={"access"}),
        program=(__version__, _words()),
        around=await asyncio.to_thread(_around, context),
    )
    return asked.key


def _around(context: Context) -> list[Any]:
    """Name what settings only point at: the server that the environment names, the files of a reranker's folder."""
    folder = Path(context.rerank_model or "") if context.rerank == "cross_encoder" and context.rerank_model else None
    files = sorted(folder.rglob("*")) if folder is not None and folder.is_dir() else []
    return [{name: os.environ.get(name) for name in SERVERS}, [_facts(file) for file in files]]


def _facts(file: Path) -> tuple[str, int, int]:
    try:
        found = file.stat()
    except OSError:  # a link that leads nowhere
        return str(file), -1, -1
    return str(file), found.st_size, found.st_mtime_ns


def _said(message: AnyMessage) -> tuple[str, Any]:
    """Return what the steps see of an earlier message; its id is another in each conversation."""
    return message.type, [message.content, bool(message.response_metadata.get("abstained"))]


@cache
def _words() -> str:
    """Name the prompts that come with the program: a step's own stands where no other was chosen."""
    return digest({name: getattr(prompts, name) for name in prompts.__all__})
