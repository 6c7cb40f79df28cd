"""Where the answer graph goes next: pure functions of the state, named targets, no work.

Settings are also read from the state's snapshot of them, so that a resumed run continues as it began. The runtime is
not a parameter, because `update_state(..., as_node=...)` runs edges without one.
"""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import get_runtime
from langgraph.types import Send

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import BeginTask, InputState, MapTask, ReduceTask, RetrievalState, RetrieveTask, State
from anabranch.agent.nodes.support.dependencies import has_model
from anabranch.agent.nodes.support.fusion_weights import READER, searched
from anabranch.agent.nodes.support.settings_precedence import settle
from anabranch.agent.nodes.support.state_records import Partial
from anabranch.agent.nodes.support.turn_budget import affords_more, as_left, beside, left_of
from anabranch.errors import ThreadStateError
from anabranch.synthesis.budget import Spending
from anabranch.synthesis.routing import EARLY_STOP

# Of search in one turn: each takes a call for other words and a search before the answer can begin.
ROUNDS = 2


def _settings(state: State | RetrievalState) -> Context:
    # No role: a server runs the edges of a state that is edited without a user, and every step asks for one anew.
    return settle(state.get("settings"), get_runtime(Context), role=None)


def to_begin(state: InputState) -> Send:
    """Send the question with the settings of this call, so that a run killed at `begin` can be resumed without them."""
    # A checkpoint holds what was sent, and not the context of the call. An edit of the state comes without any.
    runtime = get_runtime(Context)
    given = runtime.context if runtime is not None else None
    # Under another graph the context may be that graph's own.
    settings = given.remembered() if isinstance(given, Context) else {}
    last = (state.get("messages") or [])[-1:]
    question, filters = state.get("question", ""), state.get("filters")
    return Send("begin", BeginTask(question=question, filters=filters, messages=last, settings=settings))


def after_begin(state: State) -> Literal["retrieval", "finish"]:
    """Search, unless the question was only a greeting."""
    # Queries decide: the state after `begin` may be edited into that of another question.
    return "retrieval" if state["queries"] else "finish"


def first_step(state: RetrievalState) -> Literal["condense", "rewrite"]:
    """Choose `condense` for a follow-up question; the first question of a conversation already stands alone."""
    return "condense" if len(state.get("messages") or []) > 1 else "rewrite"


def fan_out(state: RetrievalState) -> list[Send]:
    """Send every query to each retriever that it is for: one branch per retriever."""
    context = _settings(state)
    return [Send("retrieve", _task(context, state, retriever)) for retriever in context.retrievers]


def _task(context: Context, state: RetrievalState, retriever: str) -> RetrieveTask:
    task = RetrieveTask(
        retriever=retriever,
        query_texts=searched(state["queries"], retriever, context.retrievers),
        settings=state["settings"],
        access_digest=state["access_digest"],
        generation=state.get("generation", 0),
        active_filters=state.get("active_filters"),
    )
    # The one retriever that asks the chat model: its calls leave enough for the answer.
    if retriever == READER:
        task["budget"] = as_left(left_of(context, state.get("trace") or []))
    return task


def after_rewrite(state: RetrievalState) -> list[Send] | Literal["review_queries"]:
    """Pause for a person on the first round, if asked to; else search."""
    context = _settings(state)
    if context.review == "queries" and state["round"] == 1:
        return "review_queries"
    return fan_out(state)


def after_grade(state: RetrievalState) -> Literal["rewrite", "__end__"]:
    """Search once more if the evidence is thin and another round can help; otherwise end the search."""
    context = _settings(state)
    # Without a call to a model nobody has other words for the question, and the same ones find the same passages.
    asks = has_model(context) and not left_of(context, state.get("trace") or []).lacks(Spending(1, 0))
    able = asks and context.strategy != "none" and state["round"] < ROUNDS
    return "rewrite" if able and state["evidence"]["verdict"] == "thin" else "__end__"


def after_retrieval(state: State) -> Literal["pack", "abstain", "review_sources"]:
    """Answer from what was found, however thin; abstain where the search found nothing."""
    if state["evidence"]["verdict"] == "nothing":
        return "abstain"
    return "review_sources" if _settings(state).review == "sources" else "pack"


def after_pack(state: State) -> list[Send] | str:
    """Write the answer, or abstain if no window holds a passage."""
    return write(state) if state["windows"] else "abstain"


def write(state: State) -> list[Send] | str:
    """Read all windows in parallel, or begin with the first one; a mode of another package decides itself."""
    context = _settings(state)
    if state["route"]["name"] == "installed":
        return "installed"
    if state["route"]["name"] != "map_reduce":
        return "create"
    windows = len(state["windows"])
    left = beside(context, state.get("trace") or [], "map_reduce", windows, branches=windows)
    _refuse_beyond_budget(context, state, calls=windows)
    return [
        Send(
            "map",
            MapTask(
                index=index,
                excerpts=excerpts,
                standalone_question=state["standalone_question"],
                settings=state["settings"],
                access_digest=state["access_digest"],
                generation=state.get("generation", 0),
                active_filters=state.get("active_filters"),
                external_passages=state.get("external_passages") or {},
                budget=left,
            ),
        )
        for index, excerpts in enumerate(state["windows"])
    ]


def after_draft(state: State) -> Literal["refine", "cite"]:
    """Read the next window, until there is none, two in a row added nothing, or the model failed at two."""
    draft = state["draft"]
    more = state["route"]["name"] == "refine" and draft["window"] < len(state["windows"])
    # A model that failed at two windows would most likely fail at the others, a timeout each.
    failed = sum(item["step"].startswith("refine:") for item in state["degraded"])
    return "refine" if more and draft["keeps"] < EARLY_STOP and failed < EARLY_STOP else "cite"


def after_gather(state: State) -> list[Send] | Literal["cite"]:
    """Join every group of this level at the same time, until one answer is left."""
    groups: dict[int, list[Partial]] = {}
    for partial in state["partials"]:
        if partial["group"] is not None:
            groups.setdefault(partial["group"], []).append(partial)
    # One that is carried up as it is still has to be joined on the next level.
    alone = any(partial["group"] is None for partial in state["partials"])
    if not groups:
        return "cite"
    context = _settings(state)
    _refuse_beyond_budget(context, state, calls=len(groups))
    left = beside(context, state.get("trace") or [], "map_reduce", len(state["partials"]), branches=len(groups))
    return [
        Send(
            "reduce",
            ReduceTask(
                level=parts[0]["level"] + 1,
                index=index,
                drafts=[part["draft"] for part in parts],
                last=len(groups) == 1 and not alone,
                standalone_question=state["standalone_question"],
                message_id=state["message_id"],
                settings=state["settings"],
                access_digest=state["access_digest"],
                generation=state.get("generation", 0),
                budget=left,
            ),
        )
        for index, parts in groups.items()
    ]


def _refuse_beyond_budget(context: Context, state: State, *, calls: int) -> None:
    """Send no more calls than the question may have: `pack` and `gather` keep to that, an edited thread may not.

    Raises:
        ThreadStateError: There are more.
    """
    if lacking := left_of(context, state.get("trace") or []).lacks(Spending(calls, 0)):
        msg = f"The state of this thread cannot be used: going on would take {lacking}."
        raise ThreadStateError(msg, hint="Ask the question again.")


def after_cite(state: State) -> Literal["abstain", "finish", "create"]:
    """Show what the model answered; if it refused on good evidence, ask it once more first."""
    if state["status"] in ("answered", "not_confirmed"):
        return "finish"
    context = _settings(state)
    # A refusal makes no claims; an answer that is not shown because nothing confirms it is not asked for again.
    refused = state["route"]["name"] == "create" and not state["verification"].get("claims")
    able = context.model is not None and affords_more(context, state.get("trace") or [])
    again = refused and able and bool(state["draft"]["answer"]) and not state["asked_again"]
    return "create" if again and state["evidence"]["verdict"] == "enough" else "abstain"
