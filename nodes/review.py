"""Pause for a person: to change the queries before the search, or the passages before the answer.

Whether to pause is decided by an edge, never in here: a resumed run often comes without its context, and an `if` around
`interrupt` would then drop the person's reply.
"""

from __future__ import annotations

from typing import Any

from langgraph.types import interrupt

from anabranch.errors import SettingsError
from graph.state import Passage, Query, State

MAX_QUERIES = 32


def review_queries(state: State) -> dict[str, Any]:
    """Show the queries; resume with true to accept, or with a list of texts to search for instead."""
    reply = interrupt(
        {"review": "queries", "question": state["asked"], "queries": [q["text"] for q in state["queries"]]}
    )
    if reply in (True, None, "ok"):
        return {}
    texts = _texts(reply, "queries")[:MAX_QUERIES]
    known = {query["text"]: query for query in state["queries"]}
    edited = [known.get(text, Query(text=text, weight=1.0, kind="reviewed")) for text in texts]
    return {"queries": edited}


def review_sources(state: State) -> dict[str, Any]:
    """Show the passages; resume with true to accept, or with the ids to keep, in the order to use them."""
    shown = [
        {key: passage[key] for key in ("id", "source", "page", "preview", "score")} for passage in state["passages"]
    ]
    reply = interrupt({"review": "sources", "question": state["asked"], "passages": shown})
    if reply in (True, None, "ok"):
        return {}
    by_id: dict[str, Passage] = {passage["id"]: passage for passage in state["passages"]}
    wanted = _texts(reply, "sources")
    unknown = [chunk_id for chunk_id in wanted if chunk_id not in by_id]
    if unknown:
        msg = f"The review names passages that were not offered: {unknown[:3]!r}."
        raise SettingsError(msg, hint="Resume with ids from the interrupt's `passages`.")
    return {"passages": [by_id[chunk_id] for chunk_id in wanted]}


def _texts(reply: Any, what: str) -> list[str]:  # noqa: ANN401  # a person's reply may be anything
    if isinstance(reply, dict):
        reply = reply.get(what, reply.get("passages"))
    if not isinstance(reply, list) or not all(isinstance(item, str) for item in reply):
        msg = f"The review's reply is {type(reply).__name__}, not a list of texts."
        raise SettingsError(msg, hint=f"Resume with true, or with a list of {what}.")
    texts = [item.strip() for item in reply if item.strip()]
    if not texts:
        msg = f"The review left no {what}."
        raise SettingsError(msg, hint="Resume with true to accept them all, or with at least one.")
    return list(dict.fromkeys(texts))
