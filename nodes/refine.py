"""Read one more window, and keep the answer, add to it or revise it."""

from __future__ import annotations

import asyncio

from langgraph.config import get_stream_writer

from anabranch.errors import ModelError
from anabranch.parsing import REVISION_SCHEMA, Action, AnswerReply, parse_revision
from anabranch.safety.prompt_leak import without_instructions
from anabranch.synthesis.budget import Spending
from anabranch.synthesis.routing import EARLY_STOP
from nodes.settings import Context
from nodes.state import State
from nodes.support.context_window import sizes
from nodes.support.dependencies import corpus_of, model_of
from nodes.support.drafts import draft_of, gone, instructions, window_text
from nodes.support.state_records import Degraded, Draft
from nodes.support.tracing import Update, failed, traced
from nodes.support.turn_budget import beside, left_of, repeat_within


@traced("refine")
async def refine(state: State, context: Context) -> Update:
    """Show the model the answer so far and the next window; 'keep' and 'add' leave what is there as it is."""
    draft = state["draft"]
    number = draft["window"]
    chat = await model_of(context)
    if chat is None:  # the model was taken away between a pause and its resumption
        return {"draft": {**draft, "window": len(state["windows"])}}
    if lacking := left_of(context, state["trace"]).lacks(Spending(1, 1, 0)):
        return {
            "draft": {**draft, "window": len(state["windows"])},
            "degraded": [
                Degraded(step="refine", reason=f"the model was not asked: another window would take {lacking}")
            ],
            "counts": {"window": number + 1, "action": "unasked", "unread": len(state["windows"]) - number},
        }
    passages = await window_text(context, state, state["windows"][number])
    if not passages:
        counts = {"window": number + 1, "action": "none"}
        return {"draft": {**draft, "window": number + 1}, "degraded": [gone(number + 1)], "counts": counts}
    so_far = draft["answer"] if draft["found"] else "(nothing was found so far)"
    user = f"{passages}\n\nQuestion: {state['standalone_question']}\n\nAnswer so far: {so_far}"
    repeat_within(beside(context, state["trace"], "refine", len(state["windows"]) - number))
    try:
        reply = await chat.ask(context.refine_prompt, user, max_tokens=context.answer_tokens, schema=REVISION_SCHEMA)
        action, revised = _revised(reply, draft, number + 1, (context.refine_prompt, state["standalone_question"]))
        if action == "add":
            await _check_room(context, revised["answer"])
    except ModelError as error:
        return {
            "draft": {**draft, "window": number + 1},
            "degraded": [failed(f"refine:{number + 1}", error)],
            "counts": {"window": number + 1, "action": "failed"},
        }
    shown, _ = without_instructions(revised["answer"], instructions(context), [passages, state["standalone_question"]])
    get_stream_writer()({"step": "refine", "status": action, "window": number + 1, "answer": shown})
    unread = len(state["windows"]) - revised["window"] if revised["keeps"] >= EARLY_STOP else 0
    counts = {"window": number + 1, "action": action, **({"unread": unread} if unread else {})}
    return {"draft": revised, "counts": counts}


def _revised(reply: str, draft: Draft, window: int, told: tuple[str, str]) -> tuple[Action, Draft]:
    """Apply the model's decision; quotes of both versions are kept, because kept sentences keep their markers."""
    if not draft["found"]:
        return _first(reply, draft, window, told)
    revision = parse_revision(reply, draft["answer"])
    if revision.action == "keep":
        return "keep", {**draft, "window": window, "keeps": draft["keeps"] + 1}
    new = {str(number): list(quotes) for number, quotes in revision.quotes.items()}
    quotes = {number: [*draft["quotes"].get(number, []), *new.get(number, [])] for number in {*draft["quotes"], *new}}
    return revision.action, {**draft, "answer": revision.answer, "quotes": quotes, "window": window, "keeps": 0}


def _first(reply: str, draft: Draft, window: int, told: tuple[str, str]) -> tuple[Action, Draft]:
    """Take the first answer from a window after the first; a reply that only decides something is none.

    Raises:
        ModelError: The reply neither answers nor says that it cannot.
    """
    revision = parse_revision(reply, "")
    if revision.action != "keep":
        return "revise", draft_of(reply, window=window, told=told, parts=AnswerReply(revision.answer, revision.quotes))
    missing = draft_of(reply, window=window, told=told)["missing"]
    return "keep", {**draft, "window": window, "missing": missing or draft["missing"]}


async def _check_room(context: Context, answer: str) -> None:
    """Refuse an answer that is longer than a model may write one: so much room is kept for it beside a window.

    Raises:
        ModelError: It is.
    """
    corpus = await corpus_of(context)
    (size,) = await asyncio.to_thread(sizes, corpus.embedder, [answer])
    if size > context.answer_tokens:
        msg = f"The answer would outgrow answer_tokens={context.answer_tokens}: nothing was added."
        raise ModelError(msg, hint="Raise answer_tokens.")
