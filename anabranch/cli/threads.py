"""Conversations, stored beside the corpus: for a corpus at `DIR`, in the SQLite file `DIR.threads.db`.

They are not in the corpus, so that it can be rebuilt, copied or shared without anybody's questions. Only the owner can
read the file.
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
    """Return the file with the threads of a corpus."""
    # A published corpus has no folder here.
    if scheme_of(corpus) == "s3":
        return Path(".anabranch", "threads", f"{quote(corpus, safe='')}.threads.db").absolute()
    # Absolute, because `.` has no name to add a suffix to.
    folder = (folder_of(corpus) if scheme_of(corpus) == "file" else Path(corpus)).absolute()
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
            # Created before SQLite does, which would usually let others on the machine read it.
            await asyncio.to_thread(create_private, path)
            saver = await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(str(path)))
            await saver.setup()
        except (sqlite3.Error, OSError) as error:
            raise _unusable(path, error) from error
        try:
            yield saver
        except sqlite3.Error as error:  # the corpus reports errors of its own database itself
            raise _unusable(path, error) from error


def _unusable(path: Path, error: sqlite3.Error | OSError) -> OperationError:
    msg = f"The threads of this corpus, {path}, cannot be used: {error}."
    damaged = getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
    if damaged:
        return OperationError(msg, hint="Move the file away to start without threads.")
    # A full disk shows as an input/output error; the stored threads are intact.
    return OperationError(msg, hint="Check the disk space and your write permission, then try again.")


def is_unfinished(snapshot: StateSnapshot) -> bool:
    """Tell whether a run has steps left, or writes without a checkpoint."""
    return bool(snapshot.next or snapshot.tasks)


def has_begun(snapshot: StateSnapshot) -> bool:
    """Tell whether an unfinished run got past its first step, which saves its question and its settings."""
    # START is LangGraph's own task, which copies the input into the state.
    return "begin" not in snapshot.next and all(task.name != START for task in snapshot.tasks)


def is_ahead(snapshot: StateSnapshot) -> bool:
    """Tell whether the last checkpoint is dated in the future, so that new ones would sort before it."""
    # LangGraph's checkpoint ids begin with the time, and the greatest id counts as the last.
    return snapshot.created_at is not None and datetime.fromisoformat(snapshot.created_at) > datetime.now(UTC)


def thread_config(thread: str) -> RunnableConfig:
    """Return the LangGraph config that names a thread."""
    if not thread.strip() or len(thread) > MAX_ID_CHARS:
        msg = f"A thread's id has 1 to {MAX_ID_CHARS} characters; this one has {len(thread.strip())}."
        raise SettingsError(msg, hint="Choose a short name: --thread holidays.")
    # Stripped, because a copied blank would start another conversation.
    return {"configurable": {"thread_id": thread.strip()}}


def create_private(path: Path) -> None:
    """Create the file for its owner alone; SQLite gives its side files the same mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
