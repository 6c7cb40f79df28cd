"""Write the first answer: with a model from the first window, without one from verbatim sentences."""

from __future__ import annotations

from langgraph.runtime import Runtime

from anabranch.errors import ModelError
from graph.context import Context, settle
from graph.state import Degraded, State
from nodes.composed import composed_draft
from nodes.resources import model_of
from nodes.traced import Update, traced
from nodes.writing import draft_of, new_message_id, window_text, write_live


@traced("create")
async def create(state: State, runtime: Runtime[Context]) -> Update:
    """Answer from the first window; where the model fails, verbatim sentences stand in and the answer says so."""
    context = settle(state.get("settings"), runtime)
    message_id = new_message_id()
    final = state["route"]["name"] != "refine"
    chat = await model_of(context)
    if chat is None:
        draft = await composed_draft(context, state)
        return {"draft": draft, "message_id": message_id, "counts": {"by": "compose", "found": draft["found"]}}
    passages = await window_text(context, state, state["windows"][0])
    user = f"{passages}\n\nQuestion: {state['standalone']}"
    try:
        if final:
            reply = await write_live(
                chat, context.create_prompt, user, max_tokens=context.answer_tokens, message_id=message_id
            )
        else:
            reply = await chat.ask(context.create_prompt, user, max_tokens=context.answer_tokens)
        draft = draft_of(reply, window=1)
    except ModelError as error:
        return {
            "draft": await composed_draft(context, state),
            "message_id": message_id,
            "route": {
                "name": "compose",
                "reasons": [*state["route"]["reasons"], "the model failed: verbatim sentences"],
            },
            "degraded": [Degraded(step="create", reason=error.message)],
            "counts": {"by": "compose"},
        }
    return {"draft": draft, "message_id": message_id, "counts": {"by": "model", "found": draft["found"]}}
