"""Opens LangGraph's checkpoint saver beside the server's own tables."""

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
"""Most connections to PostgreSQL; a step holds one while it writes."""

WAIT = 0.05
"""Seconds between attempts to take the lock of the saver's tables."""

_TAKE = "SELECT pg_try_advisory_xact_lock(1667787632) AS taken"
"""Takes the lock under which the saver's tables are made; the number identifies the advisory lock."""


@dataclass
class Written:
    """Bytes of checkpoints."""

    size: int = 0


_written: ContextVar[Written | None] = ContextVar("_written", default=None)


@contextmanager
def measure_writes() -> Iterator[Written]:
    """Count the bytes of checkpoints written in the block, also by tasks and threads that it starts."""
    token = _written.set(Written())
    try:
        yield cast("Written", _written.get())
    finally:
        _written.reset(token)


class MeasuredSerializer(JsonPlusSerializer):
    """Writes values as LangGraph does, and counts their bytes."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:  # noqa: ANN401  # whatever a channel holds
        """Return the format of a value's bytes, and the bytes."""
        kind, data = super().dumps_typed(obj)
        if (written := _written.get()) is not None:
            written.size += len(data)
        return kind, data


@asynccontextmanager
async def open_checkpoints(place: str) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Open LangGraph's saver at the place of the server's data.

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
        raise OperationError(msg, hint="Check that its disk has room and that you may write there.") from error


@asynccontextmanager
async def _postgres(url: str) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    try:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import AsyncConnectionPool
    except ImportError as error:
        raise MissingExtraError("A server whose data are in PostgreSQL", "postgres") from error
    # None turns prepared statements off, because a connection pooler would lose them.
    options = {"autocommit": True, "prepare_threshold": None, "row_factory": dict_row}
    async with AsyncConnectionPool(url, max_size=CONNECTIONS, kwargs=options, open=False) as pool:
        # The types cannot infer the kind of rows from `options`.
        rows = cast("AsyncConnectionPool[AsyncConnection[dict[str, Any]]]", pool)
        saver = AsyncPostgresSaver(rows, serde=MeasuredSerializer())
        async with pool.connection() as connection, connection.transaction():
            # Polled, not awaited: the saver's index would wait for a statement that waits for this lock.
            while not await _take_lock(connection):  # noqa: ASYNC110  # another process has it
                await asyncio.sleep(WAIT)
            await saver.setup()
        yield saver


async def _take_lock(connection: AsyncConnection[Any]) -> bool:
    """Try to take the lock of the saver's tables until the transaction ends; return whether it was taken."""
    # A statement that is prepared or has parameters keeps its snapshot, and the index would wait for that.
    cursor = await connection.execute(_TAKE)
    row = await cursor.fetchone()
    return bool(row and row["taken"])
