"""Ours: the whole compiled graph over a corpus in memory that holds the passages and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anabranch.agent.graph.answer import build
from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from anabranch.models.embedders import load_embedder
from anabranch.store.memory import forget
from evals.synthesis.packs import Pack, Passage
from evals.synthesis.systems import ANSWER_TOKENS, MODEL, ONE_WINDOW, PATIENCE, Said

COMMON: dict[str, Any] = {
    # The question is the only query and there is one round, so that every call is one that writes; nothing is cut off,
    # so that every passage is shown.
    "strategy": "none", "top_k": 100, "depth": 100, "model": f"openai:{MODEL}",
    "model_timeout": PATIENCE, "model_retries": 0, "answer_tokens": ANSWER_TOKENS,
}  # fmt: skip


async def answer(pack: Pack, mode: str, base_url: str) -> Said:
    """Take the passages in, each as a document, and ask the graph."""
    windows = [pack.one] if mode in ONE_WINDOW else list(pack.two)
    shown = [passage for window in windows for passage in window]
    settings = {**COMMON, "base_url": base_url, "synthesis": mode, "window_tokens": room(windows)}
    state = await state_over(pack.id, pack.text, shown, settings)
    marked = state["status"] == "not_confirmed" or bool(state["unconfirmed"])
    # The answer of which nothing is confirmed ends with the nearest passages, which are no words of the model.
    stated = " ".join(each["text"] for each in state["unconfirmed"])
    text = stated if state["status"] == "not_confirmed" else state["answer"]
    degraded = tuple(f"{each['step']}: {each['reason']}" for each in state["degraded"])
    return Said(text, state["abstained"], degraded, marked=marked)


async def state_over(
    name: str, question: str, passages: Sequence[Passage], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Ask the graph over a corpus in memory that holds some passages and nothing else; return what it ends with."""
    address = f"memory:{name}"
    try:
        await asyncio.to_thread(_take_in, passages, address)
        context = Context(corpus=address, **settings)
        state: dict[str, Any] = await build().compile().ainvoke({"question": question}, context=context)
    finally:
        forget(address)
    return state


def _take_in(passages: Sequence[Passage], address: str) -> None:
    with TemporaryDirectory(prefix="anabranch-synthesis-") as folder:
        file = Path(folder, "passages.jsonl")
        records = [{"id": str(n), "title": each.label, "text": each.text} for n, each in enumerate(passages, start=1)]
        file.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
        ingest(file, address)


def room(windows: Sequence[Sequence[Passage]]) -> int:
    """Return the tokens of the largest window; passages are packed anew, in the order of their scores."""
    count = load_embedder("minilm").count
    return max(64, *(sum(count([passage.text for passage in window])) for window in windows)) + 20
