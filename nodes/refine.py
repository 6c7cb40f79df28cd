"""Read one more window, and keep the answer, add to it or revise it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from anabranch.agent.nodes.state import State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.agent.nodes.writing import (
    instructions,
    measure_support,
    read_passages,
    skip_window,
    wrap_window,
    write_from_window,
)
from anabranch.agent.prompts import GUARD
from anabranch.errors import ModelError
from anabranch.parsing import Action, append_text, read_revision
from anabranch.safety.prompt_leak import without_instructions
from anabranch.synthesis.budget import hold_repeats
from anabranch.synthesis.context_window import count_tokens
from anabranch.synthesis.drafts import fill_prompt
from anabranch.synthesis.routing import EARLY_STOP

if TYPE_CHECKING:
    from anabranch.models.chat import Chat
    from anabranch.types import Draft


async def refine(state: State, turn: Turn) -> Update:
    """Show the model the next window, and the answer so far if the passages support it."""
    draft, windows = state["draft"], len(state["windows"])
    number, question = draft["window"] + 1, state["turn"]["standalone_question"]
    chat = await turn.chat()
    if chat is None:  # the model was taken away between a pause and its resumption
        return {"draft": {**draft, "window": windows}}
    turn.count(window=number)
    if lacking := turn.budget.lacks(1):
        turn.degraded("refine", f"the model was not asked: another window would take {lacking}")
        turn.count(action="unasked", unread=windows - number + 1)
        return {"draft": {**draft, "window": windows}}
    passages = await wrap_window(turn, state["windows"][number - 1])
    if not passages:
        skip_window(turn, number)
        turn.count(action="none")
        return {"draft": {**draft, "window": number}}
    hold_repeats(turn.budget.rest_of("refine", windows - number + 1))
    try:
        action, revised = await _revise(state, turn, chat, passages)
    except ModelError as error:
        turn.degraded(f"refine:{number}", error)
        turn.count(action="failed")
        return {"draft": {**draft, "window": number}}
    shown, _ = without_instructions(revised["answer"], instructions(turn.settings), [passages, question])
    turn.show(step="refine", status=action, window=number, answer=shown)
    turn.count(action=action)
    if revised["keeps"] >= EARLY_STOP and windows > number:
        turn.count(unread=windows - number)
    return {"draft": revised}


async def _revise(state: State, turn: Turn, chat: Chat, passages: str) -> tuple[Action, Draft]:
    """Ask the model; replace an unsupported answer, and never replace a supported one by a less supported text."""
    draft, question, settings = state["draft"], state["turn"]["standalone_question"], turn.settings
    number = draft["window"] + 1
    # The answer may rest on any window up to this one.
    excerpts = [excerpt for window in state["windows"][:number] for excerpt in window]
    compared, _ = await read_passages(turn, excerpts)

    before = await measure_support(draft["answer"], compared, question)
    if not before:
        new = await write_from_window(turn, chat, passages, question, window=number)
        if not await measure_support(new["answer"], compared, question):
            return "keep", {**draft, "window": number}
        return "revise", new
    user = fill_prompt(passages, question, settings.refine_prompt, existing=draft["answer"])
    reply = await chat.ask(GUARD, user, max_tokens=settings.answer_tokens)
    action, text = await asyncio.to_thread(read_revision, reply, draft["answer"])
    after = await measure_support(text, compared, question) if text else 0.0
    # A revised answer must be supported at least as well.
    if not after or (action == "revise" and after < before):
        return "keep", {**draft, "window": number, "keeps": draft["keeps"] + 1}
    answer = text if action == "revise" else append_text(draft["answer"], text)
    await _check_room(turn, answer)
    return action, {**draft, "answer": answer, "window": number, "keeps": 0}


async def _check_room(turn: Turn, answer: str) -> None:
    """Refuse an answer longer than `answer_tokens`, which is the room kept for it beside a window.

    Raises:
        ModelError: The answer is longer.
    """
    most, corpus = turn.settings.answer_tokens, await turn.corpus()
    (size,) = await asyncio.to_thread(count_tokens, corpus.embedder, [answer])
    if size > most:
        msg = f"The answer would outgrow answer_tokens={most}: nothing was added."
        raise ModelError(msg, hint="Raise answer_tokens.")
