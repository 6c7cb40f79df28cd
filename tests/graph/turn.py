"""One turn in a process of its own that kills itself: what the kill-and-resume tests start."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from anabranch.agent.graph.answer import build
from anabranch.agent.nodes.settings import Context


def run(
    database: str,
    settings: dict[str, Any],
    question: str,
    *,
    kill_at: int = -1,
    kill_after_write: int = -1,
    durability: Literal["sync", "async"] = "sync",
) -> None:
    """Ask, and SIGKILL this very process when a step has started, or when the saver has written so many times."""
    asyncio.run(_run(database, settings, question, kill_at, kill_after_write, durability))


async def _run(
    database: str,
    settings: dict[str, Any],
    question: str,
    kill_at: int,
    kill_after_write: int,
    durability: Literal["sync", "async"],
) -> None:
    started = 0
    async with saver_of(database) as saver:
        _die_after(saver, kill_after_write)
        compiled = build().compile(checkpointer=saver)
        async for _, event in compiled.astream(
            {"question": question},
            {"configurable": {"thread_id": "turn"}, "metadata": {"run_id": "the turn"}},
            context=Context(**settings),
            stream_mode="custom",
            subgraphs=True,
            durability=durability,
        ):
            started += event["status"] == "started"
            if started == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)


@asynccontextmanager
async def saver_of(database: str) -> AsyncIterator[AsyncSqliteSaver | AsyncPostgresSaver]:
    """Open a file of SQLite, or a database of PostgreSQL by its address."""
    kind: Any = AsyncPostgresSaver if "://" in database else AsyncSqliteSaver
    async with kind.from_conn_string(database) as saver:
        await saver.setup()
        yield saver


def _die_after(saver: Any, writes: int) -> None:
    """Have the saver end the process as soon as it has written so many times, a checkpoint or the result of a step."""
    left = writes

    def counted(write: Any) -> Any:
        async def written(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            result = await write(*arguments, **named)
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return written

    saver.aput, saver.aput_writes = counted(saver.aput), counted(saver.aput_writes)
