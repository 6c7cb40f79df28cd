"""Join one group of partial answers: one branch per group, all groups of a level at the same time."""

from __future__ import annotations

import asyncio

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import ReduceTask
from anabranch.agent.nodes.support.answer_messages import write_live
from anabranch.agent.nodes.support.dependencies import model_of
from anabranch.agent.nodes.support.drafts import draft_of, instructions, prompt, side_by_side
from anabranch.agent.nodes.support.state_records import Degraded, Draft, Partial
from anabranch.agent.nodes.support.tracing import Update, failed, traced
from anabranch.agent.nodes.support.turn_budget import repeat_within
from anabranch.agent.prompts import GUARD
from anabranch.citations.check_pool import check
from anabranch.citations.passage_text import PassageText
from anabranch.citations.verification import verify
from anabranch.errors import ModelError
from anabranch.models.chat import Chat
from anabranch.parsing import AnswerStream
from anabranch.parsing.answer_reply import MARKER
from anabranch.parsing.refusal import is_refusal
from anabranch.safety.prompt_envelope import new_nonce, wrap


@traced("reduce")
async def reduce(state: ReduceTask, context: Context) -> Update:
    """Write one answer from a group of partial answers; the last one is streamed, and no part is lost on a failure."""
    chat = await model_of(context)
    degraded: list[Degraded] = []
    draft = side_by_side(state["drafts"])
    repeat_within(state.get("budget"))
    if chat is not None:
        try:
            draft = await _joined(context, chat, state)
        except ModelError as error:
            degraded.append(failed("reduce", error))
    # What the reader has seen of a joined answer that was not taken is no part of this one.
    replaced = state["last"] and draft["answer"] == side_by_side(state["drafts"])["answer"]
    return {
        "partials": [Partial(level=state["level"], index=state["index"], draft=draft, group=None, score=1.0)],
        **({"message_id": ""} if replaced else {}),
        "degraded": degraded,
        "counts": {"level": state["level"], "group": state["index"] + 1, "parts": len(state["drafts"])},
    }


async def _joined(context: Context, chat: Chat, state: ReduceTask) -> Draft:
    """Let the model join the answers; a refusal, or a text that the parts do not support, is not accepted.

    Raises:
        ModelError: The model failed, or wrote nothing that the parts say.
    """
    drafts, question = state["drafts"], state["standalone_question"]
    answers = [(number, "partial answer", draft["answer"]) for number, draft in enumerate(drafts, start=1)]
    user = prompt(wrap(answers, new_nonce()), question, context.reduce_prompt)
    most = context.answer_tokens
    if state["last"]:
        # The parts are a model's words, too: an instruction in one of them is no reason to repeat it.
        stream = AnswerStream(told=instructions(context), given=[question])
        reply = await write_live(
            chat, GUARD, user, max_tokens=most, message_id=state["message_id"], stream=stream, part=False
        )
    else:
        reply = await chat.ask(GUARD, user, max_tokens=most)
    joined = draft_of(reply, window=drafts[0]["window"], told=instructions(context), question=question)
    if await asyncio.to_thread(is_refusal, MARKER.sub("", joined["answer"])):
        return side_by_side(drafts)
    # The parts' markers are all that leads back to the passages: an answer without any could not be checked.
    lost = not MARKER.search(joined["answer"]) and any(MARKER.search(draft["answer"]) for draft in drafts)
    parts = {number: PassageText(str(number), MARKER.sub("", text)) for number, _, text in answers}
    if lost or not (await check(lambda limit: verify(joined["answer"], parts, limit=limit))).found:
        msg = "The joined answer names no passage, or says nothing of its parts; they stand one after the other."
        raise ModelError(msg)
    return joined
