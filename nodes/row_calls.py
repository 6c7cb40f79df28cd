"""Ask for every hit of a window, in as many calls as the hits have room in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from anabranch.agent.nodes.writing import wrap_window
from anabranch.agent.prompts import GUARD, ROWS
from anabranch.citations.citation_record import piece_of
from anabranch.models.usage import take_repeat
from anabranch.parsing.row_list import is_row_list
from anabranch.synthesis.drafts import fill_prompt
from anabranch.types import Excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anabranch.agent.nodes.turn import Turn
    from anabranch.models.chat import Chat

# Fewer characters are not cut again: their hits have room in any reply.
LEAST = 200


class ListedWindow(NamedTuple):
    """What the model listed of one window.

    Attributes:
        lines: Its lines; empty if no reply could be used.
        unread: Ids of passages that are gone, or whose hits did not all have room.
        failed: Ids of passages about which no reply could be used.
    """

    lines: str
    unread: list[str]
    failed: list[str]


async def list_hits(turn: Turn, chat: Chat, excerpts: Sequence[Excerpt], question: str) -> ListedWindow:
    """Return the model's lines, and what of the window was not read.

    A window whose reply was cut off at its limit is asked about again in halves, as far as the budget of the branch
    goes.

    Raises:
        ModelError: The model failed.
    """
    chunks = await turn.chunks([excerpt["id"] for excerpt in excerpts])
    unread = [excerpt["id"] for excerpt in excerpts if excerpt["id"] not in chunks]
    lines: list[str] = []
    failed: list[str] = []
    parts = [[excerpt for excerpt in excerpts if excerpt["id"] in chunks]]
    settings = turn.settings
    while parts:
        part = parts.pop(0)
        passages = await wrap_window(turn, part)
        if not passages:
            continue
        user = fill_prompt(passages, question, ROWS)
        text, is_cut = await chat.ask_list(GUARD, user, max_tokens=settings.answer_tokens)
        halves = await _halve(turn, part) if is_cut else []
        # Both halves are read again, so each counts as a call that was not planned.
        if halves and all(take_repeat(settings.window_tokens + settings.answer_tokens) for _ in halves):
            parts[:0] = halves
            continue
        if not is_cut and not await asyncio.to_thread(is_row_list, text):
            failed += [excerpt["id"] for excerpt in part]
            continue
        lines.append(text)
        unread += [excerpt["id"] for excerpt in part] if is_cut else []
    if unread:
        turn.count(cut=len(unread))
    return ListedWindow("\n".join(lines), list(dict.fromkeys(unread)), list(dict.fromkeys(failed)))


async def _halve(turn: Turn, excerpts: Sequence[Excerpt]) -> list[list[Excerpt]]:
    """Return the passages in two halves; one passage is cut at a line end or a blank near its middle."""
    if len(excerpts) > 1:
        middle = len(excerpts) // 2
        return [list(excerpts[:middle]), list(excerpts[middle:])]
    (only,) = excerpts
    chunk = (await turn.chunks([only["id"]])).get(only["id"])
    text = piece_of(chunk, only) if chunk is not None else ""
    if len(text) < LEAST:
        return []
    half = len(text) // 2
    cut = (text.rfind("\n", half // 2, half) + 1) or (text.rfind(" ", half // 2, half) + 1) or half
    middle = only["start"] + cut
    return [[{**only, "end": middle}], [{**only, "start": middle}]]
