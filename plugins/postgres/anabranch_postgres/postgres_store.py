"""Corpora in PostgreSQL: "postgresql://user@host/database#name"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import Any

from anabranch.errors import (
    CorpusEmptyError,
    CorpusLockedError,
    CorpusNotFoundError,
    IndexDamagedError,
    MissingExtraError,
)

try:
    from pgvector.psycopg import register_vector
    from psycopg import Connection, Error, IsolationLevel
    from psycopg.errors import LockNotAvailable

    from anabranch_postgres.connection_pool import Database, connect, database_at, explain_failures
    from anabranch_postgres.job_lease import keep_lease
    from anabranch_postgres.postgres_reader import PostgresReader
    from anabranch_postgres.postgres_rebuild import make_vectors, rebuild_index
    from anabranch_postgres.postgres_schema import checked_version, is_prepared, prepare, refuse_reader
    from anabranch_postgres.postgres_snapshot import PostgresSnapshot
    from anabranch_postgres.postgres_writer import PostgresWriter
    from anabranch_postgres.queue_writer import PostgresQueue
except ImportError as error:
    raise MissingExtraError("A corpus in PostgreSQL", "postgres") from error

from anabranch.models.embedder import Embedder
from anabranch.models.lru import LRU
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_embedder import embedder_of_vectors
from anabranch.store.writer_protocol import Progress
from anabranch.text.analyzer import analyser
from anabranch_postgres.database_address import DatabaseAddress, parse_address

READERS = 8
"""Cached corpora, as many as of folders."""

_opened: LRU[tuple[str, str], PostgresReader] = LRU(READERS)


class PostgresStore:
    """Corpora by their names in databases."""

    async def open(self, address: StrPath) -> PostgresReader:
        """Return a reader of the last published generation.

        Raises:
            CorpusUnreachableError: The database does not answer.
            SettingsError: It refuses the user, the password or the name.
            CorpusDamagedError: Its tables are a later Anabranch's.
        """
        where = parse_address(str(address))
        database = database_at(where.database)
        return await database.run(lambda connection: _reader(database, connection, where))

    @contextmanager
    def writer(self, address: StrPath, *, wait: float = 0.0) -> Iterator[PostgresWriter]:
        """Hold the lock of a corpus; creates the corpus and the tables if missing."""
        where = parse_address(str(address))
        with closing(connect(where.database)) as connection, explain_failures(where.shown):
            prepare(connection)
            register_vector(connection)
            corpus = _number_of(connection, where.corpus)
            # The lock ends with the connection, so a killed writer leaves none behind.
            _lock_corpus(connection, corpus, where, wait)
            with _release_locks(connection):
                yield PostgresWriter(connection, corpus)

    @contextmanager
    def queue(self, address: StrPath, *, worker: str, lease: float) -> Iterator[PostgresQueue]:
        """Write beside other writers to an existing corpus."""
        where = parse_address(str(address))
        with closing(connect(where.database)) as connection, explain_failures(where.shown):
            # Do not create it here: the first queued file decides embedder and sizes.
            found = None
            if checked_version(connection):
                prepare(connection)
                sql = "SELECT id FROM anabranch.corpora WHERE name = %s"
                found = connection.execute(sql, (where.corpus,)).fetchone()
            if found is None:
                raise _not_found_error(where)
            register_vector(connection)
            with _release_locks(connection), keep_lease(where.database, found[0], worker, lease):
                yield PostgresQueue(connection, found[0], worker, lease)

    @contextmanager
    def snapshot(self, address: StrPath) -> Iterator[PostgresSnapshot]:
        """Hold one state of a corpus on its own connection; others may write meanwhile."""
        where = parse_address(str(address))
        with closing(connect(where.database)) as connection, explain_failures(where.shown):
            connection.isolation_level, connection.read_only = IsolationLevel.REPEATABLE_READ, True
            with connection.transaction():
                sql = "SELECT id FROM anabranch.corpora WHERE name = %s"
                found = connection.execute(sql, (where.corpus,)).fetchone() if checked_version(connection) else None
                if found is None:
                    raise _not_found_error(where)
                refuse_reader(connection)
                register_vector(connection)
                yield PostgresSnapshot(connection, found[0], where.shown)

    def rebuild(self, address: StrPath, *, wait: float, progress: Progress) -> None:
        """Rebuild what is derived from the documents of a corpus."""
        where = parse_address(str(address))
        # A writer would create a missing corpus.
        with self.snapshot(address) as found:
            if not found.count():
                raise _empty_error(where)
            facts = found.facts()

        def load() -> Embedder:
            return _embedder(facts, where)

        with self.writer(address, wait=wait) as writer:
            # Close the snapshot first: the index of vectors waits for transactions that see old rows.
            with self.snapshot(address) as snapshot:
                make_vectors(writer, snapshot, load, progress)
            rebuild_index(writer, progress)


def _reader(database: Database, connection: Connection[Any], where: DatabaseAddress) -> PostgresReader:
    found = None
    if is_prepared(connection):
        sql = "SELECT id, generation, analyser, language FROM anabranch.corpora WHERE name = %s"
        found = connection.execute(sql, (where.corpus,)).fetchone()
    if found is None:
        raise _not_found_error(where)
    number, generation, indexed_by, language = found
    held = connection.execute("SELECT anabranch.holds_leaves(%s, %s)", (number, generation)).fetchone()
    if held is None or not held[0]:
        raise _empty_error(where)
    key = (where.database, where.corpus)
    known = _opened.get(key)
    if known is not None and (known.number, known.generation) == (number, generation):
        return known
    words = analyser(language)
    if words.name != indexed_by:
        # Another version of the analyser makes other terms, so questions would silently miss passages.
        msg = f"The words of {where.shown} were counted by {indexed_by!r}, not {words.name!r}."
        raise IndexDamagedError(msg, hint="Run an ingest, which counts them again, or `anabranch corpus rebuild`.")
    facts = dict(connection.execute("SELECT name, value FROM anabranch.meta WHERE corpus = %s", (number,)).fetchall())
    made = PostgresReader(database, where.shown, number, generation, _embedder(facts, where), words)
    _opened.set(key, made)
    return made


def _embedder(facts: Mapping[str, str], where: DatabaseAddress) -> Embedder:
    return embedder_of_vectors(
        facts.get("spec", ""), facts.get("base_url", ""), facts.get("embedder", ""), where=where.shown,
        hint="Restore it, or export the corpus without vectors and import that into another one.",
    )  # fmt: skip


def _empty_error(where: DatabaseAddress) -> CorpusEmptyError:
    return CorpusEmptyError(f"The corpus {where.shown} holds no passage.", hint="Add documents to it.")


@contextmanager
def _release_locks(connection: Connection[Any]) -> Iterator[None]:
    """Release a connection's locks before closing it, because the server notices the end of a connection late."""
    try:
        yield
    finally:
        with suppress(Error):
            connection.execute("SELECT pg_advisory_unlock_all()")


def _not_found_error(where: DatabaseAddress) -> CorpusNotFoundError:
    msg = f"There is no corpus at {where.shown}."
    return CorpusNotFoundError(msg, hint=f"Make one: anabranch ingest YOUR_FOLDER --corpus {where.shown}")


def _number_of(connection: Connection[Any], name: str) -> int:
    connection.execute("INSERT INTO anabranch.corpora (name) VALUES (%s) ON CONFLICT DO NOTHING", (name,))
    ((number,),) = connection.execute("SELECT id FROM anabranch.corpora WHERE name = %s", (name,)).fetchall()
    return int(number)


def _lock_corpus(connection: Connection[Any], corpus: int, where: DatabaseAddress, wait: float) -> None:
    # Two numbers, so that it is not the lock of another program. The server queues the request: workers share the lock
    # batch after batch, so polling would never find it free.
    connection.execute("SELECT set_config('lock_timeout', %s, false)", (f"{max(1, int(wait * 1000))}ms",))
    try:
        connection.execute("SELECT pg_advisory_lock(hashtext('anabranch'), %s)", (corpus,))
    except LockNotAvailable as error:
        msg = f"The corpus {where.shown} is being written to."
        raise CorpusLockedError(msg, hint="Try again when the other writer has finished.") from error
    connection.execute("SET lock_timeout = DEFAULT")


__all__ = ["PostgresStore"]
