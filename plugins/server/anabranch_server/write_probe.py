"""Can the server keep anything: its disk may be full, or its database away, while everything can still be read."""

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
"""Bytes that are tried: one row would still find room in what the database's files have, where an answer finds none."""

EVERY = 2.0
"""Seconds for which what was found is true: anybody may ask, as often as they like."""

PATIENCE = 5.0

DATABASE_ERRORS = (OperationalError, PoolTimeoutError, sqlite3.OperationalError)
"""What says that a database cannot do now what it was asked for, whatever that was."""


def not_kept() -> OperationError:
    """Return what is said to whoever asked for something that cannot be kept."""
    return OperationError(
        "The server cannot keep anything now: its disk is full, or its database does not answer.",
        hint="Try again later. Its operator finds the reason in /ready and in its log.",
    )


def is_full(error: BaseException) -> bool:
    """Tell whether an error says that a disk, or what one may use of it, is full."""
    return isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT, EFBIG)


class WriteProbe:
    """Looks whether something can be written, by writing it: one at a time, and not more often than every EVERY."""

    def __init__(self, engine: AsyncEngine, folder: Path | None) -> None:
        """Take the database, and the folder that it is in; None for one elsewhere."""
        self._engine = engine
        self._folder = folder
        self._looking = asyncio.Lock()
        self._looked = -EVERY
        self._found: str | None = None

    async def problem(self) -> str | None:
        """Return the kind of what keeps the server from writing, None where nothing does."""
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
    """Write as much as an answer may take.

    Raises:
        OSError: There is not so much room.
    """
    # Unnamed where the system can do so: nothing is left of it if the process is killed.
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        data, written = bytes(ROOM), 0
        while written < ROOM:
            written += os.write(file.fileno(), data[written:])
