"""End a turn: append the answer as a message with its sources, and derive the result for the caller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata

from anabranch.agent.nodes.state import State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.agent.nodes.writing import new_message_id
from anabranch.citations.answer_sources import by_marker, with_sources
from anabranch.citations.citation_record import LONGEST
from anabranch.errors import RequestRefusedError
from anabranch.synthesis.budget import usage_of
from anabranch.types import (
    NO_DRAFT,
    NOT_CHECKED,
    AnswerCheck,
    Citation,
    Degraded,
    Step,
    UnconfirmedClaim,
)


async def finish(state: State, turn: Turn) -> Update:
    """Append the answer, with its sources, to the conversation."""
    refused = _all_refused(turn.settings.model, state["trace"], state["degraded"])
    degraded, check = [*state["degraded"], *refused], state["check"]
    result = derive_result(state)
    usage = result["usage"]
    calls = {name: usage[name] for name in ("calls", "prompt_tokens", "output_tokens")}
    await turn.audit("answer", model=turn.settings.model, **calls, **_audited(result, check, degraded))
    message_id = state["draft"].get("message_id", "")
    if not message_id:  # nothing of it has been streamed
        message_id = new_message_id()
        turn.show_answer(message_id, state["answer"])
    # A list of thousands of rows is in the result; each later checkpoint would hold it again.
    shown = [each for each in result["citations"] if each["marker"] <= MOST_SOURCES][:MOST_ANNOTATIONS]
    message = AIMessage(
        content=[dict(with_sources(state["answer"], shown))],
        id=message_id,
        usage_metadata=_usage_metadata(usage),
        response_metadata={
            "output_version": "v1",  # tells LangChain's clients that the content is of its standard blocks
            "status": check["status"],
            "abstained": result["abstained"],
            "sources": _sources(shown),
            "unconfirmed": [dict(each) for each in result["unconfirmed"]],
            "verification": dict(result["verification"]),
            "degraded": degraded,
        },
    )
    turn.count_answer(check, route=state["route"]["name"], degraded=len(degraded))
    # The answer replaces the draft.
    return {"messages": [message], "degraded": refused, "draft": NO_DRAFT, **result}


def derive_result(state: Mapping[str, Any]) -> Update:
    """Return the result beside the answer, also for a turn that ended early."""
    check: AnswerCheck = state.get("check") or NOT_CHECKED
    citations: list[Citation] = []
    unconfirmed: list[UnconfirmedClaim] = []
    for claim in state.get("claims") or []:
        if claim["grade"] == "not_confirmed":
            unconfirmed.append(claim)
        else:
            citations.append(claim)
    inferred = (state.get("turn") or {}).get("inferred")
    verification = {name: value for name, value in check.items() if name != "status"}
    return {
        "citations": citations,
        "unconfirmed": unconfirmed,
        "verification": verification if check["claims"] else {},
        "status": check["status"],
        "abstained": check["status"] == "not_found",
        "inferred_filter": inferred["text"] if inferred else "",
        "usage": usage_of(state.get("trace") or []),
    }


def _audited(result: Update, check: AnswerCheck, degraded: Sequence[Degraded]) -> dict[str, Any]:
    """Return what the audit log records of an answer: its sources, and its grades."""
    cited = {each["chunk_id"]: each["source"] for each in result["citations"]}
    return {
        "cited": [{"passage": key, "source": source} for key, source in cited.items()],
        "grades": {name: check[name] for name in ("quoted", "found", "not_confirmed")},
        "status": check["status"],
        "abstained": result["abstained"],
        "degraded": sorted({each["step"] for each in degraded}),
    }


def _all_refused(model: str | None, trace: Sequence[Step], degraded: Sequence[Degraded]) -> list[Degraded]:
    """Return a warning if every request of the turn was refused: then the configuration is wrong."""
    asked = Counter(step["node"] for step in trace if step["calls"])
    refused = Counter(
        item["step"].partition(":")[0] for item in degraded if item.get("code") == RequestRefusedError.code
    )
    if not asked or asked != refused:
        return []
    reason = f"{model!r} refused every request of this question: check `model`, `base_url` and what the server said"
    return [Degraded(step="model", reason=reason)]


MOST_SOURCES = 200
"""Sources that the message of an answer names, by their markers."""

MOST_ANNOTATIONS = 1_000
"""Places of these sources that it names."""

_SHOWN = frozenset(
    {"marker", "source", "title", "page", "heading", "chunk_id", "quote", "start", "end", "grade", "link"}
)


def _sources(citations: Sequence[Citation]) -> list[dict[str, Any]]:
    """Return one entry per marker, with what a reader needs to find the source."""
    return [
        {name: value for name, value in each.items() if name in _SHOWN} | {"quote": each["quote"][:LONGEST]}
        for each in by_marker(citations).values()
    ]


def _usage_metadata(usage: dict[str, Any]) -> UsageMetadata | None:
    """Return the tokens of all model calls of the question in LangChain's form; None without any."""
    sent, written = usage["prompt_tokens"], usage["output_tokens"]
    if not sent + written:
        return None
    return UsageMetadata(input_tokens=sent, output_tokens=written, total_tokens=sent + written)
