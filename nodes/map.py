"""Answer from one window: one branch per window, all at the same time."""

from __future__ import annotations

from contextlib import nullcontext

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import MapTask
from anabranch.agent.nodes.support.dependencies import model_of
from anabranch.agent.nodes.support.drafts import (
    asking,
    cites_documents,
    draft_of,
    gone,
    instructions,
    passages_of,
    prompt,
    window_text,
)
from anabranch.agent.nodes.support.slow_reply import shown_meanwhile
from anabranch.agent.nodes.support.state_records import Partial
from anabranch.agent.nodes.support.tracing import Update, failed, traced
from anabranch.agent.nodes.support.turn_budget import repeat_within
from anabranch.agent.prompts import GUARD
from anabranch.citations.check_pool import check
from anabranch.citations.verification import verify
from anabranch.errors import ModelError


@traced("map")
async def map_window(state: MapTask, context: Context) -> Update:
    """Answer from one window, and measure how well its passages support the answer, to compare the partial answers."""
    chat = await model_of(context)
    if chat is None:  # the model was taken away between a pause and its resumption
        return {"partials": []}
    passages = await window_text(context, state, state["excerpts"])
    repeat_within(state.get("budget"))
    index, question = state["index"], state["standalone_question"]
    if not passages:
        return {"partials": [], "degraded": [gone(index + 1)], "counts": {"window": index + 1}}
    try:
        user = prompt(passages, question, asking(context, chat))
        # The first window has the best passages; the other branches show nothing.
        waiting = nullcontext() if index else shown_meanwhile("map", context, state)
        documents = cites_documents(context, chat)
        async with waiting:
            reply = await chat.ask(GUARD, user, max_tokens=context.answer_tokens, documents=documents)
        draft = draft_of(reply, window=index + 1, told=instructions(context), question=question, chat=chat)
    except ModelError as error:
        return {"partials": [], "degraded": [failed(f"map:{index + 1}", error)], "counts": {"window": index + 1}}
    # Scored here, where the window's passages are at hand; the step that compares the answers has none.
    shown, _ = await passages_of(context, state, state["excerpts"])
    placed = await check(lambda limit: verify(draft["answer"], shown, question, limit))
    partial = Partial(level=0, index=index, draft=draft, group=None, score=round(placed.score, 3))
    return {"partials": [partial], "counts": {"window": index + 1, "score": partial["score"]}}
