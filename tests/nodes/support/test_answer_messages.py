"""Pieces of an answer on their way to a reader: all of them, in their order, the first at once, and not too many."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langgraph.graph import END, START, MessagesState, StateGraph

from nodes.support.answer_messages import PAUSE, LiveMessage

Write = Callable[[LiveMessage], Awaitable[None]]


async def _read(write: Write, pieces: list[tuple[float, str]] | None = None) -> list[tuple[float, str]]:
    """Return each piece that a reader of the graph's messages gets, and when (s)."""
    pieces = [] if pieces is None else pieces
    loop = asyncio.get_running_loop()

    async def node(_: MessagesState) -> dict[str, Any]:
        with LiveMessage("answer-1") as message:
            await write(message)
        return {}

    builder = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    async for piece, _ in builder.compile().astream({"messages": []}, stream_mode="messages"):
        assert piece.id == "answer-1"
        pieces.append((loop.time(), piece.text))
    return pieces


async def test_all_of_a_text_arrives_in_its_order_however_fast_it_is_written() -> None:
    words = [f"{number} " for number in range(500)]

    async def write(message: LiveMessage) -> None:
        for word in words:
            message.add(word)
            await asyncio.sleep(0)

    pieces = await _read(write)
    assert "".join(text for _, text in pieces) == "".join(words)
    assert pieces[0][1] == words[0]
    assert len(pieces) < len(words) / 2


async def test_what_is_written_slowly_arrives_piece_by_piece() -> None:
    async def write(message: LiveMessage) -> None:
        for word in ("one ", "two ", "", "three"):
            message.add(word)
            await asyncio.sleep(2 * PAUSE)

    assert [text for _, text in await _read(write)] == ["one ", "two ", "three"]


async def test_nothing_waits_for_the_next_piece() -> None:
    """A model that thinks for long after its second word leaves no reader without it."""
    seen: list[float] = []

    async def write(message: LiveMessage) -> None:
        message.add("one ")
        message.add("two")
        await asyncio.sleep(20 * PAUSE)
        seen.append(asyncio.get_running_loop().time())

    pieces = await _read(write)
    assert [text for _, text in pieces] == ["one ", "two"]
    assert pieces[1][0] < seen[0]


async def test_where_the_model_breaks_off_the_reader_gets_what_it_wrote() -> None:
    async def write(message: LiveMessage) -> None:
        message.add("one ")
        message.add("two")
        raise ConnectionError

    pieces: list[tuple[float, str]] = []
    with pytest.raises(ConnectionError):
        await _read(write, pieces)
    assert "".join(text for _, text in pieces) == "one two"
