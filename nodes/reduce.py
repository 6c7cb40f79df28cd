"""Join one group of partial answers: one branch per group, all groups of a level at the same time."""

from __future__ import annotations

import asyncio
from typing import NotRequired

# Not typing's: before Python 3.12 pydantic cannot make a schema of that one.
from typing_extensions import TypedDict

from anabranch.agent.nodes.state import Update
from anabranch.agent.nodes.turn import Turn
from anabranch.agent.nodes.writing import instructions, measure_support, write_live
from anabranch.agent.prompts import GUARD
from anabranch.errors import ModelError
from anabranch.parsing.answer_reply import MARKER
from anabranch.parsing.refusal import is_refusal
from anabranch.safety.prompt_envelope import new_nonce, wrap
from anabranch.synthesis.budget import hold_repeats
from anabranch.synthesis.drafts import BEYOND, fill_prompt, join_drafts, read_draft
from anabranch.types import Draft, Left, Partial, TurnRecord


class ReduceTask(TypedDict):
    """Input of one reduce branch; `last` says that it writes the final answer, `budget` limits repeated calls."""

    turn: TurnRecord
    level: int
    index: int
    drafts: list[Draft]
    last: bool
    message_id: str
    budget: NotRequired[Left]


async def reduce(state: ReduceTask, turn: Turn) -> Update:
    """Write one answer from a group of partial answers; on a failure, the parts stand one after the other."""
    hold_repeats(turn.budget.left)
    try:
        draft = await _join(state, turn)
    except ModelError as error:
        turn.degraded("reduce", error)
        # This draft has no message: text that was streamed of a rejected answer is no part of it.
        draft, beyond = join_drafts(state["drafts"])
        if beyond:
            turn.degraded("reduce", BEYOND.format(beyond))
    turn.count(level=state["level"], group=state["index"] + 1, parts=len(state["drafts"]))
    return {"partials": [Partial(level=state["level"], index=state["index"], draft=draft, group=None, score=1.0)]}


async def _join(state: ReduceTask, turn: Turn) -> Draft:
    """Let the model join the answers.

    Raises:
        ModelError: There is no model, it failed or refused, or its answer is not supported by the parts.
    """
    chat = await turn.chat()
    if chat is None:  # it was taken away between a pause and its resumption
        msg = "No chat model joins the partial answers; these stand one after the other."
        raise ModelError(msg)
    drafts, question, settings = state["drafts"], state["turn"]["standalone_question"], turn.settings
    answers = [(number, "partial answer", draft["answer"]) for number, draft in enumerate(drafts, start=1)]
    user = fill_prompt(wrap(answers, new_nonce()), question, settings.reduce_prompt)
    if state["last"]:
        # A model wrote the parts, so words of the instructions in them may not be repeated.
        message_id, given = state["message_id"], [question]
        reply = await write_live(turn, chat, GUARD, user, message_id=message_id, given=given, takes_part=False)
    else:
        reply = await chat.ask(GUARD, user, max_tokens=settings.answer_tokens)
    window = drafts[0]["window"]
    joined = read_draft(reply, window=window, instructions=instructions(settings), question=question)
    refused = await asyncio.to_thread(is_refusal, MARKER.sub("", joined["answer"]))
    # The claim check needs the parts' markers to find the passages.
    is_lost = not MARKER.search(joined["answer"]) and any(MARKER.search(draft["answer"]) for draft in drafts)
    from anabranch.citations.read_passages import PassageText

    parts = {number: PassageText(str(number), MARKER.sub("", text)) for number, _, text in answers}
    if refused or is_lost or not await measure_support(joined["answer"], parts):
        msg = "The joined answer is a refusal, cites no passage or is not supported by its parts, which stand instead."
        raise ModelError(msg)
    return {**joined, "message_id": state["message_id"]} if state["last"] else joined
