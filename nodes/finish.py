"""End a turn: the answer becomes a message with its sources, and the trace is added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.support.answer_messages import by_marker, new_message_id, show, with_sources
from anabranch.agent.nodes.support.audit_events import note
from anabranch.agent.nodes.support.state_records import NO_DRAFT, Citation, Degraded, Step
from anabranch.agent.nodes.support.step_telemetry import count_answer
from anabranch.agent.nodes.support.tracing import Update, traced
from anabranch.citations.passage_text import LONGEST
from anabranch.errors import RequestRefusedError


@traced("finish")
async def finish(state: State, context: Context) -> Update:
    """Append the answer to the conversation; its sources travel with the message."""
    refused = _all_refused(context.model, state["trace"], state["degraded"])
    usage = usage_of(state["trace"])
    spent = {name: usage[name] for name in ("calls", "prompt_tokens", "output_tokens")}
    verdict = _verdict(state, [*state["degraded"], *refused])
    await note("answer", context, model=context.model, **spent, **verdict)
    message_id = state["message_id"]
    if not message_id:  # nothing of it has been streamed
        message_id = new_message_id()
        show(message_id, state["answer"])
    message = AIMessage(
        content=[dict(with_sources(state["answer"], state["citations"]))],
        id=message_id,
        usage_metadata=_usage_metadata(usage),
        response_metadata={
            "output_version": "v1",  # tells LangChain's clients that the content is of its standard blocks
            "status": state["status"],
            "abstained": state["abstained"],
            "sources": _sources(state["citations"]),
            "unconfirmed": [dict(each) for each in state["unconfirmed"]],
            "verification": dict(state["verification"]),
            "degraded": [*state["degraded"], *refused],
        },
    )
    count_answer(
        status=state["status"],
        route=state["route"]["name"],
        verification=state["verification"],
        degraded=len(state["degraded"]) + len(refused),
    )
    return {
        "messages": [message],
        "degraded": refused,
        "usage": usage,
        # It was checked by now, and what is left of it is the answer.
        "draft": NO_DRAFT,
    }


def _verdict(state: State, degraded: Sequence[Degraded]) -> dict[str, Any]:
    """Return what the audit log says of an answer: what it cites, and how far that supports it."""
    cited = {each["chunk_id"]: each["source"] for each in state["citations"]}
    return {
        "cited": [{"passage": key, "source": source} for key, source in cited.items()],
        "grades": {name: state["verification"].get(name, 0) for name in ("quoted", "found", "not_confirmed")},
        "status": state["status"],
        "abstained": state["abstained"],
        "degraded": sorted({each["step"] for each in degraded}),
    }


def _all_refused(model: str | None, trace: Sequence[Step], degraded: Sequence[Degraded]) -> list[Degraded]:
    """Warn once if no request of the turn was answered: then the configuration is wrong, not a single step."""
    asked = Counter(step["node"] for step in trace if step["calls"])
    refused = Counter(
        item["step"].partition(":")[0] for item in degraded if item.get("code") == RequestRefusedError.code
    )
    if not asked or asked != refused:
        return []
    reason = f"{model!r} refused every request of this question: check `model`, `base_url` and what the server said"
    return [Degraded(step="model", reason=reason)]


_SHOWN = frozenset(
    {"marker", "source", "title", "page", "heading", "chunk_id", "quote", "start", "end", "grade", "link"}
)


def _sources(citations: Sequence[Citation]) -> list[dict[str, Any]]:
    """Return one entry per marker: what a reader needs to look it up."""
    return [
        {name: value for name, value in each.items() if name in _SHOWN} | {"quote": each["quote"][:LONGEST]}
        for each in by_marker(citations).values()
    ]


def _usage_metadata(usage: dict[str, Any]) -> UsageMetadata | None:
    """Return the tokens of all model calls of the question, as LangChain's messages have them; None without any."""
    sent, written = usage["prompt_tokens"], usage["output_tokens"]
    if not sent + written:
        return None
    return UsageMetadata(input_tokens=sent, output_tokens=written, total_tokens=sent + written)


def usage_of(trace: list[Step]) -> dict[str, Any]:
    """Add up a trace.

    Returns:
        `calls`, `rounds` (sequential round trips: steps that called a model), `prompt_tokens`, `output_tokens`, and
        `ms` per node, repeated nodes added up.
    """
    ms: dict[str, float] = {}
    for step in trace:
        ms[step["node"]] = round(ms.get(step["node"], 0.0) + step["ms"], 1)
    return {
        "calls": sum(step["calls"] for step in trace),
        "rounds": len({step["round"] for step in trace if step["calls"]}),
        "prompt_tokens": sum(step["prompt_tokens"] for step in trace),
        "output_tokens": sum(step["output_tokens"] for step in trace),
        "ms": ms,
    }
