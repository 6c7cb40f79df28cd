"""What the writing steps share: the text of a window for a model, and the answer's tokens for the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessageChunk
from langgraph.graph.message import push_message

from anabranch.corpus.document import Chunk
from anabranch.envelope import new_nonce, wrap
from anabranch.models.chat import Chat
from anabranch.replies import AnswerStream, split_answer
from graph.context import Context
from graph.state import Draft, Excerpt
from nodes.resources import chunks_of


def label(chunk: Chunk) -> str:
    """Return how a passage is introduced to the model: title, heading and page."""
    page = f"p. {chunk.page}" if chunk.page is not None else ""
    return ", ".join(part for part in (chunk.title or chunk.source, chunk.heading, page) if part)


async def window_text(context: Context, state: Mapping[str, Any], excerpts: Sequence[Excerpt]) -> str:
    """Return the numbered passages of one window inside their envelope."""
    found = await chunks_of(context, state, [excerpt["id"] for excerpt in excerpts])
    rows = [
        (excerpt["number"], label(chunk), piece_of(chunk, excerpt))
        for excerpt in excerpts
        if (chunk := found.get(excerpt["id"])) is not None
    ]
    return wrap(rows, new_nonce())


def piece_of(chunk: Chunk, excerpt: Excerpt) -> str:
    """Return the characters of the chunk that the window shows; spans are positions in the document."""
    return chunk.text[max(excerpt["start"] - chunk.start, 0) : max(excerpt["end"] - chunk.start, 0)]


def draft_of(reply: str, *, window: int) -> Draft:
    """Read a reply in the answer protocol (text with [n] markers, then quotes; or NOT FOUND)."""
    parts = split_answer(reply)
    return Draft(
        answer=parts.answer,
        quotes={str(number): list(quotes) for number, quotes in parts.quotes.items()},
        window=window,
        keeps=0,
        found=not parts.not_found and bool(parts.answer.strip()),
        missing=parts.missing,
    )


def new_message_id() -> str:
    """Return the id that the streamed chunks and the final message share."""
    return f"answer-{uuid4()}"


def show(message_id: str, text: str) -> None:
    """Put a piece of the answer into the `messages` stream."""
    if text:
        push_message(AIMessageChunk(content=text, id=message_id), state_key=None)


async def write_live(chat: Chat, system: str, user: str, *, max_tokens: int, message_id: str) -> str:
    """Let the model write while the reader reads; what may not be seen (quotes, links) is held back."""
    stream = AnswerStream()
    reply: list[str] = []
    async for piece in chat.stream(system, user, max_tokens=max_tokens):
        reply.append(piece)
        show(message_id, stream.feed(piece))
    show(message_id, stream.finish())
    return "".join(reply)
