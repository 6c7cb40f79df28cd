"""The output of `ask --json`, which scripts rely on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anabranch.agent.graph.dependencies import read_chunks
from anabranch.agent.graph.step import UNWRITTEN
from anabranch.agent.nodes.settings import Context
from anabranch.citations.citation_record import piece_of
from anabranch.cli.prompt_log import SentPrompt
from anabranch.synthesis.budget import usage_of
from anabranch.types import Passage


async def result_of(state: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Return one finished turn as JSON primitives.

    Args:
        state: The values of the answer graph at its end.
        context: The settings the turn ran with; passages are fetched again under its access tags.
    """
    return {
        # A turn that ended early has not written every channel, but scripts rely on every key.
        "question": (state.get("turn") or {}).get("question", ""),
        "answer": state.get("answer", ""),
        "status": state.get("status", ""),
        "abstained": state.get("abstained", False),
        "route": state.get("route") or {"name": "", "reasons": []},
        "citations": list(state.get("citations") or []),
        "unconfirmed": list(state.get("unconfirmed") or []),
        "verification": dict(state.get("verification") or {}),
        "passages": await passages_of(state, context),
        "inferred_filter": state.get("inferred_filter", ""),
        "coverage": dict(state.get("coverage") or {}),
        "evidence": _evidence(state.get("evidence") or {}),
        "queries": list(state.get("queries") or []),
        "degraded": list(state.get("degraded") or []),
        "usage": usage_of(state.get("trace") or []),  # summed again, because `finish` could not count itself
    }


def is_written(state: Mapping[str, Any]) -> bool:
    """Tell whether the requested model wrote the answer, if one was requested; `state` may be a turn or its JSON."""
    # `map` has no code: it reports that no window had a usable reply, so the answer is extracted.
    return not any(item.get("code") == UNWRITTEN or item["step"] == "map" for item in state.get("degraded") or [])


async def passages_of(state: Mapping[str, Any], context: Context) -> list[dict[str, Any]]:
    """Return the numbered passages that the model or the composer was given, in their order."""
    excerpts = [(number, excerpt) for number, window in enumerate(state.get("windows") or [], 1) for excerpt in window]
    scores = {passage["id"]: passage["score"] for passage in _passages(state)}
    # Fetched again, because no checkpoint holds passage text (ADR 1). A passage may have been removed or hidden since.
    found = await read_chunks(context, state, list(dict.fromkeys(excerpt["id"] for _, excerpt in excerpts)))
    return [
        {
            "number": excerpt["number"],
            "window": window,
            "chunk_id": excerpt["id"],
            "source": chunk.source,
            "title": chunk.title,
            "page": chunk.page,
            "heading": chunk.heading,
            "score": scores.get(excerpt["id"]),
            "start": excerpt["start"],
            "end": excerpt["end"],
            "text": piece_of(chunk, excerpt),
        }
        for window, excerpt in excerpts
        if (chunk := found.get(excerpt["id"])) is not None
    ]


def work_of(state: Mapping[str, Any], prompts: Sequence[SentPrompt] = ()) -> dict[str, Any]:
    """Return what `--explain` adds: the ranks of each candidate, the chain, the cost of each step, and the prompts."""
    return {
        "candidates": list(state.get("candidates") or []),
        "chain": dict(state.get("chain") or {}),
        "merged": [dict(passage) for passage in _passages(state)],
        "trace": list(state.get("trace") or []),
        "prompts": list(prompts),
    }


def _passages(state: Mapping[str, Any]) -> list[Passage]:
    return list(state.get("passages") or [])


def _evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: evidence.get(name, default) for name, default in (("verdict", ""), ("reasons", []), ("missing", ""))}
    return {**said, "confidence": evidence.get("scores", {}).get("confidence")}
