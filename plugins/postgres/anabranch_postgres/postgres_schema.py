"""Creates the tables of corpora in PostgreSQL, and reads their version."""

from __future__ import annotations

from typing import Any

from psycopg import Connection
from psycopg.errors import FeatureNotSupported, InsufficientPrivilege, UndefinedFile
from psycopg.sql import SQL, Identifier

from anabranch.errors import CorpusDamagedError, OperationError, SettingsError
from anabranch_postgres.postgres_tables import MIGRATIONS, VERSION

EXTENSION = "vector"
"""The name that pgvector has in a database."""

_LOCK = 0x616E6162
"""The advisory lock of PostgreSQL for creating or changing the tables."""


def version_of(connection: Connection[Any]) -> int:
    """Return the version of the tables in a database, 0 where there are none."""
    found = connection.execute("SELECT to_regclass('anabranch.schema_version')").fetchone()
    if found is None or found[0] is None:
        return 0
    row = connection.execute("SELECT max(version) FROM anabranch.schema_version").fetchone()
    return int(row[0] or 0) if row else 0


def checked_version(connection: Connection[Any]) -> int:
    """Return the version of the tables, 0 where there are none.

    Raises:
        CorpusDamagedError: They are a later Anabranch's.
    """
    version = version_of(connection)
    if version > VERSION:
        msg = f"The corpora of this database have version {version}; this program reads version {VERSION}."
        raise CorpusDamagedError(msg, hint="Update Anabranch.")
    return version


def is_prepared(connection: Connection[Any]) -> bool:
    """Tell whether there are tables to read.

    Raises:
        CorpusDamagedError: They are a later Anabranch's.
        OperationError: They are an earlier one's.
    """
    version = checked_version(connection)
    if 0 < version < VERSION:
        msg = f"The corpora of this database have version {version}; this program needs version {VERSION}."
        raise OperationError(msg, hint="Run an ingest as the owner of the tables: it upgrades them.")
    return version > 0


def prepare(connection: Connection[Any]) -> None:
    """Create the tables, or upgrade those of an earlier version, in one transaction.

    Raises:
        CorpusDamagedError: They are a later Anabranch's.
        SettingsError: pgvector is missing, or the user of the database may not make tables, or may not see all rows.
    """
    if checked_version(connection) == VERSION:
        refuse_reader(connection)
        return
    try:
        with connection.transaction():
            # If two programs start together, the second one finds the tables.
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            connection.execute(SQL("CREATE EXTENSION IF NOT EXISTS {}").format(Identifier(EXTENSION)))
            connection.execute("CREATE SCHEMA IF NOT EXISTS anabranch")
            connection.execute("CREATE TABLE IF NOT EXISTS anabranch.schema_version (version int PRIMARY KEY)")
            for version in range(checked_version(connection), VERSION):
                connection.execute(MIGRATIONS[version])
                connection.execute("INSERT INTO anabranch.schema_version VALUES (%s)", (version + 1,))
    except (FeatureNotSupported, UndefinedFile) as error:
        msg = "This PostgreSQL server has no extension pgvector, which a corpus needs."
        raise SettingsError(msg, hint="Install it on the server; see docs/scaling.md.") from error
    except InsufficientPrivilege as error:
        msg = f"This database user may not create what a corpus needs: {error.diag.message_primary}."
        hint = "Have its owner run once: CREATE EXTENSION vector; GRANT CREATE ON DATABASE ... TO ..."
        raise SettingsError(msg, hint=hint) from error


def refuse_reader(connection: Connection[Any]) -> None:
    """Refuse a user who needs all rows but cannot see them: hidden rows would count as missing.

    Raises:
        SettingsError: The user does not own the tables.
    """
    found = connection.execute("SELECT row_security_active('anabranch.documents')").fetchone()
    if found is not None and found[0]:
        msg = "This database user does not own the tables and cannot see all rows."
        hint = "Connect as their owner, or as a member of that role: GRANT owner TO writer."
        raise SettingsError(msg, hint=hint)
