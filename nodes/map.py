"""Answer from one window: one branch per window, all at the same time."""

from __future__ import annotations

from anabranch.errors import ModelError
from nodes.settings import Context
from nodes.state import MapTask
from nodes.support.dependencies import model_of
from nodes.support.drafts import draft_of, gone, window_text
from nodes.support.state_records import Partial
from nodes.support.tracing import Update, failed, traced
from nodes.support.turn_budget import repeat_within


@traced("map")
async def map_window(state: MapTask, context: Context) -> Update:
    """Write down what one window says; a branch that fails is reported and the others go on."""
    chat = await model_of(context)
    if chat is None:
        return {"partials": []}
    passages = await window_text(context, state, state["excerpts"])
    repeat_within(state.get("budget"))
    index, question = state["index"], state["standalone_question"]
    if not passages:
        return {"partials": [], "degraded": [gone(index + 1)], "counts": {"window": index + 1, "found": False}}
    try:
        user = f"{passages}\n\nQuestion: {question}"
        reply = await chat.ask(context.map_prompt, user, max_tokens=context.answer_tokens)
        draft = draft_of(reply, window=index + 1, told=(context.map_prompt, question))
    except ModelError as error:
        lost = failed(f"map:{index + 1}", error)
        return {"partials": [], "degraded": [lost], "counts": {"window": index + 1, "found": False}}
    return {
        "partials": [Partial(level=0, index=index, draft=draft, group=None)],
        "counts": {"window": index + 1, "found": draft["found"]},
    }
