"""Write the first answer: with a model from the first window, or else the best passages, whole."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from anabranch.agent.nodes.compose import compose_draft
from anabranch.agent.nodes.state import State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.agent.nodes.writing import (
    ask_about_window,
    cites_documents,
    instructions,
    new_message_id,
    read_passages,
    skip_window,
    wrap_window,
    write_from_window,
    write_live,
)
from anabranch.agent.prompts import GUARD, GUARD_AGAIN
from anabranch.errors import ModelError
from anabranch.models.usage import meter
from anabranch.parsing.answer_reply import MARKER
from anabranch.parsing.refusal import is_refusal
from anabranch.safety.prompt_leak import without_instructions
from anabranch.synthesis.budget import hold_repeats
from anabranch.synthesis.drafts import read_draft
from anabranch.types import NO_DRAFT

if TYPE_CHECKING:
    from collections.abc import Callable

    from anabranch.models.chat import Chat
    from anabranch.types import Draft


async def create(state: State, turn: Turn) -> Update:
    """Answer from the first window; if the model fails, show the best passages instead and say so.

    If an earlier answer of this turn was a refusal, the model is asked once more, without being offered one.
    """
    again = state["draft"]["window"] > 0
    will_refine = state["route"]["name"] == "refine" and not again
    chat = await turn.chat()
    if chat is None or state["route"]["name"] == "compose":
        turn.count(by="compose")
        return {"draft": await compose_draft(state, turn)}
    passages = await wrap_window(turn, state["windows"][0])
    if not passages:
        skip_window(turn, 1)
        turn.count(by="none")
        return {"draft": {**NO_DRAFT, "window": 1}}
    windows = len(state["windows"])
    hold_repeats(turn.budget.rest_of("refine", windows) if will_refine else turn.budget.rest_of("create", 1))
    question = state["turn"]["standalone_question"]
    from anabranch.citations.check_pool import read_meanwhile

    try:
        compared, _ = await read_passages(turn, state["windows"][0])
        async with read_meanwhile(compared.values()), turn.awaiting_model() as on_begin:
            if will_refine:
                draft = await write_from_window(turn, chat, passages, question, window=1)
            else:
                draft = await _write_answer(turn, chat, passages, question, on_begin, again=again)
    except ModelError as error:
        turn.degraded("create", error)
        turn.count(by="compose")
        failed = "ran out of time" if meter().timed_out else "failed"
        why = f"the model {failed}: the passages that match best are shown"
        # The model's incomplete text is no part of this answer, so the draft has no message yet.
        return {
            "draft": await compose_draft(state, turn),
            "route": {"name": "compose", "reasons": [*state["route"]["reasons"], why]},
        }
    # A refusal of the first window is not shown: the next window may hold the answer.
    if will_refine and not await asyncio.to_thread(is_refusal, MARKER.sub("", draft["answer"])):
        shown, _ = without_instructions(draft["answer"], instructions(turn.settings), [passages, question])
        turn.show(step="create", status="draft", answer=shown)
    turn.count(by="model", again=again)
    return {"draft": draft}


async def _write_answer(
    turn: Turn, chat: Chat, passages: str, question: str, on_begin: Callable[[], object], *, again: bool
) -> Draft:
    """Stream the model's answer as the message that the reader sees.

    Raises:
        ModelError: It failed, or its reply holds no answer.
    """
    settings, message_id = turn.settings, new_message_id()
    reply = await write_live(
        turn,
        chat,
        GUARD_AGAIN if again else GUARD,
        ask_about_window(settings, chat, passages, question),
        message_id=message_id,
        given=[passages, question],
        documents=cites_documents(settings, chat),
        on_begin=on_begin,
    )
    draft = read_draft(reply, window=1, instructions=instructions(settings), question=question, chat=chat)
    return {**draft, "message_id": message_id, "again": again}
