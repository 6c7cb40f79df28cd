"""Start a turn: check what the caller gave, and empty every channel that belongs to one turn."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from typing import Any, get_type_hints

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.types import Overwrite

from anabranch.agent.nodes.retrieve import refuse_unknown
from anabranch.agent.nodes.state import STATE_VERSION, Fresh, InputState, State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.agent.nodes.writing import new_message_id
from anabranch.errors import QuestionError
from anabranch.identity.audit_log import question_facts
from anabranch.store.filters import parse_filters
from anabranch.text.normalization import clean
from anabranch.text.phrases import greeting_reply, without_courtesy
from anabranch.types import NO_DRAFT, Query, TurnRecord

MAX_QUESTION_CHARS = 10_000


class BeginTask(InputState, total=False):
    """Input of the first step: the caller's input, with only the last message, and the settings of the call."""

    version: int
    settings: dict[str, Any]


async def begin(state: BeginTask, turn: Turn) -> Update:
    """Take the question from `question` or the last human message; raise at once if the question cannot be answered."""
    return await _begin(state, turn, "question")


async def begin_search(state: BeginTask, turn: Turn) -> Update:
    """Begin a search, as `begin` begins a question; the audit log tells them apart."""
    return await _begin(state, turn, "search")


async def _begin(state: BeginTask, turn: Turn, event: str) -> Update:
    given = state.get("question")
    asked = _check_question(given or _last_human(state.get("messages") or []))
    await turn.audit(event, **question_facts(asked))
    filters = state.get("filters") or None
    parse_filters(filters)
    refuse_unknown([*turn.settings.retrievers, *turn.settings.hop_retrievers], turn.retrievers)
    chat = await turn.chat()
    turn.note_model(chat)
    if turn.settings.rerank != "none":
        await turn.reranker()
    corpus = await turn.corpus()
    turn.count(generation=corpus.generation)
    # A search looks for these words as well.
    reply = "" if event == "search" else greeting_reply(asked)
    message_id, question = new_message_id(), without_courtesy(asked)
    turn.show_answer(message_id, reply)
    # A search asks for passages, as many as its caller wants; and a greeting takes no effort.
    effort = await turn.choose_effort(chat) if event == "question" and not reply else {}
    return {
        **fresh_turn(),
        # A greeting is answered without a search.
        **({"answer": reply, "draft": {**NO_DRAFT, "message_id": message_id}} if reply else {}),
        # As a plain record: a message object here would show up in the `messages` stream, which is for the answer.
        "messages": [{"type": "human", "content": asked}] if given else [],
        "turn": TurnRecord(
            version=STATE_VERSION,
            settings={**state.get("settings", {}), **turn.settings.remembered(), **effort},
            access_digest=turn.access_digest,
            generation=corpus.generation,
            filters=filters,
            question=asked,
            standalone_question=question,
        ),
        "queries": [] if reply else [Query(text=question, weight=1.0, kind="asked")],
    }


def fresh_turn() -> Update:
    """Return an update that empties every channel of one turn, as marked in `State`."""
    # A channel with a reducer would add the empty value to the old one.
    return {name: Overwrite(deepcopy(value)) if adds else deepcopy(value) for name, value, adds in _list_channels()}


@lru_cache(maxsize=1)
def _list_channels() -> tuple[tuple[str, Any, bool], ...]:
    """Return the channels of one turn: name, empty value, and whether there is a reducer. Reading types takes 4 ms."""
    hints = get_type_hints(State, include_extras=True).items()
    marked: list[tuple[str, tuple[Any, ...]]] = [(name, getattr(hint, "__metadata__", ())) for name, hint in hints]
    return tuple(
        (name, mark.value, callable(marks[-1])) for name, marks in marked for mark in marks if isinstance(mark, Fresh)
    )


def _last_human(messages: list[AnyMessage]) -> str:
    if messages and isinstance(messages[-1], HumanMessage):
        return messages[-1].text
    return ""


def _check_question(question: Any) -> str:  # noqa: ANN401  # a caller may send anything
    if not isinstance(question, str):
        msg = f"The question is {type(question).__name__}, not text."
        raise QuestionError(msg, hint="Give `question` as a string.")
    # Cleaned like the documents, so that both match, and nothing invisible gets into a model, checkpoint or terminal.
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
