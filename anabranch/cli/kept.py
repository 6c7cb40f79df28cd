"""Kept answers of the command line: with `cache: store`, in the SQLite file `DIR.answers.db` beside the corpus `DIR`.

Beside it and for its owner's eyes only, as the threads are: questions and answers are in it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from langgraph.store.base import BaseStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from anabranch.cli.output import notes, say
from anabranch.cli.threads import private
from graph.context import Context


def answers_file(corpus: str) -> Path:
    """Return where the answers on a corpus are kept."""
    folder = Path(corpus).absolute()
    return folder.with_name(f"{folder.name}.answers.db")


@asynccontextmanager
async def store_of(context: Context) -> AsyncIterator[BaseStore | None]:
    """Open the store, where answers are to be kept in one; a file that cannot be used costs the keeping alone."""
    if context.cache != "store":
        yield None
        return
    path = answers_file(context.corpus)
    async with AsyncExitStack() as stack:
        store: AsyncSqliteStore | None = None
        try:
            await asyncio.to_thread(private, path)
            store = await stack.enter_async_context(AsyncSqliteStore.from_conn_string(str(path)))
            await store.setup()
        except (sqlite3.Error, OSError) as error:
            say(notes(), f"Answers are not kept: {path} cannot be used: {error}.", style="yellow")
            store = None
        yield store
