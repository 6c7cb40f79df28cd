"""Make a follow-up question stand alone."""

from __future__ import annotations

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from anabranch.conversation import Turn, condense_reply, follow_up, transcript
from anabranch.errors import ModelError
from graph.context import Context, settle
from graph.state import Degraded, Query, State
from nodes.resources import model_of
from nodes.traced import Update, traced


@traced("condense")
async def condense(state: State, runtime: Runtime[Context]) -> Update:
    """Rewrite the question from the conversation; on a first turn there is nothing to do.

    The question as asked stays a query of its own: a rewrite can lose what mattered.
    """
    context = settle(state.get("settings"), runtime)
    asked = state["asked"]
    turns = _turns(state.get("messages") or [])
    queries = [Query(text=asked, weight=1.0, kind="asked")]
    if not turns:
        return {"queries": queries}
    degraded: list[Degraded] = []
    chat = await model_of(context)
    standalone = follow_up(asked, turns)
    if chat is not None:
        try:
            user = transcript(turns, asked)
            standalone = condense_reply(await chat.ask(context.condense_prompt, user, max_tokens=200), asked)
        except ModelError as error:
            degraded.append(Degraded(step="condense", reason=error.message))
    if standalone.casefold() != asked.casefold():
        queries.insert(0, Query(text=standalone, weight=1.0, kind="condensed"))
        queries[1]["weight"] = 0.5
    return {
        "standalone": standalone,
        "queries": queries,
        "degraded": degraded,
        "counts": {"turns": len(turns), "condensed": standalone != asked},
    }


def _turns(messages: list[AnyMessage]) -> list[Turn]:
    """Pair each earlier question with its answer; the last message is this turn's question."""
    turns: list[Turn] = []
    question = ""
    for message in messages[:-1]:
        if isinstance(message, HumanMessage):
            question = message.text
        elif isinstance(message, AIMessage) and question:
            turns.append(Turn(question=question, answer=message.text))
            question = ""
    return turns
