"""Start a turn: check what the caller gave, and empty every channel that belongs to one turn."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.types import Overwrite

from anabranch.agent.nodes.retrieve import refuse_unknown
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import BeginTask, fresh_turn
from anabranch.agent.nodes.support.answer_messages import new_message_id, show
from anabranch.agent.nodes.support.audit_events import note
from anabranch.agent.nodes.support.dependencies import about_model, corpus_of, model_of, reranker_of
from anabranch.agent.nodes.support.settings_precedence import reader_of
from anabranch.agent.nodes.support.state_records import Degraded, Query
from anabranch.agent.nodes.support.tracing import Update, traced
from anabranch.errors import QuestionError
from anabranch.identity.audit_log import question_facts
from anabranch.store.filters import parse_filters
from anabranch.text.normalization import clean
from anabranch.text.phrases import greeting_reply, without_courtesy

MAX_QUESTION_CHARS = 10_000


@traced("begin", first=True)
async def begin(state: BeginTask, context: Context, *, event: str = "question") -> Update:
    """Take the question from `question` or the last human message; raise at once if the question cannot be answered."""
    given = state.get("question")
    asked = _checked(given or _last_human(state.get("messages") or []))
    await note(event, context, **question_facts(asked))
    narrowed = state.get("filters") or None
    parse_filters(narrowed)
    refuse_unknown(context.retrievers)
    found, remarks = about_model(context, await model_of(context, anew=True))
    if context.rerank != "none":
        await reranker_of(context)
    corpus = await corpus_of(context)
    reply, message_id, searched = greeting_reply(asked), new_message_id(), without_courtesy(asked)
    show(message_id, reply)
    return {
        **fresh_turn(),
        # A greeting is answered by one, and not looked for in anybody's documents.
        **({"answer": reply, "message_id": message_id} if reply else {}),
        # As a plain record: a message object here would show up in the `messages` stream, which is for the answer.
        "messages": [{"type": "human", "content": asked}] if given else [],
        "settings": {**state.get("settings", {}), **context.remembered()},
        "access_digest": reader_of(context),
        "generation": corpus.generation,
        "original_question": asked,
        "active_filters": narrowed,
        "standalone_question": searched,
        "queries": [] if reply else [Query(text=searched, weight=1.0, kind="asked")],
        **({"degraded": Overwrite([Degraded(step="model", reason=remark) for remark in remarks])} if remarks else {}),
        "counts": {"generation": corpus.generation, **found},
    }


def _last_human(messages: list[AnyMessage]) -> str:
    if messages and isinstance(messages[-1], HumanMessage):
        return messages[-1].text
    return ""


def _checked(question: Any) -> str:  # noqa: ANN401  # a caller may send anything
    if not isinstance(question, str):
        msg = f"The question is {type(question).__name__}, not text."
        raise QuestionError(msg, hint="Give `question` as a string.")
    # Documents were cleaned in the same way when they were read, so that both match; what was invisible is gone before
    # a model, a checkpoint or a terminal gets it.
    asked = clean(question).strip()
    if not asked:
        msg = "The question is empty."
        raise QuestionError(msg, hint="Give `question`, or `messages` that end with a human message.")
    if len(asked) > MAX_QUESTION_CHARS:
        msg = f"The question has {len(asked):,} characters; {MAX_QUESTION_CHARS:,} is the most."
        raise QuestionError(msg, hint="Ask a shorter question; put long material into the corpus instead.")
    if not any(character.isalnum() for character in asked):
        msg = f"The question {asked[:40]!r} has no letter and no digit."
        raise QuestionError(msg, hint="Ask in words.")
    return asked
