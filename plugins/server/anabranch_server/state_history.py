"""Reads a thread's checkpoints as JSON, a few at a time, because there may be thousands of large ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot

from anabranch_server.json_values import MAX_REPLY, as_json
from anabranch_server.services import Services
from anabranch_server.thread_json import state_json

AT_ONCE = 4
"""Checkpoints in memory at the same time."""


async def read_history(
    services: Services,
    config: RunnableConfig,
    *,
    limit: int,
    metadata: Mapping[str, Any] | None,
    before: RunnableConfig | None,
) -> str:
    """Return checkpoints as a JSON list, the last one first: as many as fit a reply, and at least one.

    Args:
        services: Their graph `answer` holds the state.
        config: Names the thread, and perhaps one checkpoint.
        limit: Most checkpoints.
        metadata: Only those whose metadata have these fields.
        before: Only those before this checkpoint.
    """
    found: list[str] = []
    size = 0
    while len(found) < limit:
        most = min(AT_ONCE, limit - len(found))
        states = services.answer.aget_state_history(config, limit=most, filter=dict(metadata or {}), before=before)
        page = [each async for each in states]
        for written in await asyncio.to_thread(_write_states, page):
            size += len(written)
            if found and size > MAX_REPLY:
                return _list(found)
            found.append(written)
        if len(page) < most:
            break
        before = page[-1].config
    return _list(found)


def _write_states(page: Sequence[StateSnapshot]) -> Sequence[str]:
    return [as_json(state_json(each)) for each in page]


def _list(found: Sequence[str]) -> str:
    return f"[{','.join(found)}]"
