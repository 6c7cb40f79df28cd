"""The tables of a server: threads, runs and their events, in SQLite or in PostgreSQL.

The graph's checkpoints are in LangGraph's own tables (`checkpoints`).
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    event,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.schema import CreateColumn

from anabranch.errors import OperationError, SettingsError

SCHEMA = 3
"""Version of the tables; older databases get the new columns, newer ones are refused."""

FILE = "server.db"

CONNECTIONS = 16
"""Connections that stay open: opening one costs more than a query."""

_LOCK = 0x73727672
"""The PostgreSQL advisory lock under which these tables are made."""

tables = MetaData()

versions = Table("anabranch_server", tables, Column("schema", Integer, primary_key=True))

threads = Table(
    "anabranch_threads",
    tables,
    Column("thread_id", String(100), primary_key=True),
    Column("owner", String(300), nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    # Bytes of its metadata and its checkpoints.
    Column("kept", BigInteger, nullable=False, default=0, server_default="0"),
    Index("anabranch_threads_of", "owner", "updated_at"),
    Index("anabranch_threads_used", "updated_at"),
    # The index holds the bytes, so that summing them reads no rows, which may be long.
    Index("anabranch_threads_kept", "owner", "kept"),
)

runs = Table(
    "anabranch_runs",
    tables,
    Column("run_id", String(100), primary_key=True),
    # A run without a thread keeps its checkpoints under its own id until it has ended.
    Column("thread_id", ForeignKey("anabranch_threads.thread_id", ondelete="CASCADE"), nullable=True),
    Column("owner", String(300), nullable=False),
    Column("user", JSON),
    Column("request", JSON, nullable=False),
    Column("status", String(20), nullable=False),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("attempt", Integer, nullable=False, default=0),
    Column("worker", String(100)),
    Column("leased_until", Float, nullable=False, default=0.0),
    Column("cancelled", Integer, nullable=False, default=0),
    Column("result", JSON),
    # Bytes of its request, its result and its events.
    Column("kept", BigInteger, nullable=False, default=0, server_default="0"),
    # Its last checkpoint when it was taken over, how often it began from there, and seconds of work.
    Column("reached", String(100), nullable=False, default="", server_default=""),
    Column("tries", Integer, nullable=False, default=0, server_default="0"),
    Column("worked", Float, nullable=False, default=0.0, server_default="0"),
    Index("anabranch_runs_due", "status", "leased_until"),
    Index("anabranch_runs_kept", "owner", "kept"),
    Index("anabranch_runs_of", "thread_id", "created_at"),
)

events = Table(
    "anabranch_events",
    tables,
    Column("run_id", ForeignKey("anabranch_runs.run_id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("event", String(200), nullable=False),
    Column("data", Text, nullable=False),
)


def database_url(place: str) -> str:
    """Return the address of the database at `place`: a folder, or `postgresql://...`.

    Raises:
        SettingsError: It is the address of something else.
    """
    if not is_postgres(place):
        return f"sqlite+aiosqlite:///{folder_at(place) / FILE}"
    try:
        url = make_url(place)
    except ArgumentError as error:
        raise _bad_address() from error
    if url.get_backend_name() != "postgresql":
        raise _bad_address()
    return url.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


def folder_at(place: str) -> Path:
    """Return the folder of a server whose data are not in PostgreSQL."""
    return Path(place).absolute()


def is_postgres(place: str) -> bool:
    """Tell whether the place of a server's data is a database address rather than a folder."""
    return "://" in place


def _bad_address() -> SettingsError:
    # The address is not repeated, because it may hold a password.
    return SettingsError(
        "Server data must be in a folder or at a postgresql:// URL.",
        hint="Give a folder or postgresql://user:password@host/name.",
    )


@asynccontextmanager
async def open_database(place: str) -> AsyncIterator[AsyncEngine]:
    """Open the database, and make its tables where there are none.

    Raises:
        SettingsError: `place` is the address of something else.
        OperationError: It cannot be reached or written, or was made by a later version.
    """
    url = database_url(place)
    if not is_postgres(place):
        private_file(folder_at(place) / FILE)
    # None: no prepared statements, which a pooler between here and the database would lose.
    options = {"prepare_threshold": None} if is_postgres(place) else {}
    engine = create_async_engine(url, pool_size=CONNECTIONS, pool_pre_ping=is_postgres(place), connect_args=options)
    if not is_postgres(place):
        event.listen(engine.sync_engine, "connect", _sqlite_settings)
    try:
        try:
            await _prepare_tables(engine)
        except (SQLAlchemyError, OSError) as error:
            # Only the kind of error is shown: a driver's message may hold addresses and user names.
            msg = f"The server's database cannot be used: {type(error).__name__}."
            hint = "Check that it runs, that its address is right, and that its disk has room."
            raise OperationError(msg, hint=hint) from error
        yield engine
    finally:
        await engine.dispose()


async def _prepare_tables(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            # Two servers may start together: the lock lets one make the tables.
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        await connection.run_sync(tables.create_all)
        found = (await connection.execute(select(versions.c.schema))).scalar()
        if found is None:
            await connection.execute(insert(versions).values(schema=SCHEMA))
        elif found > SCHEMA:
            msg = f"The server's database was made by a later version of Anabranch (its tables are version {found})."
            raise OperationError(msg, hint="Install that version, or choose another place for the data.")
        elif found < SCHEMA:
            await connection.run_sync(_bring_up_to_date)
            await connection.execute(update(versions).values(schema=SCHEMA))


def _bring_up_to_date(connection: Connection) -> None:
    """Add the columns and indexes that the tables of an earlier version lack."""
    for table in (threads, runs):
        present = {column["name"] for column in inspect(connection).get_columns(table.name)}
        for column in table.columns:
            if column.name not in present:
                added = CreateColumn(column).compile(dialect=connection.dialect)
                connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {added}"))
        for index in table.indexes:
            index.create(connection, checkfirst=True)


def private_file(path: Path) -> None:
    """Make a file that only its owner can read, before SQLite makes one that others can.

    Raises:
        OperationError: The file cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        msg = f"The folder {path.parent} cannot be written: {error.strerror}."
        raise OperationError(msg, hint="Choose another place for the server's data.") from error


def _sqlite_settings(connection: Any, record: object) -> None:  # noqa: ANN401, ARG001  # a driver's connection
    # WAL: readers do not wait for writers. The timeout: two writers wait for each other instead of failing.
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=10000"):
        connection.execute(f"PRAGMA {pragma}")


def now() -> float:
    """Return the time in seconds since 1970, which all machines that share the tables agree on."""
    return time.time()
