"""The facts that the database of a corpus holds about it."""

from __future__ import annotations

import secrets
import sqlite3
from typing import NamedTuple

COPYING = "copy_of"
"""Fact about an unfinished copy: the address of its source. Empty once the copy has been compared."""


FILES = "files"
"""Fact about a corpus in a folder: how many records of files it has."""

INDEXED = "indexed"
"""Fact about a corpus in a folder: the counts of changes at which its index may have been made."""

_STEP = 1 << 36  # some 2^28 changes fit into a column


def next_count(changes: int) -> int:
    """Return the count of changes after the next change: greater, and that of no other history.

    The steps are random, so that the count names a state: a database that was emptied, restored or replaced does not
    come to a count at which an index of another state was made.
    """
    return changes + 1 + secrets.randbelow(_STEP)


class History(NamedTuple):
    """The count of changes of a corpus in a folder, and those at which its index may have been made."""

    changes: int
    indexed: frozenset[int]


def history_in(connection: sqlite3.Connection) -> History:
    """Return the history of a corpus.

    Raises:
        sqlite3.DatabaseError: The database is damaged.
    """
    facts = facts_in(connection)
    try:
        return History(int(facts.get("changes", 0)), frozenset(map(int, facts.get(INDEXED, "").split())))
    except ValueError as error:
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
