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
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START
from langgraph.types import StateSnapshot

from anabranch.errors import OperationError, SettingsError
from anabranch.store.corpus_address import folder_of, scheme_of

MAX_ID_CHARS = 200


def thread_file(corpus: str) -> Path:
    """Return where the threads of a corpus are kept."""
    # A published corpus has no folder here.
    if scheme_of(corpus) == "s3":
        return Path(".anabranch", "threads", f"{quote(corpus, safe='')}.threads.db").absolute()
    # `.` has no name that an ending could be put to.
    folder = (folder_of(corpus) if scheme_of(corpus) == "file" else Path(corpus)).absolute()
    return folder.with_name(f"{folder.name}.threads.db")


@asynccontextmanager
async def threads_of(corpus: str) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the checkpointer that keeps the threads of a corpus.

    Raises:
        OperationError: The file is not a database, or cannot be written, now or while a thread is kept in it.
    """
    path = thread_file(corpus)
    async with AsyncExitStack() as stack:
        try:
            # Before SQLite makes it, with a mode that usually lets others on the machine read the questions.
            await asyncio.to_thread(private, path)
            saver = await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(str(path)))
            await saver.setup()
        except (sqlite3.Error, OSError) as error:
            raise _unusable(path, error) from error
        try:
            yield saver
        except sqlite3.Error as error:  # what is wrong with the corpus's own database, the corpus says itself
            raise _unusable(path, error) from error


def _unusable(path: Path, error: sqlite3.Error | OSError) -> OperationError:
    msg = f"The threads of this corpus, {path}, cannot be used: {error}."
    damaged = getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
    if damaged:
        return OperationError(msg, hint="Move the file away to begin with no threads.")
    # A full disk shows as an input/output error. What was kept is whole, and must not be thrown away for want of room.
    return OperationError(msg, hint="See that its disk has room and that you may write there, then try again.")


def is_unfinished(snapshot: StateSnapshot) -> bool:
    """Tell whether a run has steps left, or one whose writes were kept and its checkpoint was not."""
    return bool(snapshot.next or snapshot.tasks)


def is_taken_in(snapshot: StateSnapshot) -> bool:
    """Tell whether an unfinished run got past its first step, so that its question and its settings are known."""
    # START is LangGraph's own task, which copies the input into the state.
    return "begin" not in snapshot.next and all(task.name != START for task in snapshot.tasks)


def is_ahead(snapshot: StateSnapshot) -> bool:
    """Tell whether the last checkpoint is dated in the future: by the clock, what is kept now comes before it."""
    # LangGraph's checkpoint ids begin with the time, and the greatest one is the last.
    return snapshot.created_at is not None and datetime.fromisoformat(snapshot.created_at) > datetime.now(UTC)


def thread_config(thread: str) -> RunnableConfig:
    """Return the LangGraph config that names a thread."""
    if not thread.strip() or len(thread) > MAX_ID_CHARS:
        msg = f"A thread's id has 1 to {MAX_ID_CHARS} characters; this one has {len(thread.strip())}."
        raise SettingsError(msg, hint="Choose a short name: --thread holidays.")
    # A blank that was copied along would begin another conversation.
    return {"configurable": {"thread_id": thread.strip()}}


def private(path: Path) -> None:
    """Create the file for its owner alone; SQLite gives its side files the same mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
