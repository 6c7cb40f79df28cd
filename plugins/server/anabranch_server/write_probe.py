"""Checks whether the server can write: its disk may be full, or its database down, while reads still work."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
import time
from errno import EDQUOT, EFBIG, ENOSPC
from pathlib import Path

from sqlalchemy import update
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine

from anabranch.errors import OperationError
from anabranch_server.database import versions

ROOM = 1 << 20
"""Bytes that are written: a single row may still fit the database's files where an answer does not."""

EVERY = 2.0
"""Seconds for which a result is cached, because anybody may ask at any rate."""

PATIENCE = 5.0

DATABASE_ERRORS = (OperationalError, PoolTimeoutError, sqlite3.OperationalError)
"""Errors of a database that is down, locked or full."""


def storage_error() -> OperationError:
    """Return the error for a request that cannot be stored."""
    return OperationError(
        "The server cannot keep anything now: its disk is full, or its database does not answer.",
        hint="Try again later. Its operator finds the reason in /ready and in its log.",
    )


def is_full(error: BaseException) -> bool:
    """Tell whether an error means that a disk or a quota is full."""
    return isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT, EFBIG)


class WriteProbe:
    """Checks by writing, one check at a time and at most once in EVERY seconds."""

    def __init__(self, engine: AsyncEngine, folder: Path | None) -> None:
        """Take the database, and its folder; None for a database elsewhere."""
        self._engine = engine
        self._folder = folder
        self._looking = asyncio.Lock()
        self._looked = -EVERY
        self._found: str | None = None

    async def problem(self) -> str | None:
        """Return the kind of error that prevents writing, or None."""
        async with self._looking:
            if time.monotonic() - self._looked >= EVERY:
                self._found = await self._look()
                self._looked = time.monotonic()
            return self._found

    async def _look(self) -> str | None:
        try:
            async with asyncio.timeout(PATIENCE):
                if self._folder is not None:
                    await asyncio.to_thread(_try_room, self._folder)
                async with self._engine.begin() as connection:
                    await connection.execute(update(versions).values(schema=versions.c.schema))
        except DATABASE_ERRORS as error:
            return type(error).__name__
        except OSError as error:
            return type(error).__name__
        return None


def _try_room(folder: Path) -> None:
    """Write as many bytes as an answer may take.

    Raises:
        OSError: The disk has too little room.
    """
    # The file has no name where the system allows it, so that a kill leaves nothing.
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        data, written = bytes(ROOM), 0
        while written < ROOM:
            written += os.write(file.fileno(), data[written:])
