"""Write the first answer: with a model from the first window, without one from the best passages, whole."""

from __future__ import annotations

import asyncio

from langgraph.config import get_stream_writer

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.support.answer_messages import new_message_id, write_live
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
from anabranch.agent.nodes.support.passage_extracts import composed_draft
from anabranch.agent.nodes.support.slow_reply import shown_meanwhile
from anabranch.agent.nodes.support.state_records import NO_DRAFT
from anabranch.agent.nodes.support.tracing import Update, failed, traced
from anabranch.agent.nodes.support.turn_budget import beside, repeat_within
from anabranch.agent.prompts import GUARD, GUARD_AGAIN
from anabranch.citations.check_pool import read_meanwhile
from anabranch.errors import ModelError
from anabranch.models.chat import Chat
from anabranch.parsing import AnswerStream
from anabranch.parsing.answer_reply import MARKER
from anabranch.parsing.refusal import is_refusal
from anabranch.safety.prompt_leak import without_instructions
from anabranch.synthesis.budget import RouteName


@traced("create")
async def create(state: State, context: Context) -> Update:
    """Answer from the first window; if the model fails, show the best passages instead and say so.

    If an earlier answer of this turn was a refusal, the model is asked once more, without being offered one.
    """
    again = state["draft"]["window"] > 0
    refined = state["route"]["name"] == "refine" and not again
    message_id = "" if refined else new_message_id()
    chat = await model_of(context)
    if chat is None or state["route"]["name"] == "compose":
        draft = await composed_draft(context, state)
        return {"draft": draft, "message_id": "", "counts": {"by": "compose"}}
    passages = await window_text(context, state, state["windows"][0])
    # Their documents were changed or removed since the search; nobody is asked about nothing.
    if not passages:
        draft = {**NO_DRAFT, "window": 1}
        return {"draft": draft, "message_id": "", "degraded": [gone(1)], "counts": {"by": "none"}}
    question = state["standalone_question"]
    user = prompt(passages, question, asking(context, chat))
    route: RouteName = "refine" if refined else "create"
    repeat_within(beside(context, state["trace"], route, len(state["windows"]) if refined else 1))
    try:
        system = GUARD_AGAIN if again else GUARD
        compared, _ = await passages_of(context, state, state["windows"][0])
        async with read_meanwhile(compared.values()):
            reply = await _reply(context, chat, state, (system, user), [passages, question], message_id)
        draft = draft_of(reply, window=1, told=instructions(context), question=question, chat=chat)
    except ModelError as error:
        # Under an id of its own: what the model wrote before it broke off is no part of this answer.
        return {
            "draft": await composed_draft(context, state),
            "message_id": "",
            "route": {
                "name": "compose",
                "reasons": [*state["route"]["reasons"], "the model failed: the passages that match best are shown"],
            },
            "degraded": [failed("create", error)],
            "counts": {"by": "compose"},
        }
    # A first window that tells nothing is no draft to show: the next one may tell.
    if refined and not await asyncio.to_thread(is_refusal, MARKER.sub("", draft["answer"])):
        shown, _ = without_instructions(draft["answer"], instructions(context), [passages, question])
        get_stream_writer()({"step": "create", "status": "draft", "answer": shown})
    return {"draft": draft, "message_id": message_id, "asked_again": again, "counts": {"by": "model", "again": again}}


async def _reply(
    context: Context, chat: Chat, state: State, asked: tuple[str, str], given: list[str], message_id: str
) -> str:
    """Let the model write: into a message if this is the answer, or else, if it will be refined, into a draft."""
    most = context.answer_tokens
    documents = cites_documents(context, chat)
    stream = AnswerStream(told=instructions(context), given=given)
    async with shown_meanwhile("create", context, state) as began:
        if not message_id:
            return await chat.ask(*asked, max_tokens=most, documents=documents)
        return await write_live(
            chat, *asked, max_tokens=most, message_id=message_id, stream=stream, documents=documents, began=began
        )
