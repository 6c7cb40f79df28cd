"""What a reader asks a database, in one transaction and one round trip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString, NamedTuple

from psycopg import Connection
from psycopg.sql import Composed

_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

# Which rows the database shows to a role that does not own the tables (the policies of `postgres_schema`). For this
# transaction alone: what is set for a connection stays with it, and the next caller would read as this one.
_READER = "SELECT set_config('anabranch.corpus', %s, true), set_config('anabranch.access', %s::text[]::text, true)"


class SqlStatement(NamedTuple):
    """A statement, and what its placeholders stand for."""

    sql: LiteralString | Composed
    parameters: tuple[Any, ...] = ()


def run_statements(
    connection: Connection[Any], corpus: int, access: Sequence[str], statements: Sequence[SqlStatement]
) -> list[list[tuple[Any, ...]]]:
    """Run statements that see one moment; return the rows of each.

    Args:
        connection: One on which no transaction has begun.
        corpus: Number of the corpus whose rows are shown.
        access: The caller's tags, which the database can hold.
        statements: Sent together: none of them can need what another finds.
    """
    # A pipeline sends all of it before it waits, and ends with one wait: beginning and committing by psycopg's own
    # ways would each wait for an answer, which across a network takes longer than the search.
    connection.autocommit = True
    try:
        with connection.pipeline():
            connection.execute(_BEGIN)
            connection.execute(_READER, (str(corpus), list(access)))
            # Binary: to write and to read 384 numbers as text takes longer than the search.
            cursors = [connection.execute(sql, parameters, binary=True) for sql, parameters in statements]
            connection.execute("COMMIT")
    finally:
        if not connection.closed:
            connection.rollback()
            connection.autocommit = False
    return [cursor.fetchall() for cursor in cursors]
