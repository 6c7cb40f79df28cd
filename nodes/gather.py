"""Gather partial answers: leave out those that found nothing, and put the others into groups to be joined."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.types import Overwrite

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.support.answer_messages import new_message_id
from anabranch.agent.nodes.support.context_window import envelope, room_of
from anabranch.agent.nodes.support.dependencies import corpus_of, model_of
from anabranch.agent.nodes.support.drafts import asks_for_markers, side_by_side
from anabranch.agent.nodes.support.passage_extracts import composed_draft
from anabranch.agent.nodes.support.state_records import Degraded, Draft, Partial
from anabranch.agent.nodes.support.tracing import Update, traced
from anabranch.agent.nodes.support.turn_budget import left_of
from anabranch.models.chat import Chat
from anabranch.synthesis.budget import Spending, group
from anabranch.synthesis.near_duplicates import Duplicates
from anabranch.synthesis.token_bound import at_most

# Share of the best score that a partial answer needs to stand beside it.
NEARLY = 0.8


_UNREAD = "no window could be read by the model; the passages that match best are shown"


@traced("gather")
async def gather(state: State, context: Context) -> Update:
    """Plan the next level of the tree, or end it where one answer is left or the rest cannot be joined."""
    level = max((partial["level"] for partial in state["partials"]), default=0)
    chat = await model_of(context)
    # A model that is asked plainly is not asked to choose: the best placed answers stand one after the other.
    plain = chat is None or not asks_for_markers(context, chat)
    least = NEARLY if plain else 0.0
    parts = _kept([partial for partial in state["partials"] if partial["level"] == level], least)
    groups = await _groups(context, chat, state, parts) if chat is not None and not plain and len(parts) > 1 else []
    joined = sum(len(members) > 1 for members in groups)
    lacking = left_of(context, state["trace"]).lacks(Spending(joined, 0))
    ends = bool(lacking) or not joined
    draft, degraded = await _end(context, state, parts, lacking, plain=plain) if ends else (None, [])
    return {
        "partials": Overwrite([] if ends else _planned(parts, groups, level)),
        **({"draft": draft} if draft is not None else {}),
        **({} if parts else {"route": {"name": "compose", "reasons": [*state["route"]["reasons"], _UNREAD]}}),
        **({} if ends else {"message_id": new_message_id()}),
        "degraded": degraded,
        "counts": {"level": level, "parts": len(parts), "groups": 0 if ends else len(groups)},
    }


def _kept(parts: list[Partial], least: float) -> list[Partial]:
    """Return the supported answers with at least the share `least` of the best score, in reading order.

    If none is supported, the first one is kept, so that the reader sees what the model said.
    """
    best = max((part["score"] for part in parts), default=0.0)
    kept = [part for part in parts if part["score"] and part["score"] >= least * best] if best else parts[:1]
    # Of answers that say the same the best placed one stays.
    duplicates = Duplicates()
    kept.sort(key=lambda part: part["score"], reverse=True)
    new = [part for part in kept if duplicates.find(str(part["index"]), part["draft"]["answer"]) is None]
    return sorted(new, key=lambda part: part["index"])


async def _groups(context: Context, chat: Chat, state: State, parts: Sequence[Partial]) -> list[list[int]]:
    """Group neighbours, as many as one call can join: `fan_in` at most, and no more than the model has room for."""
    corpus = await corpus_of(context)
    room = room_of(context, corpus, chat, state["standalone_question"], ())
    answers = [part["draft"]["answer"] for part in parts]
    around = envelope(corpus)
    sizes = [at_most(text, n) + around for text, n in zip(answers, corpus.embedder.count(answers), strict=True)]
    # Without a known context, what honest replies take: a server that ignores `max_tokens` must not fill the prompt.
    most = room.limit.tokens if room.limit is not None else context.fan_in * (2 * context.answer_tokens + around)
    return group(sizes, fan_in=context.fan_in, room=most)


def _planned(parts: Sequence[Partial], groups: Sequence[Sequence[int]], level: int) -> list[Partial]:
    """Set the group of each partial answer; one that is alone in its group moves up a level unchanged."""
    return [
        {**parts[member], "group": number}
        if len(members) > 1
        else {**parts[member], "level": level + 1, "index": number, "group": None}
        for number, members in enumerate(groups)
        for member in members
    ]


async def _end(
    context: Context, state: State, parts: Sequence[Partial], lacking: str, *, plain: bool
) -> tuple[Draft, list[Degraded]]:
    """Return the partial answers as the draft; if there are none because the model failed, compose one."""
    if len(parts) == 1:
        return parts[0]["draft"], []
    if parts:
        draft = side_by_side([part["draft"] for part in parts])
        if plain:
            return draft, []
        why = f"cannot be joined, which would take {lacking}" if lacking else "are too long to be joined"
        reason = f"the partial answers {why}; they stand one after the other"
        return draft, [Degraded(step="reduce", reason=reason)]
    draft = await composed_draft(context, state)
    return draft, [Degraded(step="map", reason=_UNREAD)] if draft["answer"] else []
