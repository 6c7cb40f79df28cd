"""Where the graphs go next: pure functions of the state and the resolved settings.

The settings include those in the state, so that a resumed run continues as it began. The runtime is not a parameter,
because `update_state(..., as_node=...)` runs edges without one.
"""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import get_runtime
from langgraph.types import Send

from anabranch.agent.graph.dependencies import has_model
from anabranch.agent.nodes.begin import BeginTask
from anabranch.agent.nodes.grade import ELSEWHERE
from anabranch.agent.nodes.map import MapTask
from anabranch.agent.nodes.reduce import ReduceTask
from anabranch.agent.nodes.retrieve import RetrieveTask
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import STATE_VERSION, InputState, RetrievalState, State
from anabranch.errors import ThreadStateError
from anabranch.retrieval import READER
from anabranch.retrieval.fusion.missing_scores import queries_for
from anabranch.retrieval.query_chain import count_hops, current_queries, is_open, is_under_way
from anabranch.synthesis.budget import Budget
from anabranch.synthesis.coverage import is_whole, make_coverage, wants_whole
from anabranch.synthesis.routing import EARLY_STOP
from anabranch.types import Partial


def to_begin(state: InputState) -> Send:
    """Send the question with the settings of this call, so that a run killed at `begin` can be resumed without them."""
    # A checkpoint holds what was sent, and not the context. An edit of the state has no runtime.
    runtime = get_runtime(Context)
    given = runtime.context if runtime is not None else None
    # In a parent graph, the context may be that graph's.
    settings = given.remembered() if isinstance(given, Context) else {}
    last = (state.get("messages") or [])[-1:]
    question, filters = state.get("question", ""), state.get("filters")
    task = BeginTask(version=STATE_VERSION, question=question, filters=filters, messages=last, settings=settings)
    return Send("begin", task)


def after_begin(state: State) -> Literal["retrieval", "finish"]:
    """Search, unless the question was only a greeting."""
    # The queries decide, because somebody may have edited the state after `begin`.
    return "retrieval" if state["queries"] else "finish"


def first_step(state: RetrievalState) -> Literal["condense", "rewrite"]:
    """Choose `condense` for a follow-up question; the first question of a conversation already stands alone."""
    return "condense" if len(state.get("messages") or []) > 1 else "rewrite"


def fan_out(state: RetrievalState, settings: Context) -> list[Send]:
    """Send every query of this round to each retriever that it is for: one branch per retriever."""
    retrievers = _hop_retrievers(settings) if is_under_way(state.get("chain")) else settings.retrievers
    return [Send("retrieve", _task(state, settings, retriever)) for retriever in retrievers]


def _hop_retrievers(settings: Context) -> list[str]:
    return [retriever for retriever in settings.retrievers if retriever in settings.hop_retrievers]


def _task(state: RetrievalState, settings: Context, retriever: str) -> RetrieveTask:
    queries = queries_for(retriever, current_queries(state["queries"], state.get("chain")), settings.retrievers)
    task = RetrieveTask(turn=state["turn"], retriever=retriever, query_texts=queries)
    # Only this retriever asks the chat model; it must leave enough calls for the answer.
    if retriever == READER:
        task["budget"] = _budget(state, settings).left.to_record()
    return task


def after_rewrite(state: RetrievalState, settings: Context) -> list[Send] | Literal["review_queries"]:
    """Pause for a review in the first round, if the settings say so; else search."""
    if settings.review == "queries" and state["round"] == 1:
        return "review_queries"
    return fan_out(state, settings)


def after_grade(state: RetrievalState, settings: Context) -> Literal["widen", "follow", "rewrite", "__end__"]:
    """Search without an inferred filter that finds too little, follow the plan of a chain, or search in other words."""
    if state["turn"].get("inferred") and _finds_too_little(state, settings):
        return "widen"
    if not has_model(settings) or state["evidence"]["verdict"] == "nothing":
        return "__end__"
    # One call to follow, and one for the answer.
    able = bool(_hop_retrievers(settings)) and not _budget(state, settings).lacks(2)
    return "follow" if able and is_open(state.get("chain"), settings.hops) else _search_again(state, settings)


def _finds_too_little(state: RetrievalState, settings: Context) -> bool:
    """Tell whether the evidence is weak, or a passage beyond the filter holds more of the question's words."""
    verdict, scores = state["evidence"]["verdict"], state["evidence"]["scores"]
    # Where whole documents are read, the passages that match best need not hold an answer.
    if wants_whole(make_coverage(state.get("coverage"), settings.coverage, settings.synthesis)):
        return verdict == "nothing"
    return verdict != "enough" or scores.get(ELSEWHERE, 0.0) > scores.get("covered", 0.0)


def after_follow(state: RetrievalState, settings: Context) -> list[Send] | Literal["rewrite", "__end__"]:
    """Search for the queries that were made of the values found; without any, go on as without a chain."""
    return _search_again(state, settings) if state["chain"]["ended"] else fan_out(state, settings)


def _search_again(state: RetrievalState, settings: Context) -> Literal["rewrite", "__end__"]:
    # Without a model call there are no other queries, and the same ones find the same passages. A further round of a
    # chain has searched again already.
    asks = settings.strategy != "none" and not _budget(state, settings).lacks(1)
    able = asks and state["round"] < settings.rounds and not count_hops(state.get("chain"))
    return "rewrite" if able and state["evidence"]["verdict"] == "thin" else "__end__"


def after_retrieval(state: State, settings: Context) -> Literal["pack", "abstain", "review_sources", "survey"]:
    """Answer from what was found, however thin; abstain where the search found nothing and not all is read."""
    if wants_whole(make_coverage(state.get("coverage"), settings.coverage, settings.synthesis)):
        return "survey"
    return after_survey(state, settings)


def after_survey(state: State, settings: Context) -> Literal["pack", "abstain", "review_sources"]:
    """Go on with the passages that are to be read, if there are any."""
    if is_whole(state.get("coverage")):
        if not state["passages"]:
            return "abstain"
    elif state["evidence"]["verdict"] == "nothing":
        return "abstain"
    return "review_sources" if settings.review == "sources" else "pack"


def after_pack(state: State, settings: Context) -> list[Send] | str:
    """Read all windows in parallel, or begin with the first one; abstain if no window holds a passage."""
    if not state["windows"]:
        return "abstain"
    if state["route"]["name"] == "installed":
        return "installed"
    if (route := state["route"]["name"]) not in ("map_reduce", "rows"):
        return "create"
    windows, budget = len(state["windows"]), _budget(state, settings)
    _refuse_beyond(budget, calls=windows)
    left = budget.rest_of(route, windows, branches=windows).to_record()
    external = state.get("external_passages") or {}
    rows = route == "rows"
    return [
        Send(
            "map",
            MapTask(
                turn=state["turn"], index=index, excerpts=excerpts, external_passages=external, budget=left, rows=rows
            ),
        )
        for index, excerpts in enumerate(state["windows"])
    ]


def after_draft(state: State) -> Literal["refine", "cite"]:
    """Read the next window, unless there is none, two in a row added nothing, or the model failed twice."""
    draft = state["draft"]
    more = state["route"]["name"] == "refine" and draft["window"] < len(state["windows"])
    # A model that failed twice most likely fails again, after a timeout each time.
    failed = sum(item["step"].startswith("refine:") for item in state["degraded"])
    return "refine" if more and draft["keeps"] < EARLY_STOP and failed < EARLY_STOP else "cite"


def after_gather(state: State, settings: Context) -> list[Send] | Literal["cite"]:
    """Join every group of this level at the same time, until one answer is left."""
    groups: dict[int, list[Partial]] = {}
    for partial in state["partials"]:
        if partial["group"] is not None:
            groups.setdefault(partial["group"], []).append(partial)
    # A partial answer without a group is joined on the next level.
    alone = any(partial["group"] is None for partial in state["partials"])
    if not groups:
        return "cite"
    budget = _budget(state, settings)
    _refuse_beyond(budget, calls=len(groups))
    left = budget.rest_of("map_reduce", len(state["partials"]), branches=len(groups)).to_record()
    return [
        Send(
            "reduce",
            ReduceTask(
                turn=state["turn"],
                level=parts[0]["level"] + 1,
                index=index,
                drafts=[part["draft"] for part in parts],
                last=len(groups) == 1 and not alone,
                message_id=state["draft"].get("message_id", ""),
                budget=left,
            ),
        )
        for index, parts in groups.items()
    ]


def after_cite(state: State, settings: Context) -> Literal["abstain", "finish", "create"]:
    """Finish with the answer; if the model refused on good evidence, ask it once more first."""
    if state["check"]["status"] in ("answered", "not_confirmed"):
        return "finish"
    # A refusal makes no claims; an answer that `strict` hides makes some, and is not asked for again.
    refused = state["route"]["name"] == "create" and not state["check"]["claims"]
    able = settings.model is not None and _budget(state, settings).affords()
    again = refused and able and bool(state["draft"]["answer"]) and not state["draft"].get("again")
    return "create" if again and state["evidence"]["verdict"] == "enough" else "abstain"


def _budget(state: State | RetrievalState, settings: Context) -> Budget:
    return Budget.from_trace(state.get("trace") or [], settings)


def _refuse_beyond(budget: Budget, *, calls: int) -> None:
    """Refuse more calls than the budget has; `pack` and `gather` stay within it, but an edited thread may not.

    Raises:
        ThreadStateError: There are more.
    """
    if lacking := budget.lacks(calls):
        msg = f"The state of this thread cannot be used: the next steps would take {lacking}."
        raise ThreadStateError(msg, hint="Ask the question again.")
