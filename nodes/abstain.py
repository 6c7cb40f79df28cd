"""Say that the documents do not hold the answer: what was looked for, what is missing, what comes nearest."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import Passage, State
from nodes.traced import Update, traced
from nodes.writing import new_message_id, show

NEAREST = 3


@traced("abstain")
async def abstain(state: State, _runtime: Runtime[Context]) -> Update:
    """Write the abstention; nothing in it is an answer."""
    lines = ["I did not find the answer in your documents."]
    queries = [query["text"] for query in state["queries"]]
    if queries:
        lines.append("Looked for: " + "; ".join(query.rstrip(".?! ") for query in queries) + ".")
    missing = state["draft"]["missing"] or state["evidence"]["missing"]
    if missing:
        lines.append(f"Missing: {missing.rstrip('.')}.")
    nearest = state["passages"][:NEAREST]
    if nearest:
        lines.append("Nearest passages:\n" + "\n".join(_line(passage) for passage in nearest))
    answer = "\n\n".join(lines)
    message_id = state.get("message_id") or new_message_id()
    show(message_id, answer)
    return {
        "answer": answer,
        "abstained": True,
        "citations": [],
        "message_id": message_id,
        "counts": {"nearest": len(nearest)},
    }


def _line(passage: Passage) -> str:
    page = f", p. {passage['page']}" if passage["page"] is not None else ""
    return f"- {passage['source']}{page}: {passage['preview']} ..."
