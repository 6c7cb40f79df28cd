"""Take an inferred filter away under which too little was found; the same queries are searched for again."""

from __future__ import annotations

from anabranch.agent.nodes.state import RetrievalState, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.retrieval.inferred_filter import without_inferred


async def widen(state: RetrievalState, turn: Turn) -> Update:
    """Return the turn without its inferred filter, and say so."""
    inferred = state["turn"].get("inferred")
    if inferred is not None:
        text = inferred["text"]
        turn.degraded("widen", f"too little was found where {text}, so all documents were searched")
        turn.count(without=text)
    return {"turn": without_inferred(state["turn"])}
