"""Make a follow-up question stand alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, HumanMessage

from anabranch.agent.nodes.state import RetrievalState, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.errors import ModelError
from anabranch.retrieval.conversation import ConversationTurn, condense_reply, follow_up, recent_turns, transcript
from anabranch.retrieval.question_words import TOGETHER
from anabranch.synthesis.token_bound import bound_tokens
from anabranch.text.phrases import greeting_reply, without_courtesy
from anabranch.types import Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import AnyMessage

    from anabranch.models.chat import Chat

# Most tokens of the conversation that the model gets, newest turns first.
HISTORY_TOKENS = 1000
NOTHING_FOUND = "(not found in the documents)"


async def condense(state: RetrievalState, turn: Turn) -> Update:
    """Rewrite the question from the conversation; on a first turn there is nothing to do.

    The original question stays a query of its own: a rewrite can lose what mattered, or add what does not belong to it.
    """
    # The messages keep the courtesies around a question.
    asked = without_courtesy(state["turn"]["question"])
    history = _pair_messages(state.get("messages") or [])
    queries = [Query(text=asked, weight=1.0, kind="asked")]
    if not history:
        return {"queries": queries}
    turn.count(turns=len(history))
    chat = await turn.chat()
    # Used if no model is asked, or its reply is of no use.
    standalone = together = follow_up(asked, history)
    # A question's only call is its answer, and nothing is missed.
    if chat is not None and turn.settings.max_model_calls > 1 and turn.budget.allows():
        read = await _select_recent(turn, history)
        turn.count(read=len(read), left_out=len(history) - len(read))
        try:
            async with turn.awaiting_model():
                standalone = await _ask(chat, turn, read, asked, standalone)
        except ModelError as error:
            turn.degraded("condense", error)
    is_condensed = standalone.casefold() != asked.casefold()
    if is_condensed:
        kind = TOGETHER if standalone == together else "condensed"
        queries.insert(0, Query(text=standalone, weight=1.0, kind=kind))
        queries[1]["weight"] = 0.5  # its words are in the condensed query, too
    turn.count(condensed=is_condensed)
    return {"turn": {**state["turn"], "standalone_question": standalone}, "queries": queries}


async def _select_recent(turn: Turn, history: list[ConversationTurn]) -> list[ConversationTurn]:
    """Return the last turns of the conversation that fit."""
    embedder = (await turn.corpus()).embedder

    def count(text: str) -> int:
        return bound_tokens(text, embedder.count([text])[0])

    return await asyncio.to_thread(recent_turns, history, HISTORY_TOKENS, count)


async def _ask(chat: Chat, turn: Turn, history: list[ConversationTurn], asked: str, fallback: str) -> str:
    if not history:
        return fallback
    # A question is short, and `condense_reply` refuses a longer reply.
    reply = await chat.ask(turn.settings.condense_prompt, transcript(history, asked), max_tokens=200)
    return condense_reply(reply, asked, history)


def _pair_messages(messages: Sequence[AnyMessage]) -> list[ConversationTurn]:
    """Pair each earlier question with its answer; the last message is this turn's question, and thanks are none."""
    turns: list[ConversationTurn] = []
    question = ""
    for message in messages[:-1]:
        if isinstance(message, HumanMessage):
            question = "" if greeting_reply(message.text) else without_courtesy(message.text)
        elif isinstance(message, AIMessage) and question:
            # An abstention shows passages, which are no answer.
            abstained = message.response_metadata.get("abstained")
            turns.append(ConversationTurn(question=question, answer=NOTHING_FOUND if abstained else message.text))
            question = ""
    return turns
