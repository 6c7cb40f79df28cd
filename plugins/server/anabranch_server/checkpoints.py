"""Where the graph keeps its checkpoints: beside the server's own tables."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

if TYPE_CHECKING:
    from psycopg import AsyncConnection

from anabranch.errors import MissingExtraError, OperationError
from anabranch_server.database import folder_at, is_postgres, private_file

FILE = "checkpoints.db"
CONNECTIONS = 8
"""To PostgreSQL, at most: a step holds one for as long as it writes."""

WAIT = 0.05
"""Seconds until a server looks again whether another one, which started with it, has made the saver's tables."""

_TAKE = "SELECT pg_try_advisory_xact_lock(1667787632) AS taken"
"""Takes the lock of whoever makes the saver's tables; the number is its own among PostgreSQL's advisory locks."""


@dataclass
class Written:
    """Bytes of checkpoints."""

    size: int = 0


_measured: ContextVar[Written | None] = ContextVar("_measured", default=None)


@contextmanager
def measured() -> Iterator[Written]:
    """Count the bytes of checkpoints that are written within, also by tasks and threads that begin there."""
    token = _measured.set(Written())
    try:
        yield cast("Written", _measured.get())
    finally:
        _measured.reset(token)


class MeasuredSerializer(JsonPlusSerializer):
    """Writes values as LangGraph's own does, and counts their bytes."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:  # noqa: ANN401  # whatever a channel holds
        """Return what kind of bytes a value is written as, and these."""
        kind, data = super().dumps_typed(obj)
        if (written := _measured.get()) is not None:
            written.size += len(data)
        return kind, data


@asynccontextmanager
async def open_checkpoints(place: str) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Open LangGraph's own saver for the place of the server's data.

    Raises:
        MissingExtraError: PostgreSQL is asked for, and its packages are not installed.
        OperationError: The database cannot be used.
    """
    async with _postgres(place) if is_postgres(place) else _sqlite(folder_at(place)) as saver:
        yield saver


@asynccontextmanager
async def _sqlite(folder: Path) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    import sqlite3

    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    path = folder / FILE
    try:
        private_file(path)
        async with aiosqlite.connect(path) as connection:
            saver = AsyncSqliteSaver(connection, serde=MeasuredSerializer())
            await saver.setup()
            yield saver
    except (sqlite3.Error, OSError) as error:
        msg = f"The conversations in {path} cannot be used: {error}."
        raise OperationError(msg, hint="See that its disk has room and that you may write there.") from error


@asynccontextmanager
async def _postgres(url: str) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    try:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import AsyncConnectionPool
    except ImportError as error:
        raise MissingExtraError("A server whose data are in PostgreSQL", "postgres") from error
    # None: no prepared statements, which a pooler between here and the database would lose.
    options = {"autocommit": True, "prepare_threshold": None, "row_factory": dict_row}
    async with AsyncConnectionPool(url, max_size=CONNECTIONS, kwargs=options, open=False) as pool:
        # What its rows are, the types cannot tell from `options`.
        rows = cast("AsyncConnectionPool[AsyncConnection[dict[str, Any]]]", pool)
        saver = AsyncPostgresSaver(rows, serde=MeasuredSerializer())
        async with pool.connection() as connection, connection.transaction():
            # Looked for again and again: the index that the saver makes waits for every statement that is waiting.
            while not await _locked(connection):  # noqa: ASYNC110  # another process has it
                await asyncio.sleep(WAIT)
            await saver.setup()
        yield saver


async def _locked(connection: AsyncConnection[Any]) -> bool:
    """Take the lock of whoever makes the saver's tables, until the transaction ends; False where another has it."""
    # Neither prepared nor with parameters: such a statement keeps its snapshot, for the end of which the index waits.
    cursor = await connection.execute(_TAKE)
    row = await cursor.fetchone()
    return bool(row and row["taken"])
