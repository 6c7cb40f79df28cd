"""Conversations, kept beside the corpus: for a corpus at `DIR`, in the SQLite file `DIR.threads.db`.

Beside it and not in it, so that a corpus can be rebuilt, copied or shared without anybody's questions; readable by its
owner only, because questions and answers are in it.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from anabranch.errors import OperationError, SettingsError

MAX_ID_CHARS = 200


def thread_file(corpus: str) -> Path:
    """Return where the threads of a corpus are kept."""
    folder = Path(corpus).absolute()
    return folder.with_name(f"{folder.name}.threads.db")


@asynccontextmanager
async def threads_of(corpus: str) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the checkpointer that keeps the threads of a corpus.

    Raises:
        OperationError: The file is not a database, or cannot be written.
    """
    path = thread_file(corpus)
    async with AsyncExitStack() as stack:
        try:
            await asyncio.to_thread(private, path)
            saver = await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(str(path)))
            await saver.setup()
        except (sqlite3.Error, OSError) as error:
            msg = f"The threads of this corpus, {path}, cannot be used: {error}."
            raise OperationError(msg, hint="Move the file away to begin with no threads.") from error
        yield saver


def thread_config(thread: str) -> dict[str, Any]:
    """Return the LangGraph config that names a thread."""
    if not thread.strip() or len(thread) > MAX_ID_CHARS:
        msg = f"A thread's id has 1 to {MAX_ID_CHARS} characters; this one has {len(thread.strip())}."
        raise SettingsError(msg, hint="Choose a short name: --thread holidays.")
    return {"configurable": {"thread_id": thread.strip()}}


def private(path: Path) -> None:
    """Create the file for its owner alone; SQLite gives its side files the same mode."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
