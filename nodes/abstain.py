"""Say that the documents do not hold the answer: what was searched for, what is missing, what is nearest."""

from __future__ import annotations

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.support.answer_messages import new_message_id, show
from anabranch.agent.nodes.support.nearest_passages import nearest_passages
from anabranch.agent.nodes.support.question_words import shown_queries
from anabranch.agent.nodes.support.tracing import Update, traced
from anabranch.safety.link_removal import strip_links


@traced("abstain")
async def abstain(state: State, context: Context) -> Update:
    """Write that nothing was found; nothing in it is an answer."""
    nearest = await nearest_passages(context, state)
    words = nearest.phrases
    lines = [words["not_found"]]
    # A model may have written the queries, and a link in one would be live.
    queries = [f"“{strip_links(query).strip()}”" for query in shown_queries(state)]
    if queries:
        lines.append(f"{words['looked_for']}: {', '.join(queries)}.")
    # The words that no passage has say more than a confidence does.
    missing = state["evidence"]["missing"]
    if missing:
        lines.append(f"{words['missing']}: {missing.rstrip('.')}.")
    elif state["evidence"]["verdict"] != "enough" and state["evidence"]["reasons"]:
        lines.append(f"{words['why']}: {'; '.join(state['evidence']['reasons'])}.")
    if nearest.lines:
        lines.append(nearest.block)
    answer = "\n\n".join(lines)
    message_id = new_message_id()  # the reader may have seen a draft under the one of before
    show(message_id, answer)
    return {
        "answer": answer,
        "status": "not_found",
        "abstained": True,
        "citations": [],
        "unconfirmed": [],
        "message_id": message_id,
        "counts": {"nearest": len(nearest.lines)},
    }
