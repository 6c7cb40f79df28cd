"""Read one more window, and keep the answer, add to it or revise it."""

from __future__ import annotations

import asyncio

from langgraph.config import get_stream_writer

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.support.context_window import sizes
from anabranch.agent.nodes.support.dependencies import corpus_of, model_of
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
from anabranch.agent.nodes.support.state_records import Degraded, Draft
from anabranch.agent.nodes.support.tracing import Update, failed, traced
from anabranch.agent.nodes.support.turn_budget import beside, left_of, repeat_within
from anabranch.agent.prompts import GUARD
from anabranch.citations.check_pool import check
from anabranch.citations.verification import verify
from anabranch.errors import ModelError
from anabranch.models.chat import Chat
from anabranch.parsing import Action, appended, read_revision
from anabranch.safety.prompt_leak import without_instructions
from anabranch.synthesis.budget import Spending
from anabranch.synthesis.routing import EARLY_STOP


@traced("refine")
async def refine(state: State, context: Context) -> Update:
    """Show the model the next window, and the answer so far if the passages support it."""
    draft = state["draft"]
    number = draft["window"]
    chat = await model_of(context)
    if chat is None:  # the model was taken away between a pause and its resumption
        return {"draft": {**draft, "window": len(state["windows"])}}
    if lacking := left_of(context, state["trace"]).lacks(Spending(1, 0)):
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
    repeat_within(beside(context, state["trace"], "refine", len(state["windows"]) - number))
    try:
        action, revised = await _revised(context, chat, state, passages)
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


async def _revised(context: Context, chat: Chat, state: State, passages: str) -> tuple[Action, Draft]:
    """Ask the model; replace an unsupported answer, and never replace a supported one by a less supported text."""
    draft, question = state["draft"], state["standalone_question"]
    window = draft["window"] + 1
    held = await _support(context, state, draft["answer"], window)
    if not held:
        user = prompt(passages, question, asking(context, chat))
        documents = cites_documents(context, chat)
        reply = await chat.ask(GUARD, user, max_tokens=context.answer_tokens, documents=documents)
        new = draft_of(reply, window=window, told=instructions(context), question=question, chat=chat)
        if not await _support(context, state, new["answer"], window):
            return "keep", {**draft, "window": window, "keeps": draft["keeps"]}
        return "revise", new
    user = prompt(passages, question, context.refine_prompt, existing=draft["answer"])
    reply = await chat.ask(GUARD, user, max_tokens=context.answer_tokens)
    action, text = await asyncio.to_thread(read_revision, reply, draft["answer"])
    support = await _support(context, state, text, window) if text else 0.0
    # What is written anew takes the place of the answer only if it is supported at least as well.
    if not support or (action == "revise" and support < held):
        return "keep", {**draft, "window": window, "keeps": draft["keeps"] + 1}
    answer = text if action == "revise" else appended(draft["answer"], text)
    await _check_room(context, answer)
    return action, {**draft, "answer": answer, "window": window, "keeps": 0}


async def _support(context: Context, state: State, answer: str, windows: int) -> float:
    """Return the share of the claims of an answer that the windows read so far support."""
    excerpts = [excerpt for window in state["windows"][:windows] for excerpt in window]
    passages, _ = await passages_of(context, state, excerpts)
    checked = await check(lambda limit: verify(answer, passages, state["standalone_question"], limit))
    return checked.found / len(checked.claims) if checked.claims else 0.0


async def _check_room(context: Context, answer: str) -> None:
    """Refuse an answer longer than `answer_tokens`, because only so much room is kept for it beside a window.

    Raises:
        ModelError: The answer is longer.
    """
    corpus = await corpus_of(context)
    (size,) = await asyncio.to_thread(sizes, corpus.embedder, [answer])
    if size > context.answer_tokens:
        msg = f"The answer would outgrow answer_tokens={context.answer_tokens}: nothing was added."
        raise ModelError(msg, hint="Raise answer_tokens.")
