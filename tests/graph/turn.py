"""One turn in a process of its own that kills itself when a step begins: what the kill-and-resume test starts."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from graph.answer import build
from nodes.settings import Context


def run(database: str, settings: dict[str, Any], question: str, kill_at: int) -> None:
    """Ask, and SIGKILL this very process when the `kill_at`-th step has started (0: at none)."""
    asyncio.run(_run(database, settings, question, kill_at))


async def _run(database: str, settings: dict[str, Any], question: str, kill_at: int) -> None:
    started = 0
    async with AsyncSqliteSaver.from_conn_string(database) as saver:
        compiled = build().compile(checkpointer=saver)
        async for _, event in compiled.astream(
            {"question": question},
            {"configurable": {"thread_id": "turn"}},
            context=Context(**settings),
            stream_mode="custom",
            subgraphs=True,
            durability="sync",
        ):
            started += event["status"] == "started"
            if kill_at and started == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
