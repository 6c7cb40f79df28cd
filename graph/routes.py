"""Where the answer graph goes next: pure functions of the state, named targets, no work.

What the context decides is read from the state's snapshot of it as well, so that a resumed run goes on as it began. The
runtime is asked for rather than taken as a parameter: `update_state(..., as_node=...)` runs edges without one.
"""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import get_runtime
from langgraph.types import Send

from graph.context import Context, settle
from graph.state import MapTask, RetrieveTask, State

EARLY_STOP_KEEPS = 2
"""Refining ends after this many windows in a row that added nothing."""


def search(state: State) -> list[Send]:
    """Fan out: one branch per retriever, every query in each."""
    context = settle(state.get("settings"), get_runtime(Context))
    texts = [query["text"] for query in state["queries"]]
    return [
        Send(
            "retrieve",
            RetrieveTask(arm=arm, texts=texts, settings=state["settings"], narrowed=state.get("narrowed")),
        )
        for arm in context.retrievers
    ]


def after_rewrite(state: State) -> list[Send] | Literal["review_queries"]:
    """Pause for a person on the first round, if asked to; else search."""
    context = settle(state.get("settings"), get_runtime(Context))
    if context.review == "queries" and state["round"] == 1:
        return "review_queries"
    return search(state)


def after_grade(state: State) -> Literal["rewrite", "pack", "abstain", "review_sources"]:
    """Answer on evidence, look again while that can help, abstain where there is nothing."""
    context = settle(state.get("settings"), get_runtime(Context))
    evidence = state["evidence"]
    if evidence["verdict"] == "nothing":
        return "abstain"
    if evidence["verdict"] == "thin":
        if state["round"] < context.max_rounds and not evidence["unchanged"]:
            return "rewrite"
        # A writing model can still say that it found nothing; verbatim sentences cannot, and a judge has said so.
        if context.grade == "llm" or context.model is None:
            return "abstain"
    return "review_sources" if context.review == "sources" else "pack"


def after_pack(state: State) -> list[Send] | Literal["create", "abstain"]:
    """Read windows side by side, or begin with the first."""
    if not state["windows"]:
        return "abstain"
    if state["route"]["name"] != "map_reduce":
        return "create"
    return [
        Send(
            "map",
            MapTask(
                index=index,
                excerpts=excerpts,
                standalone=state["standalone"],
                settings=state["settings"],
                narrowed=state.get("narrowed"),
                guests=state.get("guests") or {},
            ),
        )
        for index, excerpts in enumerate(state["windows"])
    ]


def after_draft(state: State) -> Literal["refine", "cite"]:
    """Read the next window, until there is none or two in a row added nothing."""
    draft = state["draft"]
    more = state["route"]["name"] == "refine" and draft["window"] < len(state["windows"])
    return "refine" if more and draft["keeps"] < EARLY_STOP_KEEPS else "cite"


def after_reduce(state: State) -> Literal["reduce", "cite"]:
    """Reduce another level while there are partial answers."""
    return "reduce" if state["partials"] else "cite"


def after_cite(state: State) -> Literal["abstain", "finish"]:
    """Abstain where the passages held no answer, or no claim of it could be verified."""
    return "finish" if state["answer"] else "abstain"
