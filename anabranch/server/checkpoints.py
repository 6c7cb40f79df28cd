"""Where the graph keeps its checkpoints: beside the server's own tables."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver

if TYPE_CHECKING:
    from psycopg import AsyncConnection

from anabranch.errors import MissingExtraError, OperationError
from anabranch.server.database import folder_at, is_postgres, private_file

FILE = "checkpoints.db"
CONNECTIONS = 8
"""To PostgreSQL, at most: a step holds one for as long as it writes."""


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

    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    path = folder / FILE
    try:
        private_file(path)
        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
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
    # As the saver's own documentation has it: it sends no prepared statements that a pooler in between would lose.
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(url, max_size=CONNECTIONS, kwargs=options, open=False) as pool:
        # What its rows are, the types cannot tell from `options`.
        saver = AsyncPostgresSaver(cast("AsyncConnectionPool[AsyncConnection[dict[str, Any]]]", pool))
        await saver.setup()
        yield saver
