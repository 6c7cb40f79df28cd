"""Make a follow-up question stand alone."""

from __future__ import annotations

import asyncio

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import RetrievalState
from anabranch.agent.nodes.support.dependencies import corpus_of, model_of
from anabranch.agent.nodes.support.question_words import as_asked
from anabranch.agent.nodes.support.slow_reply import shown_meanwhile
from anabranch.agent.nodes.support.state_records import Degraded, Query
from anabranch.agent.nodes.support.tracing import Update, failed, traced
from anabranch.agent.nodes.support.turn_budget import spares
from anabranch.errors import ModelError
from anabranch.models.chat import Chat
from anabranch.retrieval.conversation import ConversationTurn, condense_reply, follow_up, recent, transcript
from anabranch.synthesis.token_bound import at_most
from anabranch.text.phrases import greeting_reply, without_courtesy

# Kind of a query that is the question with the one before it; the question alone comes next.
TOGETHER = "together"
# The evidence score of such a question: the best cosine of the question alone.
ALONE = "dense_alone"
# Of the conversation that a follow-up is understood from, newest turns first.
HISTORY_TOKENS = 1000
NOTHING_FOUND = "(not found in the documents)"


@traced("condense")
async def condense(state: RetrievalState, context: Context) -> Update:
    """Rewrite the question from the conversation; on a first turn there is nothing to do.

    The question as asked stays a query of its own: a rewrite can lose what mattered, and where no model says what the
    question is about, it may be about nothing that was said before.
    """
    asked = as_asked(state)
    turns = _turns(state.get("messages") or [])
    queries = [Query(text=asked, weight=1.0, kind="asked")]
    if not turns:
        return {"queries": queries}
    degraded: list[Degraded] = []
    counts = {"turns": len(turns)}
    chat = await model_of(context)
    # What stands where no model is asked, or its reply is of no use.
    standalone = together = follow_up(asked, turns)
    if chat is not None and spares(context, state["trace"]):
        read = await _recent(context, turns)
        counts |= {"read": len(read), "left_out": len(turns) - len(read)}
        try:
            async with shown_meanwhile("condense", context, state):
                standalone = await _condensed(context, chat, read, asked, standalone)
        except ModelError as error:
            degraded.append(failed("condense", error))
    condensed = standalone.casefold() != asked.casefold()
    if condensed:
        kind = TOGETHER if standalone == together else "condensed"
        queries.insert(0, Query(text=standalone, weight=1.0, kind=kind))
        queries[1]["weight"] = 0.5  # half of it is in the other one: what it asks for alone is found by both
    return {
        "standalone_question": standalone,
        "queries": queries,
        "degraded": degraded,
        "counts": {**counts, "condensed": condensed},
    }


async def _recent(context: Context, turns: list[ConversationTurn]) -> list[ConversationTurn]:
    """Return the last turns that there is room for."""
    embedder = (await corpus_of(context)).embedder

    def count(text: str) -> int:
        return at_most(text, embedder.count([text])[0])

    return await asyncio.to_thread(recent, turns, HISTORY_TOKENS, count)


async def _condensed(context: Context, chat: Chat, turns: list[ConversationTurn], asked: str, fallback: str) -> str:
    if not turns:
        return fallback
    # A question is short: a longer reply is refused as none (`condense_reply`), so nobody pays for it.
    reply = await chat.ask(context.condense_prompt, transcript(turns, asked), max_tokens=200)
    return condense_reply(reply, asked, turns)


def _turns(messages: list[AnyMessage]) -> list[ConversationTurn]:
    """Pair each earlier question with its answer; the last message is this turn's question, and thanks are none."""
    turns: list[ConversationTurn] = []
    question = ""
    for message in messages[:-1]:
        if isinstance(message, HumanMessage):
            question = "" if greeting_reply(message.text) else without_courtesy(message.text)
        elif isinstance(message, AIMessage) and question:
            # What an abstention shows of the documents is no answer to go on from.
            abstained = message.response_metadata.get("abstained")
            turns.append(ConversationTurn(question=question, answer=NOTHING_FOUND if abstained else message.text))
            question = ""
    return turns
