"""The facts that the database of a corpus holds about it."""

from __future__ import annotations

import sqlite3

COPYING = "copy_of"
"""Fact about an unfinished copy: the address of its source. Empty once the copy has been compared."""


def changes_in(connection: sqlite3.Connection) -> int:
    """Return how often the documents of a corpus have changed.

    Raises:
        sqlite3.DatabaseError: The database is damaged.
    """
    row = connection.execute("SELECT value FROM meta WHERE name = 'changes'").fetchone()
    try:
        return int(row[0]) if row else 0
    except (TypeError, ValueError) as error:
        raise sqlite3.DatabaseError("the count of changes is not a number") from error


def facts_in(connection: sqlite3.Connection) -> dict[str, str]:
    """Return all facts about a corpus (`CorpusWriter.keep_meta`).

    Raises:
        sqlite3.DatabaseError: The database is damaged.
    """
    facts = dict(connection.execute("SELECT name, value FROM meta"))
    if not all(isinstance(value, str) for value in facts.values()):
        raise sqlite3.DatabaseError("its settings are not what was written")
    return facts


def counts_in(connection: sqlite3.Connection) -> dict[str, int]:
    """Return how many documents, chunks, leaves and tokens a corpus has; takes a while for a million of them."""
    queries = {
        "documents": "SELECT count(*) FROM documents",
        "chunks": "SELECT count(*) FROM chunks",
        "leaves": "SELECT count(*) FROM chunks WHERE vector_key IS NOT NULL",
        "tokens": "SELECT coalesce(sum(tokens), 0) FROM documents",
    }
    return {name: connection.execute(sql).fetchone()[0] for name, sql in queries.items()}
