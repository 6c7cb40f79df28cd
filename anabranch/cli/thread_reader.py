"""Read the conversations of a corpus from their checkpoints."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from anabranch.cli.threads import thread_config, thread_file, threads_of
from anabranch.errors import UserError

SHOWN = {"marker", "source", "page", "heading", "quote"}
"""What is printed of a source."""


@dataclass(slots=True)
class ThreadTurn:
    """A question with its answer, which is empty if the run was stopped or waits for a review."""

    question: str
    answer: str = ""
    abstained: bool = False
    sources: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A thread; `changed` is when its last question was asked, in ISO 8601."""

    thread: str
    changed: str
    turns: tuple[ThreadTurn, ...]


@asynccontextmanager
async def open_threads(corpus: str) -> AsyncIterator[AsyncSqliteSaver | None]:
    """Open the threads of a corpus; None if there is no file, because opening would create it."""
    if await asyncio.to_thread(thread_file(corpus).exists):
        async with threads_of(corpus) as saver:
            yield saver
    else:
        yield None


async def thread_ids(saver: AsyncSqliteSaver | None) -> dict[str, str]:
    """Return when the last question of each thread was asked, by its id; the latest first."""
    found: dict[str, str] = {}
    if saver is not None:
        # The input checkpoint: one per turn. The search subgraph has its own namespace.
        async for each in saver.alist(None, filter={"source": "input"}):
            place = each.config.get("configurable", {})
            if not place.get("checkpoint_ns"):
                found.setdefault(place["thread_id"], each.checkpoint["ts"])
    return dict(sorted(found.items(), key=lambda item: item[1], reverse=True))


async def find_threads(saver: AsyncSqliteSaver | None, patterns: list[str]) -> dict[str, str]:
    """Return the threads that match ids or shell patterns, as `thread_ids` does; all threads without a pattern.

    Raises:
        UserError: A pattern matches no thread.
    """
    ids = await thread_ids(saver)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in ids):
            near = get_close_matches(pattern, ids, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else "`anabranch threads list` shows them."
            raise UserError(f"This corpus has no thread {pattern!r}.", hint=hint)
    chosen = [name for name in ids if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)]
    return {name: ids[name] for name in chosen}


async def conversation_of(saver: AsyncSqliteSaver, thread: str, changed: str) -> Conversation:
    """Return the turns of a thread."""
    messages = (await state_of(saver, thread)).get("messages") or []
    return Conversation(thread, datetime.fromisoformat(changed).isoformat(timespec="seconds"), _turns(messages))


async def state_of(saver: AsyncSqliteSaver, thread: str) -> dict[str, Any]:
    """Return what the channels of a thread held last."""
    latest = await saver.aget_tuple(thread_config(thread))
    return latest.checkpoint["channel_values"] if latest is not None else {}


def _turns(messages: list[AnyMessage]) -> tuple[ThreadTurn, ...]:
    turns: list[ThreadTurn] = []
    for message in messages:
        if not isinstance(message, AIMessage):
            turns.append(ThreadTurn(message.text))
        elif turns:
            facts = message.response_metadata
            turns[-1].answer, turns[-1].abstained = message.text, bool(facts.get("abstained"))
            # Another version may have written other fields.
            turns[-1].sources = tuple(each for each in facts.get("sources") or () if each.keys() >= SHOWN)
    return tuple(turns)
