"""Pause for a person: to change the queries before the search, or the passages before the answer.

An edge decides whether to pause, never a node: a resumed run often has no context, and an `if` around `interrupt` would
then drop the person's reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.types import interrupt

from anabranch.agent.nodes.state import RetrievalState, State, Update
from anabranch.errors import SettingsError
from anabranch.types import Passage, Query

MAX_QUERIES = 32
# Each try is another pause in the same step, which LangGraph runs again from its start.
MAX_TRIES = 20


def review_queries(state: RetrievalState) -> Update:
    """Show the queries; resume with true to accept, or with a list of texts to search for instead."""
    request: dict[str, Any] = {
        "review": "queries",
        "question": state["turn"]["question"],
        "queries": [query["text"] for query in state["queries"]],
    }
    if inferred := state["turn"].get("inferred"):
        request["inferred_filter"] = inferred["text"]
    texts = _reply(request, "queries", None)
    if texts is None:
        return {}
    known = {query["text"]: query for query in state["queries"]}
    edited = [known.get(text, Query(text=text, weight=1.0, kind="reviewed")) for text in texts[:MAX_QUERIES]]
    return {"queries": edited}


def review_sources(state: State) -> Update:
    """Show the passages; resume with true to accept, or with the ids to keep, in the order to use them."""
    by_id: dict[str, Passage] = {passage["id"]: passage for passage in state["passages"]}
    offered = [
        {key: value for key, value in passage.items() if key in ("id", "source", "page", "preview", "score")}
        for passage in state["passages"]
    ]
    request = {"review": "sources", "question": state["turn"]["question"], "passages": offered}
    ids = _reply(request, "sources", by_id)
    return {} if ids is None else {"passages": [by_id[chunk_id] for chunk_id in ids]}


def _reply(request: dict[str, Any], what: str, known: Mapping[str, Any] | None) -> list[str] | None:
    """Pause until there is a usable reply; after an unusable one, pause again and say what was wrong with it.

    An error would end the run and keep the bad reply, with no way to give another.

    Returns:
        The texts, or None if everything was accepted.
    """
    problem = ""
    for _ in range(MAX_TRIES):
        shown = {**request, **({"problem": problem} if problem else {})}
        reply = interrupt(shown, response_schema=_reply_schema(what, known))
        if reply is True or reply == "ok":
            return None
        texts = _texts(reply, what)
        unknown = [text for text in texts or [] if known is not None and text not in known]
        if texts and not unknown:
            return texts
        problem = f"These were not offered: {unknown[:3]!r}." if unknown else f"The reply is not a list of {what}."
        problem += f" Resume with true to accept, or with a list of at least one of the {what}."
    msg = f"The review of {what} got {MAX_TRIES} replies that could not be used."
    raise SettingsError(msg, hint="Start the turn again.")


def _reply_schema(what: str, known: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the JSON schema of a reply, from which a client makes a form; LangGraph does not check it."""
    items = {"type": "string"} if known is None else {"enum": [*known]}
    accepted = {"const": True, "title": "Accept"}
    changed = {"type": "array", "title": f"Use these {what} instead", "items": items, "minItems": 1}
    return {"title": f"Review of {what}", "anyOf": [accepted, changed]}


def _texts(reply: Any, what: str) -> list[str] | None:  # noqa: ANN401  # a person's reply may be anything
    if isinstance(reply, dict):
        reply = reply.get(what, reply.get("passages"))
    if not isinstance(reply, list) or not all(isinstance(item, str) for item in reply):
        return None
    return list(dict.fromkeys(item.strip() for item in reply if item.strip()))
