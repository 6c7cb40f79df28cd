"""Answer from one window: one branch per window, all at the same time."""

from __future__ import annotations

from langgraph.runtime import Runtime

from anabranch.errors import ModelError
from graph.context import Context, settle
from graph.state import Degraded, MapTask, Partial
from nodes.resources import model_of
from nodes.traced import Update, traced
from nodes.writing import draft_of, window_text


@traced("map")
async def map_window(state: MapTask, runtime: Runtime[Context]) -> Update:
    """Write down what one window says; a branch that fails is reported and the others go on."""
    context = settle(state["settings"], runtime)
    chat = await model_of(context)
    if chat is None:
        return {"partials": []}
    passages = await window_text(context, state, state["excerpts"])
    try:
        reply = await chat.ask(
            context.map_prompt, f"{passages}\n\nQuestion: {state['standalone']}", max_tokens=context.answer_tokens
        )
    except ModelError as error:
        failed = Degraded(step=f"map:{state['index'] + 1}", reason=error.message)
        return {"partials": [], "degraded": [failed], "counts": {"window": state["index"] + 1, "found": False}}
    draft = draft_of(reply, window=state["index"] + 1)
    return {
        "partials": [Partial(level=0, index=state["index"], draft=draft)],
        "counts": {"window": state["index"] + 1, "found": draft["found"]},
    }
