"""Runs the statements of a reader in one transaction and one round trip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString, NamedTuple

from psycopg import Connection
from psycopg.sql import Composed

_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

# Row-level security uses these settings for roles that do not own the tables (the policies of `postgres_tables`). They
# hold for this transaction only: if they stayed with the connection, the next caller would read as this one.
_READER = "SELECT set_config('anabranch.corpus', %s, true), set_config('anabranch.access', %s::text[]::text, true)"


class SqlStatement(NamedTuple):
    """A statement, and the values of its placeholders."""

    sql: LiteralString | Composed
    parameters: tuple[Any, ...] = ()


def run_statements(
    connection: Connection[Any], corpus: int, access: Sequence[str], statements: Sequence[SqlStatement]
) -> list[list[tuple[Any, ...]]]:
    """Run statements in one snapshot; return the rows of each.

    Args:
        connection: A connection without a transaction.
        corpus: Number of the corpus whose rows are visible.
        access: The caller's tags that the database can hold.
        statements: Statements that do not depend on each other, for they are sent together.
    """
    # A pipeline sends everything before it waits once: psycopg's own begin and commit would each wait for a round trip,
    # which across a network takes longer than the search.
    connection.autocommit = True
    try:
        with connection.pipeline():
            connection.execute(_BEGIN)
            connection.execute(_READER, (str(corpus), list(access)))
            # Binary: writing and reading 384 numbers as text takes longer than the search.
            cursors = [connection.execute(sql, parameters, binary=True) for sql, parameters in statements]
            connection.execute("COMMIT")
    finally:
        if not connection.closed:
            connection.rollback()
            connection.autocommit = False
    return [cursor.fetchall() for cursor in cursors]
