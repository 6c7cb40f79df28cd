"""Connections to a PostgreSQL database, lent to threads; errors never show the password.

Threads, not psycopg's async pool: that pool belongs to one event loop, and a graph may run in several
(`langgraph dev` with isolated loops, `asyncio.run` in a script), while a corpus is opened once per process.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import psycopg
from pgvector.psycopg import register_vector
from psycopg import Connection, IsolationLevel
from psycopg.errors import (
    DiskFull,
    InsufficientPrivilege,
    InvalidAuthorizationSpecification,
    InvalidCatalogName,
    ProgrammingError,
    QueryCanceled,
)
from psycopg.types import TypeInfo
from psycopg_pool import ConnectionPool, PoolTimeout

from anabranch.errors import CorpusNotFoundError, CorpusUnreachableError, OperationError, SettingsError
from anabranch.store.corpus_address import shown_address

T = TypeVar("T")

CONNECTIONS = 8
"""Most connections to one database for reading; more searches wait for one another."""

WAIT = 30.0
"""Seconds that a search waits for a connection."""

CONNECT = 10
"""Seconds to reach the server."""

UNHEARD = 120_000
"""Milliseconds without an answer of the server's machine after which a connection counts as lost."""

STATEMENT = 60.0
"""Seconds that a statement of a search may take, by the server's clock."""


class Database:
    """Connections for reading; each loan is one transaction that sees one moment."""

    def __init__(self, database: str) -> None:
        """Take the address; nothing is connected yet."""
        self.shown = shown_address(database)
        self._database = database
        self._pool: ConnectionPool[Connection[Any]] = ConnectionPool(
            database, min_size=0, max_size=CONNECTIONS, timeout=WAIT, configure=_configure_reading, open=False,
            # A plan made once for all parameters does not know which are rare.
            kwargs={"connect_timeout": CONNECT, "prepare_threshold": None},
        )  # fmt: skip
        # A pool per database: threads waiting for a hanging database must not block another one.
        self._threads = ThreadPoolExecutor(max_workers=2 * CONNECTIONS, thread_name_prefix="anabranch-postgres")
        self._opening = threading.Lock()
        weakref.finalize(self, self._pool.close, 1.0)
        # Do not wait: the last user may be one of these threads.
        weakref.finalize(self, self._threads.shutdown, wait=False)

    @contextmanager
    def lend(self) -> Iterator[Connection[Any]]:
        """Lend a connection for one transaction.

        Raises:
            CorpusUnreachableError: The server does not answer, or not in time.
            SettingsError: It refuses the user, the password or the database.
            CorpusNotFoundError: The database has no extension pgvector, without which no corpus can be in it.
        """
        with self._opening:
            if self._pool.closed:
                # Open one connection first: a pool keeps trying and does not say why it fails.
                with closing(connect(self._database)) as first:
                    _require_pgvector(first, self.shown)
                self._pool.open()
        with explain_failures(self.shown):
            try:
                with self._pool.connection() as connection:
                    yield connection
            except PoolTimeout as error:
                connect(self._database).close()  # raises if the database cannot be reached
                msg = f"All {CONNECTIONS} connections to {self.shown} were busy for {WAIT:g} seconds."
                raise CorpusUnreachableError(msg, hint="Try again later, or check the load of the database.") from error

    async def run(self, work: Callable[[Connection[Any]], T]) -> T:
        """Run work with a connection in a thread; cancelling the wait cancels the statement.

        Raises:
            CorpusUnreachableError: As `lend`, which raises others, too.
        """
        loan = _Loan()

        def run_work() -> T:
            with self.lend() as connection, loan.hold(connection):
                return work(connection)

        call = partial(contextvars.copy_context().run, run_work)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        except asyncio.CancelledError:
            # In a thread, because cancelling takes another connection to the server.
            threading.Thread(target=loan.cancel, daemon=True).start()
            raise


class _Loan:
    """The connection of one call, so that its own statement is cancelled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: Connection[Any] | None = None

    @contextmanager
    def hold(self, connection: Connection[Any]) -> Iterator[None]:
        self._connection = connection
        try:
            yield
        finally:
            # Wait for a running cancellation, which would otherwise hit the next user of the connection.
            with self._lock:
                self._connection = None

    def cancel(self) -> None:
        with self._lock, suppress(psycopg.Error):
            if self._connection is not None:
                self._connection.cancel_safe(timeout=5)


_databases: WeakValueDictionary[str, Database] = WeakValueDictionary()
"""Databases by address; each lives as long as a reader of its corpora."""

_lock = threading.Lock()


def database_at(database: str) -> Database:
    """Return the connections to a database, shared by all its corpora."""
    with _lock:
        found = _databases.get(database)
        if found is None:
            found = _databases[database] = Database(database)
        return found


def connect(database: str) -> Connection[Any]:
    """Return a new connection with autocommit.

    Raises:
        CorpusUnreachableError: The server does not answer.
        SettingsError: It refuses the user, the password or the database, or the address cannot be read.
    """
    address = shown_address(database)
    try:
        return psycopg.connect(
            database, autocommit=True, connect_timeout=CONNECT, prepare_threshold=None, tcp_user_timeout=UNHEARD
        )
    except ProgrammingError as error:
        # Omit psycopg's message, which repeats the address.
        msg = f"The address {address} cannot be read."
        raise SettingsError(msg, hint="For example: postgresql://user@host/database#handbook") from error
    except psycopg.OperationalError as error:
        raise _unreachable(error, address) from error


@contextmanager
def explain_failures(address: str) -> Iterator[None]:
    """Turn errors of a database into errors for people.

    Raises:
        CorpusUnreachableError: It does not answer, or not in time.
        SettingsError: It does not let the user do that.
        OperationError: It answers with an error.
    """
    try:
        yield
    except QueryCanceled as error:
        msg = f"{address} did not answer in time: {error.diag.message_primary}."
        raise CorpusUnreachableError(msg, hint="Try again, or check the load of the database.") from error
    except DiskFull as error:
        msg = f"{address} has no room left on its disk: {error.diag.message_primary}."
        raise CorpusUnreachableError(msg, hint="Make room on the database's machine.") from error
    except psycopg.OperationalError as error:
        raise _unreachable(error, address) from error
    except InsufficientPrivilege as error:
        msg = f"{address} denies this user permission: {error.diag.message_primary}."
        raise SettingsError(msg, hint="Have the owner of the tables grant it: see docs/scaling.md.") from error
    except psycopg.Error as error:
        msg = f"{address} refused a statement: {error.diag.message_primary or type(error).__name__}."
        raise OperationError(msg, hint="If nothing else has changed the tables, please report this.") from error


def _unreachable(error: psycopg.OperationalError, address: str) -> SettingsError | CorpusUnreachableError:
    said = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
    # For a refused password, psycopg has only the server's message without a code. It is matched in English; a server
    # in another language gets the other error below.
    refused = isinstance(error, InvalidAuthorizationSpecification | InvalidCatalogName)
    if refused or "authentication failed" in said or "no password supplied" in said or "does not exist" in said:
        hint = "Check user, password and database; a password can also come from PGPASSWORD or ~/.pgpass."
        return SettingsError(f"{address} refuses the connection: {said}.", hint=hint)
    return CorpusUnreachableError(f"{address} cannot be reached: {said}.", hint="Is the server running?")


def _require_pgvector(connection: Connection[Any], address: str) -> None:
    if TypeInfo.fetch(connection, "vector") is None:
        msg = f"There is no corpus in {address}, which lacks the extension pgvector."
        raise CorpusNotFoundError(msg, hint=f"Make one: anabranch ingest YOUR_FOLDER --corpus {address}")


def _configure_reading(connection: Connection[Any]) -> None:
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    connection.execute("SELECT set_config('statement_timeout', %s, false)", (str(int(STATEMENT * 1000)),))
    register_vector(connection)
    connection.commit()
