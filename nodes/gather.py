"""Gather partial answers: leave out unsupported ones, and put the others into groups to be joined."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from langgraph.types import Overwrite

from anabranch.agent.nodes.compose import compose_draft
from anabranch.agent.nodes.state import State, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.agent.nodes.writing import measure_room, new_message_id
from anabranch.synthesis.budget import group
from anabranch.synthesis.context_window import measure_envelope
from anabranch.synthesis.coverage import count_read, is_whole
from anabranch.synthesis.drafts import BEYOND, join_drafts
from anabranch.synthesis.near_duplicates import Duplicates
from anabranch.synthesis.token_bound import bound_tokens
from anabranch.types import NO_DRAFT, Coverage, Draft, Partial

if TYPE_CHECKING:
    from anabranch.models.chat import Chat

_LEFT_OUT = "{} of {} partial answers are left out: their passages do not support them, or another says the same"
_UNREAD = "the model could read no window; the passages that match best are shown"


async def gather(state: State, turn: Turn) -> Update:
    """Plan the next level of the tree, or end it if one answer is left or the rest cannot be joined."""
    level = max((partial["level"] for partial in state["partials"]), default=0)
    # Where the model read nothing, the program reads all, and `cite` counts that.
    counts = is_whole(state.get("coverage")) and level == 0 and bool(state["partials"])
    read: Update = {"coverage": await _count_read(state, turn)} if counts else {}
    if state["route"]["name"] == "rows" and state["partials"]:
        turn.count(level=level, parts=len(state["partials"]), groups=0)
        return read
    return {**await _plan_level(state, turn, level), **read}


async def _plan_level(state: State, turn: Turn, level: int) -> Update:
    """Put the partial answers of a level into groups, or make the draft of them."""
    chat, windows, reasons = await turn.chat(), len(state["windows"]), list(state["route"]["reasons"])
    found = [part for part in state["partials"] if part["level"] == level]
    # In threads: of whole documents there are hundreds.
    parts = await asyncio.to_thread(_choose, found)
    # `map` has reported each window that failed.
    if level == 0 and 0 < len(found) < windows:
        reasons.append(f"{windows - len(found)} of {windows} windows have no partial answer")
    if len(parts) < len(found):
        reasons.append(_LEFT_OUT.format(len(found) - len(parts), len(found)))
        turn.degraded("gather", reasons[-1])
    groups = await _group(state, turn, chat, parts) if chat is not None and len(parts) > 1 else []
    joins = sum(len(members) > 1 for members in groups)
    lacking = turn.budget.lacks(joins) if chat is not None else "a chat model"
    if joins and not lacking:
        turn.count(level=level, parts=len(parts), groups=len(groups))
        # The last answer of the tree is streamed as this message.
        draft: Draft = {**NO_DRAFT, "message_id": new_message_id()}
        partials, name = _plan(parts, groups, level), state["route"]["name"]
    else:
        turn.count(level=level, parts=len(parts), groups=0)
        partials, name = [], state["route"]["name"] if parts else "compose"
        draft, why = await _end(state, turn, parts, lacking)
        reasons += why
    return {"partials": Overwrite(partials), "draft": draft, "route": {"name": name, "reasons": reasons}}


async def _count_read(state: State, turn: Turn) -> Coverage:
    """Count what the windows with a usable reply held."""
    read = {partial["index"] for partial in state["partials"]}
    failed = [index for index in range(len(state["windows"])) if index not in read]
    unread = {each for partial in state["partials"] for each in partial.get("unread", [])}
    unusable = {each for partial in state["partials"] for each in partial.get("failed", [])}
    # A window whose passages were all removed has no reply either.
    missed = unread | unusable | {excerpt["id"] for index in failed for excerpt in state["windows"][index]}
    there = await turn.chunks(list(missed))
    return count_read(
        state["coverage"],
        state["passages"],
        state["windows"],
        failed=failed,
        unusable=unusable,
        removed=missed - there.keys(),
        cut=unread & there.keys(),
    )


def _choose(parts: list[Partial]) -> list[Partial]:
    """Return the supported answers in reading order, without those that repeat another.

    If none is supported, return the first one, so that the reader sees what the model wrote.
    """
    good = [part for part in parts if part["score"]] or parts[:1]
    duplicates = Duplicates()
    good.sort(key=lambda part: part["index"])
    return [part for part in good if duplicates.find(str(part["index"]), part["draft"]["answer"]) is None]


async def _group(state: State, turn: Turn, chat: Chat, parts: Sequence[Partial]) -> list[list[int]]:
    """Group neighbours, as many as one call can join: at most `fan_in`, and as many as fit the model's context."""
    settings, embedder = turn.settings, (await turn.corpus()).embedder
    room = await measure_room(turn, chat, state["turn"]["standalone_question"])
    answers = [part["draft"]["answer"] for part in parts]
    around = measure_envelope(embedder)
    counts = await asyncio.to_thread(embedder.count, answers)
    sizes = [bound_tokens(text, count) + around for text, count in zip(answers, counts, strict=True)]
    # Without a known context, the usual size of replies: a server that ignores `max_tokens` must not fill the prompt.
    most = room.limit.tokens if room.limit is not None else settings.fan_in * (2 * settings.answer_tokens + around)
    return group(sizes, fan_in=settings.fan_in, room=most)


def _plan(parts: Sequence[Partial], groups: Sequence[Sequence[int]], level: int) -> list[Partial]:
    """Set the group of each partial answer; one that is alone in its group moves up a level unchanged."""
    return [
        {**parts[member], "group": number}
        if len(members) > 1
        else {**parts[member], "level": level + 1, "index": number, "group": None}
        for number, members in enumerate(groups)
        for member in members
    ]


async def _end(state: State, turn: Turn, parts: Sequence[Partial], lacking: str) -> tuple[Draft, list[str]]:
    """Return the partial answers as the draft, and what was not joined; compose one if the model read nothing."""
    if len(parts) == 1:
        return parts[0]["draft"], []
    if not parts:
        draft = await compose_draft(state, turn)
        if draft["answer"]:
            turn.degraded("map", _UNREAD)
        return draft, [_UNREAD]
    why = f"cannot be joined, which would take {lacking}" if lacking else "are too long to be joined"
    joined, beyond = join_drafts([part["draft"] for part in parts])
    reasons = [f"the partial answers {why}; they stand one after the other"]
    reasons += [BEYOND.format(beyond)] if beyond else []
    for reason in reasons:
        turn.degraded("reduce", reason)
    return joined, reasons
